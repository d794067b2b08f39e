#include "src/storage/aws_credentials.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/base/log.h"
#include "src/storage/xml_text.h"

namespace strobe::storage {
namespace {

// These answer at once where they exist; elsewhere the address leads nowhere.
constexpr int64_t kMetadataTimeoutMs = 2'000;
constexpr int64_t kTokenTimeoutMs = 15'000;
constexpr uint64_t kMaxAnswerBytes = 256 * 1024;
constexpr std::string_view kMetadata = "http://169.254.169.254";
constexpr std::string_view kContainer = "http://169.254.170.2";

using Section = std::map<std::string, std::string>;

std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::map<std::string, Section> ParseIni(const std::string& text) {
  std::map<std::string, Section> sections;
  std::istringstream lines(text);
  std::string line;
  std::string name;
  while (std::getline(lines, line)) {
    const std::string trimmed = Trim(line);
    if (trimmed.empty() || trimmed[0] == '#' || trimmed[0] == ';') continue;
    if (trimmed.front() == '[' && trimmed.back() == ']') {
      name = Trim(trimmed.substr(1, trimmed.size() - 2));
      if (name.starts_with("profile ")) name = Trim(name.substr(8));
      continue;
    }
    const size_t equals = trimmed.find('=');
    // Lines that are set in belong to the one above (a nested table): nothing of ours.
    if (equals == std::string::npos || line[0] == ' ' || line[0] == '\t') continue;
    sections[name][Trim(trimmed.substr(0, equals))] = Trim(trimmed.substr(equals + 1));
  }
  return sections;
}

std::string Or(std::string value, const std::string& otherwise) {
  return value.empty() ? otherwise : value;
}

Section ProfileOf(const CloudContext& context) {
  const std::string home = context.environment("HOME");
  const std::string profile = Or(context.environment("AWS_PROFILE"),
                                 Or(context.environment("AWS_DEFAULT_PROFILE"), "default"));
  Section merged;
  for (const std::string& path :
       {Or(context.environment("AWS_CONFIG_FILE"), home + "/.aws/config"),
        Or(context.environment("AWS_SHARED_CREDENTIALS_FILE"), home + "/.aws/credentials")}) {
    const std::optional<std::string> text = ReadSmallFile(path);
    if (!text) continue;
    auto sections = ParseIni(*text);
    for (const auto& [key, value] : sections[profile]) merged[key] = value;
  }
  return merged;
}

Status Unreadable(const std::string& what) {
  return Status(StatusCode::kUnauthenticated, "CREDENTIALS_UNREADABLE",
                "Credentials were found and make no sense.")
      .Where(what)
      .Hint("Look at what gives them; nothing of it is shown here.");
}

// {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}
Result<AwsCredentials> FromJson(const std::string& body, const std::string& what) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Unreadable(what);
  const auto text = [&json](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  AwsCredentials credentials;
  credentials.access_key_id = text("AccessKeyId");
  credentials.secret_access_key = text("SecretAccessKey");
  credentials.session_token = text("Token");
  credentials.expires_unix_ns = ParseTimeNs(text("Expiration"));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return Unreadable(what);
  }
  return credentials;
}

}  // namespace

std::string AwsProfileValue(const CloudContext& context, const std::string& key) {
  const Section profile = ProfileOf(context);
  const auto found = profile.find(key);
  return found == profile.end() ? "" : found->second;
}

std::string AwsRegion(const CloudContext& context) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    const std::string region = context.environment(name);
    if (!region.empty()) return region;
  }
  return Or(AwsProfileValue(context, "region"), "us-east-1");
}

Result<AwsCredentials> AwsCredentialSource::Get(const CancelToken& cancel) {
  const int64_t now_ns = context_.clock->NowUnixNanos();
  std::lock_guard lock(mutex_);
  if (current_ &&
      (current_->expires_unix_ns == 0 || current_->expires_unix_ns - now_ns > kRefreshEarlyNs)) {
    return *current_;
  }
  Result<AwsCredentials> fetched = Fetch(cancel);
  if (fetched.ok()) {
    current_ = *fetched;
    return fetched;
  }
  if (current_ && current_->expires_unix_ns > now_ns) {
    LogWarning("credentials.refresh_failed", {{"reason", fetched.status().ToString()}});
    return *current_;
  }
  return fetched;
}

