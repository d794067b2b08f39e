// Users, roles, tokens, links and the audit chain, on SQLite and on a real PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "src/catalog/access_rules.h"
#include "src/catalog/audit.h"
#include "src/catalog/catalog.h"
#include "src/catalog/postgres_for_test.h"
#include "src/catalog/secret.h"
#include "src/catalog/tables.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AccessTest : public testing::TestWithParam<SqlDialect> {
 protected:
  void SetUp() override {
    const std::string place = PlaceForTest(GetParam(), directory_.path(), "access");
    if (place.empty()) GTEST_SKIP();
    Result<std::unique_ptr<Catalog>> opened = Catalog::Open({.place = place}, clock_, random_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    catalog_ = std::move(opened).value();
  }
  Status Write(const std::function<Status(Transaction&)>& work) { return catalog_->Write(work); }
  void MakeUser(const std::string& name) {
    ASSERT_TRUE(Write([&](Transaction& t) {
                  return t.Insert(User{.id = name, .create_unix_ns = clock_.NowUnixNanos()});
                }).ok());
  }
  Grants GrantsOfSubject(const std::string& subject) {
    Grants grants;
    EXPECT_TRUE(catalog_
                    ->Read([&](Transaction& t) -> Status {
                      STROBE_ASSIGN_OR_RETURN(grants, GrantsOf(t, subject));
                      return OkStatus();
                    })
                    .ok());
    return grants;
  }
  int64_t Version() {
    int64_t version = -1;
    EXPECT_TRUE(catalog_
                    ->Read([&](Transaction& t) -> Status {
                      STROBE_ASSIGN_OR_RETURN(version, AccessVersion(t));
                      return OkStatus();
                    })
                    .ok());
    return version;
  }
  void Append(const std::string& action) {
    AuditRecord record{.actor = "user:ada", .action = action, .outcome = "DONE"};
    ASSERT_TRUE(Write([&](Transaction& t) { return AppendAudit(t, &record); }).ok());
  }
  void Spoil(const std::string& sql) {
    ASSERT_TRUE(Write([&](Transaction& t) { return t.sql().Run(sql, {}).status(); }).ok());
  }

  storage::TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{7};
  std::unique_ptr<Catalog> catalog_;
};

INSTANTIATE_TEST_SUITE_P(Databases, AccessTest,
                         testing::Values(SqlDialect::kSqlite, SqlDialect::kPostgres),
                         [](const auto& info) {
                           return info.param == SqlDialect::kSqlite ? "Sqlite" : "Postgres";
                         });

// Fills each column with a value of its own, so that two that were swapped are noticed.
template <typename T>
void FillAll(T* record) {
  int64_t number = 1;
  for (const Column<T>& column : TableOf<T>().columns) {
    if (const auto* text = std::get_if<std::string T::*>(&column.member)) {
      record->** text = "text-" + std::to_string(++number);
    } else {
      record->*std::get<int64_t T::*>(column.member) = ++number;
    }
  }
}

template <typename T>
void ExpectKept(Catalog& catalog) {
  T record;
  FillAll(&record);
  ASSERT_TRUE(catalog.Write([&](Transaction& t) { return t.Insert(record); }).ok());
  T read;
  ASSERT_TRUE(catalog
                  .Read([&](Transaction& t) -> Status {
                    STROBE_ASSIGN_OR_RETURN(read, t.Get<T>(record.key()));
                    return OkStatus();
                  })
                  .ok());
  for (const Column<T>& column : TableOf<T>().columns) {
    if (const auto* text = std::get_if<std::string T::*>(&column.member)) {
      EXPECT_EQ(read.**text, record.**text) << column.name;
    } else {
      const auto member = std::get<int64_t T::*>(column.member);
      EXPECT_EQ(read.*member, record.*member) << column.name;
    }
  }
  EXPECT_EQ(catalog.Write([&](Transaction& t) { return t.Insert(record); }).code(),
            StatusCode::kAlreadyExists);
  EXPECT_TRUE(catalog.Write([&](Transaction& t) { return t.Delete<T>(record.key()); }).ok());
}

