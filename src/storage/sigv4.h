// Signing a request as Amazon's Signature Version 4 wants it, for S3 and all that speak like it.
//
//   const HttpHeaders headers = SignV4({.method = "GET", .host = "b.s3.amazonaws.com", .path =
//   "/k",
//       .query = {}, .headers = {}, .payload_sha256 = hex}, credentials, "eu-west-1", "s3",
//       now_ns);
//
// Gives the headers to send: host's is left to the HTTP client; x-amz-date, x-amz-content-sha256,
// x-amz-security-token (with a token), authorization, and those given. Paths are encoded once, as
// S3 does it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/storage/http_client.h"

namespace strobe::storage {

struct AwsCredentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;    // empty: none
  int64_t expires_unix_ns = 0;  // 0: never
  bool anonymous = false;       // requests are sent unsigned
};

struct RequestToSign {
  std::string method;
  std::string host;
  std::string path;                                        // decoded, begins with "/"
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  HttpHeaders headers;                                     // to sign and send besides ours
  std::string payload_sha256;                              // hex
};

// "a=b&c=" sorted and encoded.
std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query);
HttpHeaders SignV4(const RequestToSign& request, const AwsCredentials& credentials,
                   const std::string& region, const std::string& service, int64_t now_unix_ns);

// "20130524T000000Z"
std::string AmazonTime(int64_t unix_ns);
// Of "2026-11-30T09:00:00Z", with or without fraction, and of "Mon, 30 Nov 2026 09:00:00 GMT"; 0
// when it is neither.
int64_t ParseTimeNs(std::string_view text);

}  // namespace strobe::storage