void AwsCredentialSource::Forget(const AwsCredentials& credentials) {
  std::lock_guard lock(mutex_);
  if (current_ && current_->access_key_id == credentials.access_key_id &&
      current_->session_token == credentials.session_token) {
    current_.reset();
  }
}

Result<AwsCredentials> AwsCredentialSource::Fetch(const CancelToken& cancel) {
  if (context_.environment("AWS_NO_SIGN_REQUEST") == "true") {
    AwsCredentials credentials;
    credentials.anonymous = true;
    return credentials;
  }
  if (const auto found = FromEnvironment()) return *found;
  STROBE_ASSIGN_OR_RETURN(const auto web, FromWebIdentity(cancel));
  if (web) return *web;
  STROBE_ASSIGN_OR_RETURN(const auto files, FromFiles());
  if (files) return *files;
  STROBE_ASSIGN_OR_RETURN(const auto container, FromContainer(cancel));
  if (container) return *container;
  STROBE_ASSIGN_OR_RETURN(const auto metadata, FromMetadata(cancel));
  if (metadata) return *metadata;
  return Status(StatusCode::kUnauthenticated, "CREDENTIALS_MISSING",
                "No AWS credentials were found: not in the environment, not in ~/.aws, not from a "
                "container or the machine's metadata service.")
      .Hint(
          "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a "
          "role; AWS_NO_SIGN_REQUEST=true for a public bucket.");
}

std::optional<AwsCredentials> AwsCredentialSource::FromEnvironment() const {
  AwsCredentials credentials;
  credentials.access_key_id = context_.environment("AWS_ACCESS_KEY_ID");
  credentials.secret_access_key = context_.environment("AWS_SECRET_ACCESS_KEY");
  credentials.session_token = context_.environment("AWS_SESSION_TOKEN");
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return std::nullopt;
  }
  return credentials;
}

Result<std::optional<AwsCredentials>> AwsCredentialSource::FromWebIdentity(
    const CancelToken& cancel) {
  const std::string file = context_.environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  const std::string role = context_.environment("AWS_ROLE_ARN");
  if (file.empty() || role.empty()) return std::optional<AwsCredentials>();
  const std::optional<std::string> token = ReadSmallFile(file);
  if (!token) return Unreadable(file);
  const std::string endpoint = Or(context_.environment("AWS_ENDPOINT_URL_STS"),
                                  "https://sts." + AwsRegion(context_) + ".amazonaws.com");
  const std::string session = Or(context_.environment("AWS_ROLE_SESSION_NAME"), "strobe");
  const std::string body =
      "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" + PercentEncode(role, false) +
      "&RoleSessionName=" + PercentEncode(session, false) +
      "&WebIdentityToken=" + PercentEncode(Trim(*token), false);
  STROBE_ASSIGN_OR_RETURN(
      const HttpAnswer answer,
      context_.http->Send({.method = "POST",
                           .url = endpoint + "/",
                           .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                           .body = body,
                           .timeout_ms = kTokenTimeoutMs,
                           .max_body_bytes = kMaxAnswerBytes},
                          cancel));
  const std::optional<XmlElement> xml = ParseXml(answer.body);
  const XmlElement* const result = xml ? xml->Find("AssumeRoleWithWebIdentityResult") : nullptr;
  const XmlElement* const found = result != nullptr ? result->Find("Credentials") : nullptr;
  if (answer.status != 200 || found == nullptr) {
    return Status(StatusCode::kUnauthenticated, "CREDENTIALS_REJECTED",
                  "The web identity was not exchanged for credentials (HTTP " +
                      std::to_string(answer.status) + ").")
        .Where(endpoint)
        .Hint("Check AWS_ROLE_ARN and whom the role trusts.");
  }
  AwsCredentials credentials;
  credentials.access_key_id = found->Text("AccessKeyId");
  credentials.secret_access_key = found->Text("SecretAccessKey");
  credentials.session_token = found->Text("SessionToken");
  credentials.expires_unix_ns = ParseTimeNs(found->Text("Expiration"));
  return std::optional(credentials);
}

