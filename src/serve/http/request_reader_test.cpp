#include "serve/http/request_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace tokamak::serve {
namespace {

using Stage = RequestReader::Stage;

constexpr std::string_view kHost = "Host: localhost\r\n";

/// Feeds `bytes` in pieces of that size; what is left over stands in `rest`.
RequestReader read_in_pieces(std::string_view bytes, size_t size, std::string& rest,
                             const RequestReader::Limits& limits = {}) {
  RequestReader reader(limits);
  for (size_t at = 0; at < bytes.size(); at += size) {
    rest += bytes.substr(at, size);
    reader.read(rest);
  }
  return reader;
}

RequestReader read(std::string_view bytes, const RequestReader::Limits& limits = {}) {
  std::string rest;
  return read_in_pieces(bytes, bytes.size(), rest, limits);
}

int status_of(std::string_view bytes, const RequestReader::Limits& limits = {}) {
  const RequestReader reader = read(bytes, limits);
  return reader.stage() == Stage::kRefused ? reader.refusal().status : 0;
}

std::string with_fields(std::string_view fields, std::string_view body = "") {
  return fmt::format("POST /x HTTP/1.1\r\n{}{}\r\n{}", kHost, fields, body);
}

TEST(RequestReader, ReadsARequestInPiecesOfAnySize) {
  const std::string bytes =
      with_fields("Content-Length: 5\r\nX-Thing: a b\r\n", "hello") + "GET / HTTP/1.1\r\n";
  for (const size_t size : {size_t{1}, size_t{2}, size_t{7}, bytes.size()}) {
    std::string rest;
    RequestReader reader = read_in_pieces(bytes, size, rest);
    ASSERT_EQ(reader.stage(), Stage::kWhole) << size;
    EXPECT_EQ(reader.head().method, "POST");
    EXPECT_EQ(reader.head().target, "/x");
    ASSERT_NE(reader.head().find("x-thing"), nullptr);
    EXPECT_EQ(*reader.head().find("x-thing"), "a b");
    EXPECT_EQ(reader.head().length, 5u);
    EXPECT_EQ(reader.take_body(), "hello");
    EXPECT_EQ(rest, "GET / HTTP/1.1\r\n") << "the next request is left";
  }
}

TEST(RequestReader, ReadsABodyOfNoChunksInPiecesOfAnySize) {
  for (const size_t size : {size_t{1}, size_t{2}, size_t{3}, size_t{4}}) {
    std::string rest;
    RequestReader reader =
        read_in_pieces(with_fields("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), size, rest);
    ASSERT_EQ(reader.stage(), Stage::kWhole) << size;
    EXPECT_EQ(reader.take_body(), "");
    EXPECT_EQ(rest, "");
  }
}

TEST(RequestReader, ReadsChunks) {
  const std::string body = "3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (const size_t size : {size_t{1}, size_t{3}, size_t{1000}}) {
    std::string rest;
    RequestReader reader =
        read_in_pieces(with_fields("Transfer-Encoding: chunked\r\n", body), size, rest);
    ASSERT_EQ(reader.stage(), Stage::kWhole) << size;
    EXPECT_EQ(reader.take_body(), "abc0123456789");
    EXPECT_EQ(rest, "");
  }
}

TEST(RequestReader, RecognizesTheHeadBeforeTheBody) {
  const RequestReader reader =
      read(with_fields("Content-Length: 5\r\nExpect: 100-continue\r\n", "he"));
  EXPECT_EQ(reader.stage(), Stage::kBody);
  EXPECT_TRUE(reader.head().expects_continue);
  EXPECT_EQ(reader.body_bytes(), 2u);
}

TEST(RequestReader, SkipsLineEndsBeforeARequest) {
  EXPECT_EQ(read("\r\n\r\nGET / HTTP/1.0\r\n\r\n").stage(), Stage::kWhole);
  EXPECT_EQ(read("\r\n").stage(), Stage::kNothing);
}

/// The least of several tries, which others on the machine disturb the least.
double seconds_to_read(const std::string& bytes) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    read(bytes);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    least = std::min(least, taken.count());
  }
  return least;
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(RequestReader, TakesTimeInProportionToWhatItReads) {
  constexpr size_t kTimes = 2000;
  const std::string ends = repeated("\r\n", kTimes);
  const std::string head = with_fields("Transfer-Encoding: chunked\r\n");
  const std::string chunks = repeated("1\r\nx\r\n", kTimes);
  // 32 times as much takes 32 times as long, not 1024 times.
  EXPECT_LT(seconds_to_read(repeated(ends, 32)), 32 * 8 * seconds_to_read(ends));
  EXPECT_LT(seconds_to_read(head + repeated(chunks, 32)), 32 * 8 * seconds_to_read(head + chunks));
}

TEST(RequestReader, ReadsTheAbsoluteFormOfATarget) {
  const RequestReader reader =
      read("GET HTTP://box:81/v1/models?a=b HTTP/1.1\r\nHost: other\r\n\r\n");
  ASSERT_EQ(reader.stage(), Stage::kWhole);
  EXPECT_EQ(reader.head().target, "/v1/models?a=b");
  EXPECT_EQ(*reader.head().find("host"), "box:81") << "which counts in place of Host";
  EXPECT_EQ(read("GET http://box HTTP/1.1\r\nHost: box\r\n\r\n").head().target, "/");
  EXPECT_EQ(read("GET http://box?a HTTP/1.1\r\nHost: box\r\n\r\n").head().target, "/?a");
  EXPECT_EQ(*read("GET http://box/ HTTP/1.0\r\n\r\n").head().find("host"), "box");
  EXPECT_EQ(read("GET /x?y=http://box/ HTTP/1.0\r\n\r\n").head().target, "/x?y=http://box/");
  for (const char* target : {"http://", "http:///x", "ftp://box/", "http://user@box/"}) {
    EXPECT_EQ(status_of(fmt::format("GET {} HTTP/1.1\r\n{}\r\n", target, kHost)), 400) << target;
  }
}

TEST(RequestReader, RecognizesWhetherTheConnectionContinues) {
  const auto keeps = [](std::string_view line, std::string_view fields) {
    return read(fmt::format("{}\r\n{}{}\r\n", line, kHost, fields)).head().keeps_alive;
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1", ""));
  EXPECT_FALSE(keeps("GET / HTTP/1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0", ""));
  EXPECT_TRUE(keeps("GET / HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(RequestReader, RefusesWhatIsTooLong) {
  const RequestReader::Limits limits = {
      .line_bytes = 40, .header_bytes = 200, .fields = 3, .body_bytes = 10};
  const std::string path(50, 'x');
  EXPECT_EQ(status_of(fmt::format("GET /{} HTTP/1.1\r\n", path), limits), 414);
  EXPECT_EQ(status_of(fmt::format("GET /{}", path), limits), 414) << "before its end has come";
  std::string rest;
  const std::string line = fmt::format("GET /{} HTTP/1.1\r\n", path);
  EXPECT_EQ(read_in_pieces(line, 3, rest, limits).refusal().status, 414) << "in pieces";
  const std::string field = fmt::format("A: {}\r\n", std::string(300, 'x'));
  EXPECT_EQ(status_of(with_fields(field), limits), 431);
  EXPECT_EQ(status_of(with_fields("A: 1\r\nB: 2\r\nC: 3\r\n"), limits), 431);
  EXPECT_EQ(status_of(with_fields("Content-Length: 11\r\n"), limits), 413);
  EXPECT_EQ(status_of(with_fields("Content-Length: 10\r\n", "0123456789"), limits), 0);
  EXPECT_EQ(
      status_of(with_fields("Transfer-Encoding: chunked\r\n", "B\r\n01234567890\r\n"), limits),
      413);
}

TEST(RequestReader, RefusesLinesWithoutEndBetweenChunks) {
  const std::string extension(9000, 'x');
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding: chunked\r\n", "3;" + extension)), 400);
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding: chunked\r\n", "0\r\nA: " + extension)), 400);
}

TEST(RequestReader, RefusesWhatMayBeReadInTwoWays) {
  EXPECT_EQ(status_of(with_fields("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Content-Length: 3\r\nContent-Length: 4\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Content-Length: 3\r\nContent-Length: 3\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Content-Length: 3, 3\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding:\r\n chunked\r\n")), 400) << "folded";
  EXPECT_EQ(status_of(with_fields("A: b\r\n\tc\r\n")), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n Host: x\r\n\r\n"), 400);
  EXPECT_EQ(status_of(with_fields("Content-Length: -3\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Content-Length: 3x\r\n")), 400);
  EXPECT_EQ(status_of(with_fields("Content-Length: 99999999999999999999\r\n")), 400);
  for (const std::string_view size : {"-2", "0x2", "+2", " 2", "", "g", "fffffffffffffffff"}) {
    EXPECT_NE(status_of(with_fields("Transfer-Encoding: chunked\r\n",
                                    fmt::format("{}\r\nab\r\n0\r\n\r\n", size))),
              0)
        << size;
  }
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding: gzip, chunked\r\n")), 501);
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding: gzip\r\n")), 501);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesWhatIsNotWellFormed) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: x\n\r\n"), 400);
  EXPECT_EQ(status_of(fmt::format("GET / HTTP/1.1\r\n{}A: b\nC: d\r\n\r\n", kHost)), 400);
  EXPECT_EQ(status_of(fmt::format("GET / HTTP/1.1\r\n{}A b: c\r\n\r\n", kHost)), 400);
  EXPECT_EQ(status_of(fmt::format("GET / HTTP/1.1\r\n{}: c\r\n\r\n", kHost)), 400);
  EXPECT_EQ(status_of("GET  / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(status_of(fmt::format("GET / HTTP/1.1\r\n{0}{0}\r\n", kHost)), 400) << "two of them";
  EXPECT_EQ(status_of(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 13)), 400);
}

TEST(RequestReader, RecognizesThePathOfWhatItRefuses) {
  const RequestReader reader = read(with_fields("Content-Length: 99999999999\r\n"));
  ASSERT_EQ(reader.stage(), Stage::kRefused);
  EXPECT_EQ(reader.head().path(), "/x");
}

}  // namespace
}  // namespace tokamak::serve
