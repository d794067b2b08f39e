// S3, Amazon's and all that speak like it (SeaweedFS, Ceph, MinIO, GCS with HMAC keys): one try a
// call.
//
//   auto raw = std::make_shared<S3Store>(S3Options{.bucket = "profiles", .region = "eu-west-1",
//       .endpoint = "https://s3.eu-west-1.amazonaws.com"}, context, credentials);
//   RetryingStore store(raw, ...);                       // what others see; place.h makes both
//
// Requests are signed (sigv4.h) with the hash of their body. A machine whose clock is wrong is
// corrected by the store's own time; expired credentials are dropped, so that the next try has new
// ones; a bucket in another region is followed once. `version` is the ETag. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "src/storage/aws_credentials.h"
#include "src/storage/cloud_context.h"
#include "src/storage/object_store.h"

namespace strobe::storage {

struct S3Options {
  std::string bucket;
  std::string region = "us-east-1";
  std::string endpoint;     // scheme://host[:port], without the bucket
  bool path_style = false;  // bucket in the path instead of before the host
  // GCS takes S3's form, but not its conditions: its own headers are sent instead.
  bool google_conditions = false;
};

class S3Store : public ObjectStore {
 public:
  S3Store(S3Options options, CloudContext context,
          std::shared_ptr<AwsCredentialSource> credentials);

  std::string name() const override { return "s3://" + options_.bucket; }
  Result<ListPage> List(const ListQuery& query, const CallOptions& call) override;
  Result<ObjectInfo> Stat(const std::string& key, const CallOptions& call) override;
  Result<ReadAnswer> Read(const std::string& key, const ReadQuery& query,
                          const CallOptions& call) override;
  Result<ObjectInfo> Put(const std::string& key, std::string_view bytes,
                         const WriteOptions& options, const CallOptions& call) override;
  Status Delete(const std::string& key, const CallOptions& call) override;
  Result<Upload> StartUpload(const std::string& key, const WriteOptions& options,
                             const CallOptions& call) override;
  Status SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) override;
  Result<ObjectInfo> FinishUpload(const Upload& upload, std::string_view last_bytes,
                                  const CallOptions& call) override;
  Status AbortUpload(const Upload& upload, const CallOptions& call) override;

 private:
  struct Call {
    std::string method;
    std::string key;  // empty: the bucket
    std::vector<std::pair<std::string, std::string>> query = {};
    HttpHeaders headers = {};
    std::string_view body = {};
    Condition::Kind condition = Condition::Kind::kNone;
  };
  // The answer when its status is 2xx, else the named error.
  Result<HttpAnswer> Send(const Call& call, const CallOptions& options);
  Result<HttpAnswer> SendOnce(const Call& call, const CallOptions& options, bool* elsewhere);
  Status ErrorOf(const Call& call, const HttpAnswer& answer, const AwsCredentials& credentials);
  Status CredentialError(const HttpAnswer& answer, const std::string& code, const std::string& said,
                         const std::string& where, const AwsCredentials& credentials);
  void AddCondition(const Condition& condition, Call* call) const;
  std::string Where(const std::string& key) const { return name() + "/" + key; }

  const S3Options options_;
  const CloudContext context_;
  const std::shared_ptr<AwsCredentialSource> credentials_;
  std::atomic<int64_t> clock_offset_ns_{0};
  std::mutex region_mutex_;
  std::string region_;
};

}  // namespace strobe::storage
