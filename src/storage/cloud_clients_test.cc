// Signatures, credentials and what the S3 and GCS clients make of a store's answers; nothing here
// touches a network (object_store_test.cc has the real servers).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <nlohmann/json.hpp>

#include "src/storage/aws_credentials.h"
#include "src/storage/checksum.h"
#include "src/storage/google_credentials.h"
#include "src/storage/http_for_test.h"
#include "src/storage/place.h"
#include "src/storage/retrying_store.h"
#include "src/storage/s3_store.h"
#include "src/storage/sigv4.h"
#include "src/storage/test_directory.h"
#include "src/storage/xml_text.h"

namespace strobe::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSecond = 1'000'000'000;
const std::string kNothingSha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Checksum, KnownAnswers) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c("56789", Crc32c("1234")), 0xe3069283U);
  EXPECT_EQ(HexOf(Sha256("")), kNothingSha256);
  Md5 md5;
  md5.Add("hel");
  md5.Add("lo");
  EXPECT_EQ(md5.Hex(), "5d41402abc4b2a76b9719d911017c592");
  Sha256Stream stream;
  stream.Add("a");
  EXPECT_EQ(stream.Hex(), HexOf(Sha256("a")));
  stream.Add("b");
  EXPECT_EQ(stream.Hex(), HexOf(Sha256("ab")));
  EXPECT_EQ(Base64("hello"), "aGVsbG8=");
  EXPECT_EQ(FromBase64("aGVsbG8="), "hello");
  EXPECT_EQ(FromBase64("a"), std::nullopt);
}

