#include "serve/http/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/ascii.h"

namespace tokamak::serve {
namespace {

namespace http = boost::beast::http;

/// Most of a chunk's first line or of the fields after the last chunk, which nobody needs.
constexpr size_t kMaxChunkLine = size_t{8} << 10;
/// Bytes of the last chunk without fields after it, "0\r\n\r\n". A chunked body that is not whole
/// still has at least that many to come; the parser takes no fewer once it has seen the first line.
constexpr size_t kLastChunk = 5;

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// Whether the line ends as one of HTTP does, whatever its version: "GET / HTTP/2.0\r\n".
bool names_a_version(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
  const size_t at = line.rfind(" HTTP/");
  if (at == line.npos || line.size() != at + 9) return false;
  const auto is_digit = [&](size_t index) { return line[index] >= '0' && line[index] <= '9'; };
  return is_digit(at + 6) && line[at + 7] == '.' && is_digit(at + 8);
}

}  // namespace

struct RequestReader::Parser {
  http::request_parser<http::string_body> request;
  boost::system::error_code error;
};

RequestReader::RequestReader(const Limits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>()) {
  parser_->request.header_limit(uint32_t(limits.header_bytes));
  parser_->request.body_limit(limits.body_bytes);
}

RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;

uint64_t RequestReader::body_bytes() const {
  return parser_->request.get().body().size();
}

std::string RequestReader::take_body() {
  return std::move(parser_->request.get().body());
}

void RequestReader::refuse(int status, std::string message) {
  stage_ = Stage::kRefused;
  refusal_ = {status, std::move(message)};
}

/// Clients may send a line end after a body, which counts for nothing (RFC 9112, 2.2).
bool RequestReader::skip_line_ends(std::string& bytes) {
  while (bytes.starts_with("\r\n")) bytes.erase(0, 2);
  return !bytes.empty() && bytes != "\r";
}

bool RequestReader::line_fits(const std::string& bytes) {
  if (std::min(bytes.find("\r\n"), bytes.size()) <= limits_.line_bytes) return true;
  refuse(414, fmt::format("The request line has more than {} bytes.", limits_.line_bytes));
  return false;
}

void RequestReader::read(std::string& bytes) {
  if (stage_ == Stage::kNothing) {
    if (!skip_line_ends(bytes)) return;
    stage_ = Stage::kHeader;
  }
  auto& parser = parser_->request;
  while (stage_ == Stage::kHeader || stage_ == Stage::kBody) {
    if (bytes.empty() || (!has_line_ && !line_fits(bytes))) return;
    if (stage_ == Stage::kBody && parser.chunked() && bytes.size() < kLastChunk) return;
    boost::system::error_code& error = parser_->error;
    const size_t used = parser.put(boost::asio::buffer(bytes), error);
    bytes.erase(0, used);
    has_line_ = has_line_ || used > 0;
    if (error == http::error::need_more) {
      // Only within a line of the chunked coding: the parser has limits for all else.
      if (stage_ == Stage::kBody && bytes.size() > kMaxChunkLine) {
        refuse(400, fmt::format("A line between chunks has more than {} bytes.", kMaxChunkLine));
      }
      return;
    }
    if (error) return refuse_parsed(bytes);
    if (stage_ == Stage::kHeader && parser.is_header_done()) take_head();
    if (stage_ == Stage::kBody && parser.is_done()) stage_ = Stage::kWhole;
  }
}

void RequestReader::refuse_parsed(std::string_view rest) {
  // What is known of the head says in which dialect the answer is.
  const auto& message = parser_->request.get();
  head_.method = view(message.method_string());
  head_.target = view(message.target());
  const boost::system::error_code& error = parser_->error;
  if (error == http::error::header_limit) {
    return refuse(431, fmt::format("The header has more than {} bytes.", limits_.header_bytes));
  }
  if (error == http::error::body_limit) {
    return refuse(413, fmt::format("The body has more than {} bytes.", limits_.body_bytes));
  }
  if (error == http::error::bad_version && names_a_version(rest)) {
    return refuse(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
  }
  refuse(400, fmt::format("The request is not well formed: {}.", error.message()));
}

void RequestReader::take_head() {
  const auto& parser = parser_->request;
  const auto& message = parser.get();
  head_.method = view(message.method_string());
  head_.target = view(message.target());
  head_.keeps_alive = parser.keep_alive();
  head_.is_http_1_0 = message.version() == 10;
  if (const auto length = parser.content_length()) head_.length = *length;
  size_t hosts = 0;
  for (const auto& field : message) {
    head_.fields.push_back(
        {ascii_lower(view(field.name_string())), std::string(view(field.value()))});
    const auto& [name, value] = head_.fields.back();
    if (name == "host") ++hosts;
    if (name == "expect") head_.expects_continue = ascii_lower(value) == "100-continue";
    if (name != "transfer-encoding") continue;
    if (head_.is_http_1_0) return refuse(400, "HTTP/1.0 has no Transfer-Encoding.");
    if (ascii_lower(value) != "chunked") {
      return refuse(501, "Of the transfer codings only chunked is supported.");
    }
  }
  if (head_.fields.size() > limits_.fields) {
    return refuse(431, fmt::format("The header has more than {} fields.", limits_.fields));
  }
  if (hosts > 1 || (hosts == 0 && !head_.is_http_1_0)) {
    return refuse(400, "A request has one Host field.");
  }
  stage_ = Stage::kBody;
}

}  // namespace tokamak::serve
