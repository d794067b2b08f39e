#include "src/storage/place.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "src/storage/directory_store.h"
#include "src/storage/gcs_store.h"
#include "src/storage/retrying_store.h"
#include "src/storage/s3_store.h"

namespace strobe::storage {
namespace {

constexpr std::string_view kS3 = "s3://";
constexpr std::string_view kGcs = "gs://";
constexpr std::string_view kGoogleEndpoint = "https://storage.googleapis.com";

Status Invalid(const std::string& text, const std::string& why) {
  return InvalidArgumentError("PLACE_INVALID", why)
      .Where(text.substr(0, 200))
      .Hint("Write s3://bucket/prefix, gs://bucket/prefix or a directory.");
}

// The name becomes part of a host name and of addresses: nothing else may.
bool IsBucketName(std::string_view name) {
  if (name.size() < 3 || name.size() > 222 || name.front() == '.' || name.front() == '-') {
    return false;
  }
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

Result<std::string> CheckEndpoint(std::string endpoint, const char* variable) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool web = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  const size_t host = endpoint.find("://") + 3;
  if (!web || host >= endpoint.size() ||
      endpoint.find_first_of("/?#@ ", host) != std::string::npos) {
    return Invalid(UrlForPeople(endpoint),
                   std::string(variable) + " is not http://HOST:PORT or https://HOST:PORT.");
  }
  // The host that is signed must be the one that is sent: without the scheme's own port.
  const std::string_view usual = endpoint.starts_with("https://") ? ":443" : ":80";
  if (endpoint.ends_with(usual)) endpoint.resize(endpoint.size() - usual.size());
  return endpoint;
}

}  // namespace

bool IsBucketPlace(std::string_view text) {
  return text.starts_with(kS3) || text.starts_with(kGcs);
}

std::optional<std::string> ReadSmallFile(const std::string& path) {
  constexpr size_t kMaxFileBytes = 1024 * 1024;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

CloudContext SystemCloudContext() {
  // As OpenSSL's own programs: a company's authority is trusted without touching the system's list.
  static const char* const authorities = std::getenv("SSL_CERT_FILE");
  static const std::shared_ptr<HttpClient> http =
      MakeHttpClient({.authorities_file = authorities == nullptr ? "" : authorities});
  CloudContext context;
  context.environment = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  context.clock = &SystemClock();
  context.random = &SystemRandom();
  context.waiter = &SystemWaiter();
  context.http = http;
  return context;
}

PlaceOpener::PlaceOpener(CloudContext context)
    : context_(std::move(context)),
      aws_(std::make_shared<AwsCredentialSource>(context_)),
      google_(std::make_shared<GoogleTokenSource>(context_)) {}

std::shared_ptr<ObjectStore> PlaceOpener::Retrying(std::shared_ptr<ObjectStore> raw) const {
  return std::make_shared<RetryingStore>(std::move(raw), context_.retry, *context_.clock,
                                         *context_.random, *context_.waiter);
}

void PlaceOpener::Use(const std::string& bucket_url, std::shared_ptr<ObjectStore> store) {
  std::lock_guard lock(mutex_);
  stores_[bucket_url] = std::move(store);
}

Result<Place> PlaceOpener::Open(const std::string& text, bool directories) {
  Place place;
  place.text = text;
  const size_t shortest = IsBucketPlace(text) ? kS3.size() : 1;
  while (place.text.size() > shortest && place.text.ends_with('/')) place.text.pop_back();
  if (!IsBucketPlace(text)) {
    if (!directories || text.find("://") != std::string::npos || text.empty()) {
      return Invalid(text, "This is no place that can be used here.");
    }
    place.store = std::make_shared<DirectoryStore>(place.text);
    return place;
  }
  const std::string rest = place.text.substr(kS3.size());
  const size_t slash = rest.find('/');
  const std::string bucket = rest.substr(0, slash);
  if (!IsBucketName(bucket)) return Invalid(text, "The bucket's name is not one.");
  if (slash != std::string::npos) {
    place.prefix = rest.substr(slash + 1);
    if (place.prefix.starts_with('/') || place.prefix.find("//") != std::string::npos) {
      return Invalid(text, "The prefix has an empty part.");
    }
    STROBE_RETURN_IF_ERROR(CheckKey(place.prefix));
  }
  const std::string url = text.substr(0, kS3.size()) + bucket;
  std::lock_guard lock(mutex_);
  const auto found = stores_.find(url);
  if (found != stores_.end()) {
    place.store = found->second;
    return place;
  }
  if (stores_.size() >= kMaxStores) {
    return ResourceExhaustedError("PLACE_INVALID", "Too many buckets are in use.").Where(url);
  }
  STROBE_ASSIGN_OR_RETURN(place.store, text.starts_with(kS3) ? MakeS3(bucket) : MakeGcs(bucket));
  stores_[url] = place.store;
  return place;
}

Result<std::shared_ptr<ObjectStore>> PlaceOpener::MakeS3(const std::string& bucket) {
  S3Options options;
  options.bucket = bucket;
  options.region = AwsRegion(context_);
  const char* variable = "AWS_ENDPOINT_URL_S3";
  std::string endpoint = context_.environment(variable);
  if (endpoint.empty()) {
    variable = "AWS_ENDPOINT_URL";
    endpoint = context_.environment(variable);
  }
  if (endpoint.empty()) endpoint = AwsProfileValue(context_, "endpoint_url");
  options.path_style = !endpoint.empty() || bucket.find('.') != std::string::npos;
  if (endpoint.empty()) endpoint = "https://s3." + options.region + ".amazonaws.com";
  STROBE_ASSIGN_OR_RETURN(options.endpoint, CheckEndpoint(std::move(endpoint), variable));
  options.google_conditions = options.endpoint == kGoogleEndpoint;
  const std::string style = context_.environment("AWS_S3_ADDRESSING_STYLE");
  if (style == "path") options.path_style = true;
  if (style == "virtual") options.path_style = false;
  return Retrying(std::make_shared<S3Store>(std::move(options), context_, aws_));
}

Result<std::shared_ptr<ObjectStore>> PlaceOpener::MakeGcs(const std::string& bucket) {
  const std::string key = context_.environment("STROBE_GCS_HMAC_KEY");
  const std::string secret = context_.environment("STROBE_GCS_HMAC_SECRET");
  if (!key.empty() && !secret.empty()) {
    CloudContext hmac = context_;
    hmac.environment = [key, secret](const char* name) -> std::string {
      const std::string_view asked = name;
      if (asked == "AWS_ACCESS_KEY_ID") return key;
      if (asked == "AWS_SECRET_ACCESS_KEY") return secret;
      return "";
    };
    S3Options options;
    options.bucket = bucket;
    options.region = "auto";
    options.endpoint = kGoogleEndpoint;
    options.path_style = true;
    options.google_conditions = true;
    return Retrying(std::make_shared<S3Store>(std::move(options), context_,
                                              std::make_shared<AwsCredentialSource>(hmac)));
  }
  GcsOptions options;
  options.bucket = bucket;
  std::string emulator = context_.environment("STORAGE_EMULATOR_HOST");
  if (!emulator.empty()) {
    if (emulator.find("://") == std::string::npos) emulator = "http://" + emulator;
    STROBE_ASSIGN_OR_RETURN(options.endpoint,
                            CheckEndpoint(std::move(emulator), "STORAGE_EMULATOR_HOST"));
  }
  return Retrying(std::make_shared<GcsStore>(std::move(options), context_, google_));
}

}  // namespace strobe::storage
