// Google Cloud Storage through its JSON API: one try a call.
//
//   auto raw = std::make_shared<GcsStore>(GcsOptions{.bucket = "profiles"}, context, tokens);
//   RetryingStore store(raw, ...);                       // what others see; place.h makes both
//
// `version` is the generation. Large objects go by resumable uploads. Objects stored with gzip as
// their encoding come as they are stored. Thread-safe. HMAC keys: S3Store with google_conditions.
#pragma once

#include <memory>
#include <string>

#include "src/storage/google_credentials.h"
#include "src/storage/object_store.h"

namespace strobe::storage {

struct GcsOptions {
  std::string bucket;
  std::string endpoint = "https://storage.googleapis.com";  // scheme://host[:port]
};

class GcsStore : public ObjectStore {
 public:
  GcsStore(GcsOptions options, CloudContext context, std::shared_ptr<GoogleTokenSource> tokens)
      : options_(std::move(options)), context_(std::move(context)), tokens_(std::move(tokens)) {}

  std::string name() const override { return "gs://" + options_.bucket; }
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
  // The answer when its status is 2xx, 308 (more is expected) or 499 (an upload was called off),
  // else the named error. An address below `endpoint` gets the token.
  Result<HttpAnswer> Send(HttpRequest request, const std::string& key, Condition::Kind condition,
                          const CallOptions& call);
  Status ErrorOf(const HttpAnswer& answer, const std::string& key, Condition::Kind condition) const;
  std::string ObjectUrl(const std::string& key) const;
  std::string UploadUrl(const std::string& type, const WriteOptions& options) const;
  std::string Where(const std::string& key) const { return name() + "/" + key; }

  const GcsOptions options_;
  const CloudContext context_;
  const std::shared_ptr<GoogleTokenSource> tokens_;
};

}  // namespace strobe::storage
