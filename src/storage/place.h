// Where objects are, as people write it: s3://bucket/prefix, gs://bucket/prefix, or a directory.
//
//   PlaceOpener opener(SystemCloudContext());
//   STROBE_ASSIGN_OR_RETURN(Place place, opener.Open("s3://profiles/team-a"));
//   place.store->List({.prefix = place.FolderPrefix()}, {});
//
// A bucket's store is made once and shared: connections, credentials and the retry budget are its
// own. Environment: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL (a compatible server: path style),
// AWS_S3_ADDRESSING_STYLE (path, virtual), AWS_REGION, and what aws_credentials.h reads;
// STORAGE_EMULATOR_HOST, STROBE_GCS_HMAC_KEY and STROBE_GCS_HMAC_SECRET (GCS in S3's form), and
// what google_credentials.h reads. Nothing is asked of the network here. Thread-safe. Errors:
// PLACE_INVALID. Limit: kMaxStores.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "src/storage/aws_credentials.h"
#include "src/storage/cloud_context.h"
#include "src/storage/google_credentials.h"
#include "src/storage/object_store.h"

namespace strobe::storage {

struct Place {
  std::shared_ptr<ObjectStore> store;
  std::string prefix;  // without slashes at its ends; empty: the whole bucket
  std::string text;    // as given, without a slash at the end
  // "prefix/", or "" for the whole bucket.
  std::string FolderPrefix() const { return prefix.empty() ? "" : prefix + "/"; }
};

// True for s3:// and gs://.
bool IsBucketPlace(std::string_view text);

class PlaceOpener {
 public:
  // Buckets that one server looks at.
  static constexpr size_t kMaxStores = 256;

  explicit PlaceOpener(CloudContext context);
  // s3:// and gs:// only, or a directory when `directories` is true.
  Result<Place> Open(const std::string& text, bool directories = false);
  // Puts a store of the caller's in place of a bucket, for tests: "s3://bucket".
  void Use(const std::string& bucket_url, std::shared_ptr<ObjectStore> store);

 private:
  Result<std::shared_ptr<ObjectStore>> MakeS3(const std::string& bucket);
  Result<std::shared_ptr<ObjectStore>> MakeGcs(const std::string& bucket);
  std::shared_ptr<ObjectStore> Retrying(std::shared_ptr<ObjectStore> raw) const;

  const CloudContext context_;
  const std::shared_ptr<AwsCredentialSource> aws_;
  const std::shared_ptr<GoogleTokenSource> google_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ObjectStore>> stores_;
};

}  // namespace strobe::storage
