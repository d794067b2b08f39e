// AWS credentials from the usual places, refreshed before they expire.
//
//   AwsCredentialSource source(context);
//   STROBE_ASSIGN_OR_RETURN(AwsCredentials credentials, source.Get(cancel));
//   source.Forget(credentials);     // the store says that they have expired
//
// In this order, as AWS's own tools do: the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN); a web identity (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN); the files
// ~/.aws/credentials and ~/.aws/config (AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE);
// the container's endpoint (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, ..._FULL_URI); the machine's
// metadata service, version 2 (not with AWS_EC2_METADATA_DISABLED=true). AWS_NO_SIGN_REQUEST=true:
// requests are unsigned. They are fetched anew kRefreshEarlyNs before their end; when that fails
// the old ones serve until they expire. Thread-safe; one caller fetches, others wait. Errors:
// CREDENTIALS_MISSING with what was looked at, CREDENTIALS_UNREADABLE. Never a secret in one.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "src/storage/cloud_context.h"
#include "src/storage/sigv4.h"

namespace strobe::storage {

class AwsCredentialSource {
 public:
  static constexpr int64_t kRefreshEarlyNs = 300LL * 1'000'000'000;

  explicit AwsCredentialSource(CloudContext context) : context_(std::move(context)) {}
  Result<AwsCredentials> Get(const CancelToken& cancel);
  // Those are of no use any more; the next Get fetches others.
  void Forget(const AwsCredentials& credentials);

 private:
  Result<AwsCredentials> Fetch(const CancelToken& cancel);
  std::optional<AwsCredentials> FromEnvironment() const;
  Result<std::optional<AwsCredentials>> FromWebIdentity(const CancelToken& cancel);
  Result<std::optional<AwsCredentials>> FromFiles() const;
  Result<std::optional<AwsCredentials>> FromContainer(const CancelToken& cancel);
  Result<std::optional<AwsCredentials>> FromMetadata(const CancelToken& cancel);

  const CloudContext context_;
  std::mutex mutex_;
  std::optional<AwsCredentials> current_;
};

// A value of a profile in ~/.aws/config or credentials; "" when it is not there.
std::string AwsProfileValue(const CloudContext& context, const std::string& key);
// AWS_REGION, AWS_DEFAULT_REGION, the profile's, else us-east-1.
std::string AwsRegion(const CloudContext& context);

}  // namespace strobe::storage