TEST_P(AccessTest, KeepsEveryColumnOfEveryTable) {
  ExpectKept<User>(*catalog_);
  ExpectKept<Group>(*catalog_);
  ExpectKept<GroupMember>(*catalog_);
  ExpectKept<RoleBinding>(*catalog_);
  ExpectKept<ServiceAccount>(*catalog_);
  ExpectKept<ServiceKey>(*catalog_);
  ExpectKept<ApiToken>(*catalog_);
  ExpectKept<SignInSession>(*catalog_);
  ExpectKept<SignInAttempt>(*catalog_);
  ExpectKept<ShareLink>(*catalog_);
  ExpectKept<AccessSetting>(*catalog_);
  ExpectKept<AuditRecord>(*catalog_);
}

TEST_P(AccessTest, GrantsComeFromRolesAndGroups) {
  MakeUser("ada");
  ASSERT_TRUE(Write([&](Transaction& t) -> Status {
                STROBE_RETURN_IF_ERROR(t.Insert(Group{.id = "vision"}));
                STROBE_RETURN_IF_ERROR(AddMember(t, "vision", "user:ada"));
                STROBE_RETURN_IF_ERROR(BindRole(t, "p1", "group:vision", "editor", "x"));
                STROBE_RETURN_IF_ERROR(BindRole(t, "p2", "user:ada", "viewer", "x"));
                return BindRole(t, "p2", "user:ada", "analysis-reader", "x");
              }).ok());
  const Grants grants = GrantsOfSubject("user:ada");
  EXPECT_TRUE(Has(grants.In("p1"), Right::kEdit));
  EXPECT_TRUE(Has(grants.In("p1"), Right::kCapture));
  EXPECT_FALSE(Has(grants.In("p1"), Right::kAdmin));
  EXPECT_FALSE(Has(grants.In("p1"), Right::kReadAnalysis));
  EXPECT_TRUE(Has(grants.In("p2"), Right::kReadAnalysis));
  EXPECT_FALSE(Has(grants.In("p2"), Right::kEdit));
  EXPECT_EQ(grants.In("p3"), kNoRights);
  EXPECT_FALSE(grants.Anywhere(Right::kAdmin));
  const Grants narrow = grants.Narrowed(static_cast<RightSet>(Right::kView), "p1");
  EXPECT_EQ(narrow.In("p1"), static_cast<RightSet>(Right::kView));
  EXPECT_EQ(narrow.In("p2"), kNoRights);

  const int64_t before = Version();
  ASSERT_TRUE(Write([&](Transaction& t) { return RemoveMember(t, "vision", "user:ada"); }).ok());
  EXPECT_GT(Version(), before);
  EXPECT_EQ(GrantsOfSubject("user:ada").In("p1"), kNoRights);
  // Everything of a user goes with the user.
  ASSERT_TRUE(Write([&](Transaction& t) { return DeleteUser(t, "ada"); }).ok());
  EXPECT_EQ(GrantsOfSubject("user:ada").In("p2"), kNoRights);
}

TEST_P(AccessTest, RefusesWhatMakesNoSense) {
  MakeUser("ada");
  const auto bind = [&](const char* project, const char* subject, const char* role) {
    return std::string(
        Write([&](Transaction& t) { return BindRole(t, project, subject, role, "x"); }).name());
  };
  EXPECT_EQ(bind("p", "user:bob", "viewer"), "USER_NOT_FOUND");
  EXPECT_EQ(bind("p", "user:ada", "owner"), "ROLE_UNKNOWN");
  EXPECT_EQ(bind("p/q", "user:ada", "viewer"), "ID_MALFORMED");
  EXPECT_EQ(bind("p", "ada", "viewer"), "SUBJECT_MALFORMED");
  EXPECT_EQ(bind("p", "user:a|b", "viewer"), "NAME_MALFORMED");
  EXPECT_EQ(ParseRights("view,fly").status().name(), "RIGHT_UNKNOWN");
}

