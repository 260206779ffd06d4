#include "serve/access.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "serve/access_log.h"
#include "serve/error_reply.h"
#include "serve/page.h"

namespace tokamak::serve {
namespace {

RequestHead head_with(std::string name, std::string value) {
  return {.method = "POST", .target = "/", .fields = {{std::move(name), std::move(value)}}};
}

TEST(Access, RecognizesKeysOfBothKinds) {
  const Access access({.keys = {"first", "second"}});
  EXPECT_EQ(access.key_of(head_with("authorization", "Bearer first")), 0u);
  EXPECT_EQ(access.key_of(head_with("authorization", "bearer  second ")), 1u);
  EXPECT_EQ(access.key_of(head_with("x-api-key", "second")), 1u);
}

TEST(Access, RefusesWhatIsNoKey) {
  const Access access({.keys = {"first", "second"}});
  for (const char* shown : {"", "Bearer", "Bearer ", "Bearer firs", "Bearer firsts", "Bearer First",
                            "Basic first", "first", "Bearer second first"}) {
    EXPECT_FALSE(access.key_of(head_with("authorization", shown))) << shown;
  }
  EXPECT_FALSE(access.key_of({.method = "GET", .target = "/"}));
}

TEST(Access, ReadsKeysLineByLine) {
  EXPECT_EQ(*keys_in("# who\n\n one \r\ntwo"), (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(keys_in("# nobody\n"));
}

TEST(Access, AcceptsHostsOfThisMachineOnly) {
  const Access access({.checks_host = true, .hosts = {"box.local"}});
  for (const char* host : {"localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]:80", "127.0.0.5",
                           "box.local", "Box.local:80"}) {
    EXPECT_TRUE(access.is_host_right(head_with("host", host))) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example:8080", "127.0.0.1.nip.io", "",
                           "[::1]evil.example", "localhost:80@evil", "localhost:8080.evil.example",
                           "[::1", "box.local.", "192.0.2.1", "box.local:x"}) {
    EXPECT_FALSE(access.is_host_right(head_with("host", host))) << host;
  }
  EXPECT_TRUE(Access({}).is_host_right(head_with("host", "any.example")));
}

std::string value_of(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return field.value;
  }
  return "none";
}

TEST(Access, RecognizesPagesOfOtherOrigins) {
  const auto is_foreign = [](std::vector<Field> fields, AccessRules rules = {}) {
    fields.push_back({"host", "127.0.0.1:8080"});
    return Access(std::move(rules))
        .is_foreign_page({.method = "POST", .target = "/", .fields = std::move(fields)});
  };
  EXPECT_FALSE(is_foreign({})) << "a program";
  EXPECT_FALSE(is_foreign({{"content-type", "text/plain"}}));
  EXPECT_FALSE(is_foreign({{"origin", "http://127.0.0.1:8080"}})) << "the server's own page";
  for (const char* origin : {"http://evil.example", "http://127.0.0.1:3000", "https://evil.example",
                             "http://127.0.0.1:8080.evil.example", "null", "http://"}) {
    EXPECT_TRUE(is_foreign({{"origin", origin}})) << origin;
    EXPECT_FALSE(is_foreign({{"origin", origin}}, {.origins = {"*"}})) << origin;
    EXPECT_FALSE(is_foreign({{"origin", origin}}, {.origins = {"http://x", origin}})) << origin;
  }
  EXPECT_FALSE(is_foreign({{"origin", "https://box.local"}}, {.hosts = {"box.local"}}));
  EXPECT_FALSE(is_foreign({{"origin", "vscode-webview://1"}})) << "no page of the web";
}

TEST(Access, RecognizesPagesOfOtherOriginsByWhatBrowsersAdd) {
  const auto is_foreign = [](const char* method, const char* site, const char* mode) {
    return Access({}).is_foreign_page(
        {.method = method,
         .target = "/",
         .fields = {{"sec-fetch-site", site}, {"sec-fetch-mode", mode}}});
  };
  EXPECT_TRUE(is_foreign("POST", "cross-site", "no-cors"));
  EXPECT_TRUE(is_foreign("POST", "cross-site", "navigate")) << "a form";
  EXPECT_TRUE(is_foreign("GET", "cross-site", "no-cors")) << "an image";
  EXPECT_FALSE(is_foreign("GET", "cross-site", "navigate")) << "a link";
  EXPECT_FALSE(is_foreign("GET", "none", "navigate"));
  // By a proxy that changes Host.
  RequestHead head = head_with("origin", "https://tokamak.example");
  head.fields.push_back({"host", "127.0.0.1"});
  EXPECT_TRUE(Access({}).is_foreign_page(head));
  head.fields.push_back({"sec-fetch-site", "same-origin"});
  EXPECT_FALSE(Access({}).is_foreign_page(head));
}

TEST(Access, AllowsNamedOriginsToReadAnswers) {
  constexpr std::string_view kAllow = "Access-Control-Allow-Origin";
  const auto asked = head_with("origin", "https://page.example");
  EXPECT_TRUE(Access({}).origin_fields(asked).empty());
  EXPECT_EQ(value_of(Access({.origins = {"*"}}).origin_fields(asked), kAllow), "*");
  const Access named({.origins = {"https://page.example"}});
  EXPECT_EQ(value_of(named.origin_fields(asked), kAllow), "https://page.example");
  EXPECT_EQ(value_of(named.origin_fields(asked), "Vary"), "Origin");
  const auto other = head_with("origin", "https://other.example");
  EXPECT_EQ(value_of(named.origin_fields(other), kAllow), "none");
}

TEST(Access, AnswersAQuestionBeforeARequest) {
  RequestHead head = head_with("origin", "https://page.example");
  head.method = "OPTIONS";
  head.fields.push_back({"access-control-request-headers", "authorization, content-type"});
  const auto fields = Access({.origins = {"https://page.example"}}).origin_fields(head);
  EXPECT_EQ(value_of(fields, "Access-Control-Allow-Headers"), "authorization, content-type");
  EXPECT_EQ(value_of(fields, "Access-Control-Allow-Methods"), "GET, HEAD, POST");
}

TEST(ErrorReply, SpeaksTheDialectOfThePath) {
  EXPECT_EQ(error_reply("/v1/chat/completions", 401, "No.", "invalid_api_key").body,
            R"({"error": {"message": "No.", "type": "authentication_error", "param": null, )"
            R"("code": "invalid_api_key"}})");
  EXPECT_EQ(error_reply("/v1/messages", 401, "No.").body,
            R"({"type": "error", "error": {"type": "authentication_error", "message": "No."}})");
  EXPECT_EQ(error_reply("/api/chat", 401, "No.").body, R"({"error": "No."})");
}

TEST(ErrorReply, CallsALimitByTheNameThatClientsKnow) {
  EXPECT_EQ(error_reply("/v1/chat/completions", 429, "No.", "queue_full").body,
            R"({"error": {"message": "No.", "type": "rate_limit_exceeded", "param": null, )"
            R"("code": "rate_limit_exceeded"}})");
  EXPECT_EQ(error_reply("/v1/messages", 429, "No.").body,
            R"({"type": "error", "error": {"type": "rate_limit_error", "message": "No."}})");
}

TEST(AccessLog, QuotesWhatAClientChose) {
  const Answered answered = {.request_id = "req_1",
                             .remote = "127.0.0.1",
                             .method = "GET",
                             .path = "/\x1b[2J\n\"" + std::string(200, 'x'),
                             .status = 404,
                             .bytes = 7,
                             .seconds = 0.0123};
  const std::string line = log_line(answered, LogFormat::kText, 1.5);
  EXPECT_TRUE(line.starts_with("1970-01-01T00:00:01.500Z 127.0.0.1 GET /\\x1b[2J\\x0a\"xxx"))
      << line;
  EXPECT_TRUE(line.ends_with(" 404 7 bytes 12.3 ms req_1\n")) << line;
  EXPECT_LT(line.size(), 220u);
  const auto json = Json::parse(log_line(answered, LogFormat::kJson, 1.5));
  ASSERT_TRUE(json);
  EXPECT_EQ(*json->find("status"), Json(404));
  EXPECT_EQ(log_line(answered, LogFormat::kOff, 1.5), "");
}

TEST(AccessLog, HasMessagesInItsFormat) {
  const std::string text = "warning: \"x\"\nis odd.\n";
  EXPECT_EQ(message_line(text, LogFormat::kText, 1.5), text);
  EXPECT_EQ(message_line(text, LogFormat::kOff, 1.5), text);
  EXPECT_EQ(message_line(text, LogFormat::kJson, 1.5),
            R"({"time": "1970-01-01T00:00:01.500Z", "level": "warning", )"
            R"("message": "\"x\"\nis odd."})"
            "\n");
  const auto plain = Json::parse(message_line("Loading a.\n", LogFormat::kJson, 1.5));
  EXPECT_EQ(*plain->find("level"), Json("info"));
}

TEST(ChatPage, RunsOnlyWhatCarriesItsWord) {
  const Reply page = chat_page(0xabcdef0123456789);
  EXPECT_EQ(page.body.find("NONCE"), page.body.npos);
  EXPECT_NE(page.body.find("<script nonce=\"abcdef0123456789\">"), page.body.npos);
  EXPECT_NE(value_of(page.fields, "Content-Security-Policy").find("'nonce-abcdef0123456789'"),
            std::string::npos);
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    EXPECT_EQ(page.body.find(outside), page.body.npos) << outside;
  }
}

}  // namespace
}  // namespace tokamak::serve