// The two examples of Amazon's documentation of Signature Version 4 for S3.
TEST(SigV4, DocumentedExamples) {
  AwsCredentials credentials;
  credentials.access_key_id = "AKIAIOSFODNN7EXAMPLE";
  credentials.secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const int64_t now_ns = 1369353600LL * kSecond;  // 2013-05-24
  RequestToSign get = {.method = "GET",
                       .host = "examplebucket.s3.amazonaws.com",
                       .path = "/test.txt",
                       .query = {},
                       .headers = {{"range", "bytes=0-9"}},
                       .payload_sha256 = kNothingSha256};
  EXPECT_THAT(
      SignV4(get, credentials, "us-east-1", "s3", now_ns).back().second,
      HasSubstr("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
  RequestToSign list = {.method = "GET",
                        .host = "examplebucket.s3.amazonaws.com",
                        .path = "/",
                        .query = {{"prefix", "J"}, {"max-keys", "2"}},
                        .headers = {},
                        .payload_sha256 = kNothingSha256};
  EXPECT_THAT(
      SignV4(list, credentials, "us-east-1", "s3", now_ns).back().second,
      HasSubstr("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SigV4, Times) {
  EXPECT_EQ(AmazonTime(1369353600LL * kSecond), "20130524T000000Z");
  EXPECT_EQ(ParseTimeNs("2013-05-24T00:00:00Z"), 1369353600LL * kSecond);
  EXPECT_EQ(ParseTimeNs("2013-05-24T00:00:00.250Z"), 1369353600LL * kSecond + kSecond / 4);
  EXPECT_EQ(ParseTimeNs("Fri, 24 May 2013 00:00:00 GMT"), 1369353600LL * kSecond);
  EXPECT_EQ(ParseTimeNs("yesterday"), 0);
}

TEST(XmlText, ReadsWhatStoresAnswerAndRefusesTheRest) {
  const auto xml = ParseXml(
      "<?xml version=\"1.0\"?><!-- c --><a:List xmlns=\"x\"><K>1 &lt;&#34;&#x41;&amp;</K><K/>"
      "<P><![CDATA[<raw>]]></P></a:List>");
  ASSERT_TRUE(xml.has_value());
  EXPECT_EQ(xml->name, "List");
  EXPECT_EQ(xml->Text("K"), "1 <\"A&");
  EXPECT_EQ(xml->All("K").size(), 2);
  EXPECT_EQ(xml->Text("P"), "<raw>");
  for (const char* const bad : {"", "text", "<a>", "<a></b>", "<a>&lol;</a>", "<a>&#0;</a>",
                                "<!DOCTYPE a [<!ENTITY l \"x\">]><a/>", "<a><b></a></b>"}) {
    EXPECT_FALSE(ParseXml(bad).has_value()) << bad;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  EXPECT_FALSE(ParseXml(deep).has_value());
}

HttpAnswer Plain(int status, std::string body, HttpHeaders headers = {}) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

class AwsTest : public ::testing::Test {
 protected:
  AwsCredentials GetOk(AwsCredentialSource& source) {
    Result<AwsCredentials> got = source.Get({});
    EXPECT_TRUE(got.ok()) << got.status().ToString();
    return got.ok() ? *got : AwsCredentials();
  }
  void Answers(FakeHttp::Answer answer) {
    cloud_.http = std::make_shared<FakeHttp>(std::move(answer));
  }
  TestCloud cloud_;
  TestDirectory directory_;
};

TEST_F(AwsTest, TheEnvironmentComesFirst) {
  Answers([](const SentRequest&) { return Plain(404, ""); });
  cloud_.environment = {{"AWS_ACCESS_KEY_ID", "id"},
                        {"AWS_SECRET_ACCESS_KEY", "secret"},
                        {"AWS_SESSION_TOKEN", "token"}};
  AwsCredentialSource source(cloud_.context());
  EXPECT_EQ(GetOk(source).session_token, "token");
  EXPECT_TRUE(cloud_.http->sent.empty());
}

TEST_F(AwsTest, FilesByProfile) {
  directory_.Write(".aws/credentials",
                   "[default]\naws_access_key_id = a\naws_secret_access_key=b\n"
                   "# other\n[team]\naws_access_key_id=c\naws_secret_access_key=d\n");
  directory_.Write(".aws/config", "[profile team]\nregion = eu-north-1\ns3 =\n  x = y\n");
  cloud_.environment = {{"HOME", directory_.path()}, {"AWS_PROFILE", "team"}};
  AwsCredentialSource source(cloud_.context());
  EXPECT_EQ(GetOk(source).access_key_id, "c");
  EXPECT_EQ(AwsRegion(cloud_.context()), "eu-north-1");
  cloud_.environment["AWS_REGION"] = "us-west-2";
  EXPECT_EQ(AwsRegion(cloud_.context()), "us-west-2");
}

TEST_F(AwsTest, TheMachinesRoleIsFetchedAgainBeforeItExpires) {
  int fetched = 0;
  Answers([&](const SentRequest& request) -> Result<HttpAnswer> {
    if (request.url.ends_with("/latest/api/token")) {
      EXPECT_EQ(request.method, "PUT");
      return Plain(200, "imds-token");
    }
    EXPECT_EQ(request.Header("x-aws-ec2-metadata-token"), "imds-token");
    if (request.url.ends_with("/security-credentials/")) return Plain(200, "role\n");
    ++fetched;
    const std::string end = AmazonTime(cloud_.clock.NowUnixNanos() + 3600 * kSecond);
    const std::string iso = end.substr(0, 4) + "-" + end.substr(4, 2) + "-" + end.substr(6, 5) +
                            ":" + end.substr(11, 2) + ":" + end.substr(13, 2) + "Z";
    return Plain(200, R"({"AccessKeyId":"id)" + std::to_string(fetched) +
                          R"(","SecretAccessKey":"s","Token":"t","Expiration":")" + iso + "\"}");
  });
  cloud_.environment = {{"HOME", directory_.path()}};
  AwsCredentialSource source(cloud_.context());
  EXPECT_EQ(GetOk(source).access_key_id, "id1");
  cloud_.clock.AdvanceNanos(3000 * kSecond);
  EXPECT_EQ(GetOk(source).access_key_id, "id1");
  cloud_.clock.AdvanceNanos(400 * kSecond);  // 200 s before the end
  EXPECT_EQ(GetOk(source).access_key_id, "id2");
  source.Forget(GetOk(source));
  EXPECT_EQ(GetOk(source).access_key_id, "id3");
}

TEST_F(AwsTest, OldCredentialsServeUntilTheyExpire) {
  bool up = true;
  directory_.Write("token", "secret-token");
  Answers([&](const SentRequest& request) -> Result<HttpAnswer> {
    EXPECT_EQ(request.Header("authorization"), "secret-token");
    if (!up) return Plain(500, "");
    return Plain(
        200, R"({"AccessKeyId":"c","SecretAccessKey":"s","Expiration":"2023-11-14T22:23:20Z"})");
  });
  cloud_.environment = {{"HOME", directory_.path()},
                        {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/creds"},
                        {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", directory_.path() + "/token"}};
  AwsCredentialSource source(cloud_.context());  // the clock begins at 22:13:20
  EXPECT_EQ(GetOk(source).access_key_id, "c");
  up = false;
  cloud_.clock.AdvanceNanos(400 * kSecond);
  EXPECT_EQ(GetOk(source).access_key_id, "c");
  cloud_.clock.AdvanceNanos(400 * kSecond);
  const Result<AwsCredentials> expired = source.Get({});
  ASSERT_FALSE(expired.ok());
  EXPECT_THAT(expired.status().ToString(), Not(HasSubstr("secret")));
}

TEST_F(AwsTest, NothingFoundSaysWhereItWasLookedFor) {
  Answers([](const SentRequest&) -> Result<HttpAnswer> {
    return UnavailableError("OBJECT_STORE_UNREACHABLE", "no route");
  });
  cloud_.environment = {{"HOME", directory_.path()}};
  AwsCredentialSource source(cloud_.context());
  const Status status = source.Get({}).status();
  EXPECT_EQ(status.name(), "CREDENTIALS_MISSING");
  EXPECT_THAT(status.ToString(), HasSubstr("AWS_PROFILE"));
}

TEST_F(AwsTest, AWebIdentityIsExchanged) {
  directory_.Write("jwt", "the.web.identity\n");
  Answers([](const SentRequest& request) -> Result<HttpAnswer> {
    EXPECT_THAT(request.body, HasSubstr("WebIdentityToken=the.web.identity"));
    return Plain(200,
                 "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
                 "<AccessKeyId>w</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t"
                 "</SessionToken><Expiration>2033-01-01T00:00:00Z</Expiration></Credentials>"
                 "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>");
  });
  cloud_.environment = {{"AWS_WEB_IDENTITY_TOKEN_FILE", directory_.path() + "/jwt"},
                        {"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"}};
  AwsCredentialSource source(cloud_.context());
  EXPECT_EQ(GetOk(source).access_key_id, "w");
}

class S3AnswersTest : public AwsTest {
 protected:
  void SetUp() override {
    cloud_.environment = {{"AWS_ACCESS_KEY_ID", "test-id"},
                          {"AWS_SECRET_ACCESS_KEY", "test-secret"}};
  }
  std::shared_ptr<S3Store> Raw(S3Options options) {
    return std::make_shared<S3Store>(std::move(options), cloud_.context(),
                                     std::make_shared<AwsCredentialSource>(cloud_.context()));
  }
  std::shared_ptr<S3Store> Raw() {
    return Raw({.bucket = "bkt", .endpoint = "https://s3.us-east-1.amazonaws.com"});
  }
  Status ErrorFor(int status, const std::string& code) {
    Answers([=](const SentRequest&) {
      return Plain(status, "<Error><Code>" + code + "</Code><Message>m</Message></Error>");
    });
    return Raw()->Read("k", {}, {}).status();
  }
};

TEST_F(S3AnswersTest, EveryErrorHasItsName) {
  EXPECT_EQ(ErrorFor(404, "NoSuchKey").name(), "OBJECT_NOT_FOUND");
  EXPECT_EQ(ErrorFor(404, "NoSuchBucket").name(), "BUCKET_NOT_FOUND");
  EXPECT_EQ(ErrorFor(403, "AccessDenied").name(), "OBJECT_ACCESS_DENIED");
  EXPECT_EQ(ErrorFor(403, "SignatureDoesNotMatch").name(), "CREDENTIALS_REJECTED");
  EXPECT_EQ(ErrorFor(400, "ExpiredToken").name(), "CREDENTIALS_EXPIRED");
  EXPECT_EQ(ErrorFor(403, "RequestTimeTooSkewed").name(), "CLOCK_SKEWED");
  EXPECT_EQ(ErrorFor(503, "SlowDown").name(), "OBJECT_STORE_THROTTLED");
  EXPECT_EQ(ErrorFor(503, "ServiceUnavailable").name(), "OBJECT_STORE_BUSY");
  EXPECT_EQ(ErrorFor(500, "InternalError").name(), "OBJECT_STORE_BUSY");
  EXPECT_EQ(ErrorFor(412, "PreconditionFailed").name(), "OBJECT_CHANGED");
  EXPECT_EQ(ErrorFor(301, "PermanentRedirect").name(), "OBJECT_STORE_REFUSED");
  for (const int status : {400, 403, 404, 412, 429, 500, 503}) {
    const std::string text = ErrorFor(status, "Whatever").ToString();
    EXPECT_THAT(text, HasSubstr("s3://bkt/k"));
    EXPECT_THAT(text, Not(HasSubstr("test-secret")));
    EXPECT_THAT(text, Not(HasSubstr("Signature")));
  }
}

TEST_F(S3AnswersTest, AddressesAndSignedHeaders) {
  Answers([](const SentRequest&) { return Plain(200, "x", {{"etag", "\"e\""}}); });
  ASSERT_TRUE(Raw()->Read("a b/ä", {.offset = 5, .length = 10, .if_version = "e"}, {}).ok() ||
              cloud_.http->sent.size() == 1);
  const SentRequest sent = cloud_.http->sent.at(0);
  EXPECT_EQ(sent.url, "https://bkt.s3.us-east-1.amazonaws.com/a%20b/%C3%A4");
  EXPECT_EQ(sent.Header("range"), "bytes=5-14");
  EXPECT_EQ(sent.Header("if-match"), "\"e\"");
  EXPECT_EQ(sent.Header("x-amz-content-sha256"), kNothingSha256);
  EXPECT_THAT(sent.Header("authorization"),
              HasSubstr("SignedHeaders=host;if-match;range;x-amz-content-sha256;x-amz-date"));
  (void)Raw({.bucket = "bkt", .endpoint = "http://127.0.0.1:9", .path_style = true})
      ->Put("k", "v", {.condition = Condition::Absent()}, {});
  EXPECT_EQ(cloud_.http->sent.back().url, "http://127.0.0.1:9/bkt/k");
  EXPECT_EQ(cloud_.http->sent.back().Header("if-none-match"), "*");
  EXPECT_EQ(cloud_.http->sent.back().Header("x-amz-content-sha256"), HexOf(Sha256("v")));
}

TEST_F(S3AnswersTest, AWrongClockIsCorrectedByTheStores) {
  const int64_t store_ns = cloud_.clock.NowUnixNanos() + 3600 * kSecond;
  Answers([store_ns](const SentRequest& request) -> Result<HttpAnswer> {
    if (request.Header("x-amz-date") == AmazonTime(store_ns)) {
      return Plain(200, "ok", {{"etag", "\"e\""}});
    }
    return Plain(403, "<Error><Code>RequestTimeTooSkewed</Code></Error>",
                 {{"date", "Tue, 14 Nov 2023 23:13:20 GMT"}});
  });
  RetryingStore store(Raw(), RetryPolicy{.max_attempts = 3, .base_wait_ms = 1}, cloud_.clock,
                      cloud_.random, cloud_.waiter);
  // The clock stands still but for waits below a second.
  const Result<ReadAnswer> read = store.Read("k", {}, {});
  EXPECT_TRUE(read.ok()) << read.status().ToString();
}

TEST_F(S3AnswersTest, ABucketElsewhereIsFollowedOnce) {
  Answers([](const SentRequest& request) -> Result<HttpAnswer> {
    if (request.Header("authorization").find("/eu-west-3/") != std::string::npos) {
      return Plain(200, "ok", {{"etag", "\"e\""}});
    }
    return Plain(400, "<Error><Code>AuthorizationHeaderMalformed</Code></Error>",
                 {{"x-amz-bucket-region", "eu-west-3"}});
  });
  EXPECT_TRUE(Raw()->Read("k", {}, {}).ok());
  EXPECT_EQ(cloud_.http->sent.size(), 2);
}

TEST_F(S3AnswersTest, FinishingThatFailsBehind200IsNoSuccess) {
  Answers([](const SentRequest& request) -> Result<HttpAnswer> {
    if (request.method == "PUT") return Plain(200, "", {{"etag", "\"p\""}});
    return Plain(200, "<Error><Code>InternalError</Code></Error>");
  });
  Upload upload;
  upload.key = "k";
  upload.id = "u";
  EXPECT_EQ(Raw()->FinishUpload(upload, "tail", {}).status().name(), "OBJECT_STORE_BUSY");
}

TEST_F(S3AnswersTest, AnAnswerThatIsNotXmlIsNamed) {
  Answers([](const SentRequest&) { return Plain(200, "<html><body>proxy"); });
  EXPECT_EQ(Raw()->List({}, {}).status().name(), "OBJECT_ANSWER_MALFORMED");
}

// Made here, so that no key lies in the tree.
std::string MakePrivateKeyPem() {
  EVP_PKEY* const key = EVP_RSA_gen(2048);
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<size_t>(size));
  BIO_free(bio);
  EVP_PKEY_free(key);
  return pem;
}

class GoogleTest : public AwsTest {};

TEST_F(GoogleTest, AServiceAccountsAssertionIsExchangedAndKept) {
  const nlohmann::json key = {{"type", "service_account"},
                              {"client_email", "robot@p.iam"},
                              {"private_key_id", "kid1"},
                              {"private_key", MakePrivateKeyPem()},
                              {"token_uri", "https://tokens.test/token"}};
  const std::string path = directory_.Write("key.json", key.dump());
  int fetched = 0;
  Answers([&](const SentRequest& request) -> Result<HttpAnswer> {
    EXPECT_EQ(request.url, "https://tokens.test/token");
    EXPECT_THAT(request.body, HasSubstr("jwt-bearer&assertion="));
    return Plain(200,
                 R"({"access_token":"t)" + std::to_string(++fetched) + R"(","expires_in":3600})");
  });
  cloud_.environment = {{"GOOGLE_APPLICATION_CREDENTIALS", path}};
  GoogleTokenSource source(cloud_.context());
  EXPECT_EQ(*source.Get({}), "t1");
  cloud_.clock.AdvanceNanos(3000 * kSecond);
  EXPECT_EQ(*source.Get({}), "t1");
  cloud_.clock.AdvanceNanos(400 * kSecond);
  EXPECT_EQ(*source.Get({}), "t2");
  source.Forget("t2");
  EXPECT_EQ(*source.Get({}), "t3");
}

TEST_F(GoogleTest, TheMetadataServerAndNothingAtAll) {
  bool there = true;
  Answers([&](const SentRequest& request) -> Result<HttpAnswer> {
    EXPECT_EQ(request.Header("metadata-flavor"), "Google");
    if (!there) return UnavailableError("OBJECT_STORE_UNREACHABLE", "no route");
    return Plain(200, R"({"access_token":"m","expires_in":1000})");
  });
  cloud_.environment = {{"HOME", directory_.path()}};
  GoogleTokenSource source(cloud_.context());
  EXPECT_EQ(*source.Get({}), "m");
  there = false;
  source.Forget("m");
  EXPECT_EQ(source.Get({}).status().name(), "CREDENTIALS_MISSING");
}

TEST_F(GoogleTest, BadFilesAreNamedWithoutTheirContent) {
  const std::string path = directory_.Write(
      "key.json", R"({"type":"service_account","private_key":"-----hidden-----"})");
  cloud_.environment = {{"GOOGLE_APPLICATION_CREDENTIALS", path}};
  GoogleTokenSource source(cloud_.context());
  const Status status = source.Get({}).status();
  EXPECT_EQ(status.name(), "CREDENTIALS_UNREADABLE");
  EXPECT_THAT(status.ToString(), Not(HasSubstr("hidden")));
}

TEST(Place, WhatPeopleWrite) {
  TestCloud cloud;
  cloud.http = std::make_shared<FakeHttp>([](const SentRequest&) { return Plain(404, ""); });
  PlaceOpener opener(cloud.context());
  const Result<Place> place = opener.Open("s3://my-bucket/a/b/");
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_EQ(place->prefix, "a/b");
  EXPECT_EQ(place->FolderPrefix(), "a/b/");
  EXPECT_EQ(place->text, "s3://my-bucket/a/b");
  EXPECT_EQ(place->store->name(), "s3://my-bucket");
  EXPECT_EQ(opener.Open("s3://my-bucket")->store, place->store);
  EXPECT_EQ(opener.Open("gs://my-bucket")->store->name(), "gs://my-bucket");
  for (const char* const bad :
       {"s3://", "s3:///x", "s3://a", "s3://b@evil/x", "s3://evil.test:80/x", "s3://bkt//x",
        "s3://bkt?x", "s3://b\nkt/x", "http://127.0.0.1/x", "file:///etc", "/etc", ""}) {
    EXPECT_EQ(opener.Open(bad).status().name(), "PLACE_INVALID") << bad;
  }
  EXPECT_TRUE(cloud.http->sent.empty());
  cloud.environment["AWS_ENDPOINT_URL"] = "http://user:secret@host/x?y";
  PlaceOpener wrong(cloud.context());
  const Status status = wrong.Open("s3://my-bucket").status();
  EXPECT_EQ(status.name(), "PLACE_INVALID");
  EXPECT_THAT(status.ToString(), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace strobe::storage