TEST_P(AccessTest, TokensExpireAndAreRevoked) {
  MakeUser("ada");
  IssuedToken issued;
  ASSERT_TRUE(Write([&](Transaction& t) -> Status {
                STROBE_ASSIGN_OR_RETURN(
                    issued, IssueToken(t, {.subject = "user:ada", .lifetime_ns = kDayNs}));
                return OkStatus();
              }).ok());
  EXPECT_THAT(issued.record.secret_hash, testing::Not(HasSubstr(issued.text.substr(30))));
  const auto find = [&](const std::string& text) {
    Status status;
    EXPECT_TRUE(catalog_
                    ->Read([&](Transaction& t) {
                      status = FindToken(t, text).status();
                      return OkStatus();
                    })
                    .ok());
    return std::string(status.name());
  };
  EXPECT_EQ(find(issued.text), "OK");
  for (size_t i = 0; i < issued.text.size(); ++i) {
    std::string edited = issued.text;
    edited[i] = edited[i] == 'a' ? 'b' : 'a';
    EXPECT_EQ(find(edited), "TOKEN_UNKNOWN") << i;
  }
  EXPECT_EQ(find(""), "TOKEN_UNKNOWN");
  ASSERT_TRUE(Write([&](Transaction& t) { return RevokeToken(t, issued.record.id); }).ok());
  EXPECT_EQ(find(issued.text), "TOKEN_REVOKED");
  ASSERT_TRUE(Write([&](Transaction& t) -> Status {
                STROBE_ASSIGN_OR_RETURN(
                    issued, IssueToken(t, {.subject = "user:ada", .lifetime_ns = kDayNs}));
                return OkStatus();
              }).ok());
  clock_.AdvanceNanos(kDayNs + 1);
  EXPECT_EQ(find(issued.text), "TOKEN_EXPIRED");
  EXPECT_EQ(Write([&](Transaction& t) {
              return IssueToken(t, {.subject = "user:ada", .lifetime_ns = 400 * kDayNs}).status();
            }).name(),
            "LIFETIME_OUT_OF_RANGE");
}

TEST_P(AccessTest, AuditChainNoticesWhatWasDoneToIt) {
  for (int i = 0; i < 5; ++i) Append("action" + std::to_string(i));
  Result<AuditVerdict> verdict = VerifyAudit(*catalog_);
  ASSERT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_TRUE(verdict->whole) << verdict->fault;
  EXPECT_EQ(verdict->records, 5);
  const std::string head = verdict->head;
  Append("later");
  EXPECT_TRUE(VerifyAudit(*catalog_, head)->whole);
  EXPECT_FALSE(VerifyAudit(*catalog_, std::string(64, 'a'))->whole);

  // Edited.
  Spoil("UPDATE audit_records SET outcome = 'FAILED' WHERE id = '00000000000000000003'");
  EXPECT_THAT(VerifyAudit(*catalog_)->fault, HasSubstr("00000000000000000003 was changed"));
  Spoil("UPDATE audit_records SET outcome = 'DONE' WHERE id = '00000000000000000003'");
  EXPECT_TRUE(VerifyAudit(*catalog_)->whole);
  // Reordered: two records change places, with their texts and hashes.
  Spoil("UPDATE audit_records SET id = 'x' WHERE id = '00000000000000000002'");
  Spoil("UPDATE audit_records SET id = '00000000000000000002' WHERE id = '00000000000000000003'");
  Spoil("UPDATE audit_records SET id = '00000000000000000003' WHERE id = 'x'");
  EXPECT_FALSE(VerifyAudit(*catalog_)->whole);
  Spoil("UPDATE audit_records SET id = 'x' WHERE id = '00000000000000000002'");
  Spoil("UPDATE audit_records SET id = '00000000000000000002' WHERE id = '00000000000000000003'");
  Spoil("UPDATE audit_records SET id = '00000000000000000003' WHERE id = 'x'");
  EXPECT_TRUE(VerifyAudit(*catalog_)->whole);
  // Removed at the end, then in the middle.
  Spoil("DELETE FROM audit_records WHERE id = '00000000000000000006'");
  EXPECT_THAT(VerifyAudit(*catalog_)->fault, HasSubstr("missing"));
  Spoil("DELETE FROM audit_records WHERE id = '00000000000000000002'");
  EXPECT_FALSE(VerifyAudit(*catalog_)->whole);
}

