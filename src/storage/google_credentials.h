// Access tokens for Google Cloud Storage from the usual places, refreshed before they expire.
//
//   GoogleTokenSource source(context);
//   STROBE_ASSIGN_OR_RETURN(const std::string token, source.Get(cancel));   // "" for an emulator
//
// In this order: STORAGE_EMULATOR_HOST (no token); GOOGLE_OAUTH_ACCESS_TOKEN, as given; the file
// that GOOGLE_APPLICATION_CREDENTIALS names, else
// ~/.config/gcloud/application_default_credentials.json: a service account's key (a signed
// assertion is exchanged at its token_uri) or a user's refresh token; the metadata server
// (GCE_METADATA_HOST), which is also how workload identity of GKE works. Thread-safe.
// Errors: CREDENTIALS_MISSING, CREDENTIALS_UNREADABLE, CREDENTIALS_REJECTED; never a secret in one.
#pragma once

#include <mutex>
#include <string>

#include "src/storage/cloud_context.h"

namespace strobe::storage {

class GoogleTokenSource {
 public:
  static constexpr int64_t kRefreshEarlyNs = 300LL * 1'000'000'000;

  explicit GoogleTokenSource(CloudContext context) : context_(std::move(context)) {}
  Result<std::string> Get(const CancelToken& cancel);
  void Forget(const std::string& token);

 private:
  struct Token {
    std::string text;
    int64_t expires_unix_ns = 0;  // 0: not known, asked for each time
  };
  Result<Token> Fetch(const CancelToken& cancel);
  Result<Token> FromFile(const std::string& path, const std::string& text,
                         const CancelToken& cancel);
  Result<Token> FromMetadata(const CancelToken& cancel);
  Result<Token> Exchange(const std::string& url, const std::string& form,
                         const CancelToken& cancel);
  Result<Token> ReadToken(const HttpAnswer& answer, const std::string& where);

  const CloudContext context_;
  std::mutex mutex_;
  Token current_;
};

}  // namespace strobe::storage
