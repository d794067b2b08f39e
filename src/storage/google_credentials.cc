#include "src/storage/google_credentials.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/log.h"
#include "src/storage/checksum.h"

namespace strobe::storage {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kAssertionSeconds = 3600;
constexpr int64_t kMetadataTimeoutMs = 3'000;
constexpr int64_t kTokenTimeoutMs = 15'000;
constexpr uint64_t kMaxAnswerBytes = 256 * 1024;
constexpr std::string_view kScope = "https://www.googleapis.com/auth/devstorage.read_write";
constexpr std::string_view kGoogleTokens = "https://oauth2.googleapis.com/token";

Status Unreadable(const std::string& where, const std::string& what) {
  return Status(StatusCode::kUnauthenticated, "CREDENTIALS_UNREADABLE", what)
      .Where(where)
      .Hint(
          "Expected the JSON key of a service account, or what `gcloud auth application-default "
          "login` writes.");
}

std::string TextOf(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<std::string> GoogleTokenSource::Get(const CancelToken& cancel) {
  if (!context_.environment("STORAGE_EMULATOR_HOST").empty()) return std::string();
  const std::string given = context_.environment("GOOGLE_OAUTH_ACCESS_TOKEN");
  if (!given.empty()) return given;
  const int64_t now_ns = context_.clock->NowUnixNanos();
  std::lock_guard lock(mutex_);
  if (!current_.text.empty() && current_.expires_unix_ns - now_ns > kRefreshEarlyNs) {
    return current_.text;
  }
  Result<Token> fetched = Fetch(cancel);
  if (fetched.ok()) {
    current_ = *std::move(fetched);
    return current_.text;
  }
  if (!current_.text.empty() && current_.expires_unix_ns > now_ns) {
    LogWarning("credentials.refresh_failed", {{"reason", fetched.status().ToString()}});
    return current_.text;
  }
  return fetched.status();
}

void GoogleTokenSource::Forget(const std::string& token) {
  std::lock_guard lock(mutex_);
  if (current_.text == token) current_ = {};
}

Result<GoogleTokenSource::Token> GoogleTokenSource::Fetch(const CancelToken& cancel) {
  const std::string named = context_.environment("GOOGLE_APPLICATION_CREDENTIALS");
  if (!named.empty()) {
    const std::optional<std::string> text = ReadSmallFile(named);
    if (!text)
      return Unreadable(named,
                        "The file that GOOGLE_APPLICATION_CREDENTIALS names cannot be read.");
    return FromFile(named, *text, cancel);
  }
  std::string folder = context_.environment("CLOUDSDK_CONFIG");
  if (folder.empty()) folder = context_.environment("HOME") + "/.config/gcloud";
  const std::string usual = folder + "/application_default_credentials.json";
  if (const std::optional<std::string> text = ReadSmallFile(usual)) {
    return FromFile(usual, *text, cancel);
  }
  return FromMetadata(cancel);
}

Result<GoogleTokenSource::Token> GoogleTokenSource::FromFile(const std::string& path,
                                                             const std::string& text,
                                                             const CancelToken& cancel) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Unreadable(path, "The file of credentials is not JSON.");
  const std::string type = TextOf(json, "type");
  std::string token_uri = TextOf(json, "token_uri");
  if (token_uri.empty()) token_uri = kGoogleTokens;
  if (type == "authorized_user") {
    return Exchange(
        token_uri,
        "grant_type=refresh_token&client_id=" + PercentEncode(TextOf(json, "client_id"), false) +
            "&client_secret=" + PercentEncode(TextOf(json, "client_secret"), false) +
            "&refresh_token=" + PercentEncode(TextOf(json, "refresh_token"), false),
        cancel);
  }
  if (type != "service_account") {
    return Unreadable(path,
                      "Credentials of the type \"" + type.substr(0, 40) + "\" are not understood.");
  }
  const int64_t now = context_.clock->NowUnixNanos() / kNanosPerSecond;
  const nlohmann::json header = {
      {"alg", "RS256"}, {"typ", "JWT"}, {"kid", TextOf(json, "private_key_id")}};
  const nlohmann::json claims = {{"iss", TextOf(json, "client_email")},
                                 {"scope", kScope},
                                 {"aud", token_uri},
                                 {"iat", now},
                                 {"exp", now + kAssertionSeconds}};
  const std::string to_sign = Base64Url(header.dump()) + "." + Base64Url(claims.dump());
  const std::optional<std::string> signature = SignRs256(TextOf(json, "private_key"), to_sign);
  if (!signature) return Unreadable(path, "The service account's private key cannot be read.");
  return Exchange(token_uri,
                  "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" +
                      to_sign + "." + Base64Url(*signature),
                  cancel);
}

Result<GoogleTokenSource::Token> GoogleTokenSource::Exchange(const std::string& url,
                                                             const std::string& form,
                                                             const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(
      const HttpAnswer answer,
      context_.http->Send({.method = "POST",
                           .url = url,
                           .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                           .body = form,
                           .timeout_ms = kTokenTimeoutMs,
                           .max_body_bytes = kMaxAnswerBytes},
                          cancel));
  return ReadToken(answer, UrlForPeople(url));
}

Result<GoogleTokenSource::Token> GoogleTokenSource::FromMetadata(const CancelToken& cancel) {
  std::string host = context_.environment("GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  const std::string url =
      "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token";
  const Result<HttpAnswer> answer = context_.http->Send({.url = url,
                                                         .headers = {{"metadata-flavor", "Google"}},
                                                         .timeout_ms = kMetadataTimeoutMs,
                                                         .max_body_bytes = kMaxAnswerBytes},
                                                        cancel);
  if (!answer.ok() || answer->status == 404) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    return Status(
               StatusCode::kUnauthenticated, "CREDENTIALS_MISSING",
               "No Google credentials were found: no file of credentials, and no metadata server "
               "answers.")
        .Hint(
            "Set GOOGLE_APPLICATION_CREDENTIALS to a key file, run `gcloud auth "
            "application-default login`, or give the machine a service account.");
  }
  return ReadToken(*answer, UrlForPeople(url));
}

Result<GoogleTokenSource::Token> GoogleTokenSource::ReadToken(const HttpAnswer& answer,
                                                              const std::string& where) {
  const nlohmann::json json =
      nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  Token token;
  if (answer.status == 200 && json.is_object()) token.text = TextOf(json, "access_token");
  if (answer.status >= 500) {
    return UnavailableError("OBJECT_STORE_BUSY", "The token server cannot answer now (HTTP " +
                                                     std::to_string(answer.status) + ").")
        .Where(where);
  }
  if (token.text.empty()) {
    const std::string why = json.is_object() ? TextOf(json, "error").substr(0, 64) : "";
    return Status(StatusCode::kUnauthenticated, "CREDENTIALS_REJECTED",
                  "The credentials were not exchanged for a token (HTTP " +
                      std::to_string(answer.status) + (why.empty() ? "" : ", " + why) + ").")
        .Where(where)
        .Hint("Check that the key or login is still valid and that this machine's clock is right.");
  }
  const auto lifetime = json.find("expires_in");
  const int64_t seconds =
      lifetime != json.end() && lifetime->is_number_integer() ? lifetime->get<int64_t>() : 0;
  token.expires_unix_ns = context_.clock->NowUnixNanos() + seconds * kNanosPerSecond;
  return token;
}

}  // namespace strobe::storage
