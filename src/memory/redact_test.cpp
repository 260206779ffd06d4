#include "memory/redact.h"

#include <gtest/gtest.h>

#include "memory/card_numbers.h"

namespace tokamak::memory {
namespace {

Redacted redacted(std::string_view text, const std::vector<std::string>& own = {},
                  const std::vector<Secret>& kept = {}) {
  const auto redactor = Redactor::make(own, kept);
  EXPECT_TRUE(redactor);
  return *redactor->redact(text);
}

std::array<uint32_t, 4> counts(uint32_t keys, uint32_t email, uint32_t cards, uint32_t own) {
  return {keys, email, cards, own};
}

TEST(Redact, LeavesOrdinaryTextAlone) {
  for (const std::string_view text :
       {"", "A token is a piece of a word; the secret of it is: no secret.", "call 030 901820",
        "The password is not written here.", "https://example.org/a?b=c @home", "sk-8 and AKIA",
        "on 2026-11-27 at 18:00:00.123456", "version 4111.1111"}) {
    EXPECT_EQ(redacted(text).text, text);
    EXPECT_EQ(redacted(text).counts, counts(0, 0, 0, 0));
  }
}

TEST(Redact, TakesOutTheKeysOfServices) {
  for (const std::string_view key :
       {"AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_11ABCDEFG0abcdefghijkl", "glpat-abcdefghij0123456789",
        "xoxb-123456789012-abcdefghijkl", "sk-proj-abcdefghijklmnop", "sk_live_abcdefghijklmnop",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "AIzaabcdefghijklmnopqrstuvwxyz012345678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"}) {
    const Redacted out = redacted(fmt::format("use {}, then", key));
    EXPECT_EQ(out.text, "use [REDACTED], then") << key;
    EXPECT_EQ(out.counts, counts(1, 0, 0, 0)) << key;
  }
}

TEST(Redact, TakesOutValuesAndLeavesTheirNames) {
  EXPECT_EQ(redacted("password: hunter22").text, "password: [REDACTED]");
  EXPECT_EQ(redacted("DB_PASSWORD=\"tr0ub4dor\"").text, "DB_PASSWORD=\"[REDACTED]\"");
  EXPECT_EQ(redacted("{\"api_key\": \"0123456789\"}").text, "{\"api_key\": \"[REDACTED]\"}");
  EXPECT_EQ(redacted("Authorization: Bearer abcdefghij0123456789").text,
            "Authorization: Bearer [REDACTED]");
  EXPECT_EQ(redacted("postgres://ann:hunter2@db/x").text, "postgres://[REDACTED]@db/x");
}

TEST(Redact, TakesOutPrivateKeysToTheirEnd) {
  EXPECT_EQ(redacted("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE "
                     "KEY-----\nb")
                .text,
            "a\n[REDACTED]\nb");
  EXPECT_EQ(redacted("-----BEGIN PRIVATE KEY-----\nMIIE\ncut off").text, "[REDACTED]");
}

TEST(Redact, TakesOutAddresses) {
  const Redacted out = redacted("to ann.b+c@mail.example.org, or <d@e.fr>.");
  EXPECT_EQ(out.text, "to [REDACTED], or <[REDACTED]>.");
  EXPECT_EQ(out.counts, counts(0, 2, 0, 0));
}

TEST(Redact, TakesOutCardsWhoseCheckDigitIsRight) {
  EXPECT_EQ(redacted("pay with 4111 1111 1111 1111 now").text, "pay with [REDACTED] now");
  EXPECT_EQ(redacted("5500-0000-0000-0004, 378282246310005").text, "[REDACTED], [REDACTED]");
  EXPECT_EQ(redacted("4111 1111 1111 1111 5500 0000 0000 0004").text, "[REDACTED] [REDACTED]");
  EXPECT_EQ(redacted("room 12 4111111111111111 12").text, "room 12 [REDACTED] 12");
  EXPECT_EQ(redacted("4111 1111 1111 1112").text, "4111 1111 1111 1112");
  EXPECT_EQ(redacted("0000 0000 0000 0000").text, "0000 0000 0000 0000");
}

TEST(Redact, FollowsTheUsersExpressionsToo) {
  const Redacted out = redacted("case AB-123456, a@b.example", {R"(AB-\d{6})"});
  EXPECT_EQ(out.text, "case [REDACTED], [REDACTED]");
  EXPECT_EQ(out.counts, counts(0, 1, 0, 1));
}

TEST(Redact, CountsWhatOverlapsOnce) {
  const Redacted out = redacted("secret=ann@example.org", {"example"});
  EXPECT_EQ(out.text, "secret=[REDACTED]");
  EXPECT_EQ(out.counts, counts(1, 0, 0, 0));
}

TEST(Redact, KeepsTheKindsThatAreNamed) {
  constexpr std::string_view kText = "ann@example.org 4111111111111111 password=hunter22";
  EXPECT_EQ(redacted(kText, {}, {Secret::kEmail}).text,
            "ann@example.org [REDACTED] password=[REDACTED]");
  EXPECT_EQ(redacted(kText, {}, {Secret::kCard}).text,
            "[REDACTED] 4111111111111111 password=[REDACTED]");
  EXPECT_EQ(redacted(kText, {}, {Secret::kKey}).text, "[REDACTED] [REDACTED] password=hunter22");
}

TEST(Redact, RefusesExpressionsThatAreNone) {
  const auto broken = Redactor::make({"a("});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("\"a(\""), std::string::npos) << broken.error().message;
  const auto empty = Redactor::make({"x*"});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kUsage);
}

TEST(Redact, EndsWithinItsStepsOnLongTexts) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "aaaaaaaaaa-1 ";
  text += std::string(100000, 'a') + std::string(100000, '1') + "@";
  EXPECT_EQ(redacted(text).text, text);
}

TEST(CardNumbers, FollowLuhnsFormula) {
  for (const std::string_view right : {"79927398713", "4111-1111-1111-1111", "0"}) {
    EXPECT_TRUE(has_check_digit(right)) << right;
  }
  for (const std::string_view wrong : {"79927398710", "4111-1111-1111-1112", "1"}) {
    EXPECT_FALSE(has_check_digit(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace tokamak::memory