Result<std::optional<AwsCredentials>> AwsCredentialSource::FromFiles() const {
  const Section profile = ProfileOf(context_);
  const auto value = [&profile](const char* key) {
    const auto found = profile.find(key);
    return found == profile.end() ? std::string() : found->second;
  };
  AwsCredentials credentials;
  credentials.access_key_id = value("aws_access_key_id");
  credentials.secret_access_key = value("aws_secret_access_key");
  credentials.session_token = value("aws_session_token");
  if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty()) {
    return std::optional(credentials);
  }
  if (!credentials.access_key_id.empty() || !credentials.secret_access_key.empty()) {
    return Unreadable("~/.aws/credentials: one of the two keys is missing");
  }
  return std::optional<AwsCredentials>();
}

Result<std::optional<AwsCredentials>> AwsCredentialSource::FromContainer(
    const CancelToken& cancel) {
  std::string url = context_.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const std::string relative = context_.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (!relative.empty()) url = std::string(kContainer) + relative;
  if (url.empty()) return std::optional<AwsCredentials>();
  HttpHeaders headers;
  std::string token = context_.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string file = context_.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!file.empty()) token = Trim(ReadSmallFile(file).value_or(""));
  if (!token.empty()) headers.emplace_back("authorization", token);
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          context_.http->Send({.url = url,
                                               .headers = headers,
                                               .timeout_ms = kMetadataTimeoutMs,
                                               .max_body_bytes = kMaxAnswerBytes},
                                              cancel));
  if (answer.status != 200) return Unreadable(UrlForPeople(url));
  STROBE_ASSIGN_OR_RETURN(AwsCredentials found, FromJson(answer.body, UrlForPeople(url)));
  return std::optional(std::move(found));
}

Result<std::optional<AwsCredentials>> AwsCredentialSource::FromMetadata(const CancelToken& cancel) {
  if (context_.environment("AWS_EC2_METADATA_DISABLED") == "true") {
    return std::optional<AwsCredentials>();
  }
  const std::string base =
      Or(context_.environment("AWS_EC2_METADATA_SERVICE_ENDPOINT"), std::string(kMetadata));
  const Result<HttpAnswer> token =
      context_.http->Send({.method = "PUT",
                           .url = base + "/latest/api/token",
                           .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                           .timeout_ms = kMetadataTimeoutMs,
                           .max_body_bytes = kMaxAnswerBytes},
                          cancel);
  // No such service: this is no machine of AWS's.
  if (!token.ok() || token->status != 200) return std::optional<AwsCredentials>();
  const HttpHeaders headers = {{"x-aws-ec2-metadata-token", token->body}};
  const std::string place = base + "/latest/meta-data/iam/security-credentials/";
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer roles,
                          context_.http->Send({.url = place,
                                               .headers = headers,
                                               .timeout_ms = kMetadataTimeoutMs,
                                               .max_body_bytes = kMaxAnswerBytes},
                                              cancel));
  const std::string role = Trim(roles.body.substr(0, roles.body.find('\n')));
  if (roles.status != 200 || role.empty()) return std::optional<AwsCredentials>();
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          context_.http->Send({.url = place + PercentEncode(role, false),
                                               .headers = headers,
                                               .timeout_ms = kMetadataTimeoutMs,
                                               .max_body_bytes = kMaxAnswerBytes},
                                              cancel));
  if (answer.status != 200) return Unreadable(place);
  STROBE_ASSIGN_OR_RETURN(AwsCredentials found, FromJson(answer.body, place));
  return std::optional(std::move(found));
}

}  // namespace strobe::storage