TEST_P(AccessTest, AuditChainIsOneForManyWriters) {
  constexpr int kThreads = 4;
  constexpr int kEach = 10;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &failed] {
      for (int k = 0; k < kEach; ++k) {
        AuditRecord record{.actor = "user:ada", .action = "a", .outcome = "DONE"};
        if (!Write([&](Transaction& t) { return AppendAudit(t, &record); }).ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  const Result<AuditVerdict> verdict = VerifyAudit(*catalog_);
  EXPECT_TRUE(verdict->whole) << verdict->fault;
  EXPECT_EQ(verdict->records, kThreads * kEach);
}

TEST_P(AccessTest, PruneForgetsWhatHasLongEnded) {
  MakeUser("ada");
  ASSERT_TRUE(Write([&](Transaction& t) {
                return IssueToken(
                           t, {.kind = "ACCESS", .subject = "user:ada", .lifetime_ns = kSecondNs})
                    .status();
              }).ok());
  clock_.AdvanceNanos(3 * kDayNs);
  int64_t gone = 0;
  ASSERT_TRUE(Write([&](Transaction& t) -> Status {
                STROBE_ASSIGN_OR_RETURN(gone, PruneAccess(t));
                return OkStatus();
              }).ok());
  EXPECT_EQ(gone, 1);
}

TEST(SecretTest, PasswordsAreArgon2id) {
  SeededRandom random(1);
  const Result<std::string> hash = HashPassword("correct horse battery", random);
  ASSERT_TRUE(hash.ok());
  EXPECT_THAT(*hash, HasSubstr("$argon2id$v=19$m=19456,t=2,p=1$"));
  EXPECT_TRUE(VerifyPassword("correct horse battery", *hash));
  EXPECT_FALSE(VerifyPassword("correct horse batterz", *hash));
  EXPECT_FALSE(VerifyPassword("correct horse battery", ""));
  EXPECT_NE(*HashPassword("correct horse battery", random), *hash) << "salted";
}

TEST(SecretTest, WeakPasswordsAreRefused) {
  EXPECT_EQ(CheckPassword("short", "ada").name(), "PASSWORD_TOO_SHORT");
  EXPECT_EQ(CheckPassword(std::string(300, 'x'), "ada").name(), "PASSWORD_TOO_LONG");
  EXPECT_EQ(CheckPassword("my name is Lovelace", "lovelace").name(), "PASSWORD_EASY");
  EXPECT_EQ(CheckPassword("aaaaaaaaaaaaaaaa", "ada").name(), "PASSWORD_EASY");
  EXPECT_EQ(CheckPassword("Password12345678", "ada").name(), "PASSWORD_EASY");
  EXPECT_TRUE(CheckPassword("correct horse battery", "ada").ok());
}

TEST(SecretTest, EncodingsAndHashes) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Base64UrlEncode("\xFB\xFF\x01"), "-_8B");
  for (size_t size = 0; size < 40; ++size) {
    SeededRandom random(size);
    const std::string bytes = RandomBytes(size, random);
    EXPECT_EQ(Base64UrlDecode(Base64UrlEncode(bytes)), bytes);
  }
  EXPECT_EQ(Base64UrlDecode("AB"), std::nullopt) << "bits that are no byte's";
  EXPECT_EQ(Base64UrlDecode("A"), std::nullopt);
  EXPECT_EQ(Base64UrlDecode("AA=="), std::nullopt);
  EXPECT_EQ(Base64Decode("dXNlcjp0b2tlbg=="), "user:token");
  // RFC 4231, test case 2.
  const std::string mac = HmacSha256("Jefe", "what do ya want for nothing?");
  EXPECT_EQ(Sha256Hex(mac).size(), 64u);
  EXPECT_EQ(Base64UrlEncode(mac), "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM");
}

}  // namespace
}  // namespace strobe::catalog
