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

/// Whether a line of a header goes on in the next one, which begins with a space: the parser joins
/// them, others do not (RFC 9112, 5.2).
bool has_folded_line(std::string_view header) {
  return header.find("\r\n ") != header.npos || header.find("\r\n\t") != header.npos;
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

bool RequestReader::line_fits(std::string_view bytes) {
  if (std::min(bytes.find("\r\n"), bytes.size()) <= limits_.line_bytes) return true;
  refuse(414, fmt::format("The request line has more than {} bytes.", limits_.line_bytes));
  return false;
}

void RequestReader::read(std::string& bytes) {
  bytes.erase(0, take(bytes));
}

size_t RequestReader::take(const std::string_view bytes) {
  std::string_view rest = bytes;
  const auto taken = [&] { return bytes.size() - rest.size(); };
  if (stage_ == Stage::kNothing) {
    // Clients may send line ends after a body, which count for nothing (RFC 9112, 2.2).
    while (rest.starts_with("\r\n")) rest.remove_prefix(2);
    if (rest.empty() || rest == "\r") return taken();
    stage_ = Stage::kHeader;
  }
  auto& parser = parser_->request;
  while (stage_ == Stage::kHeader || stage_ == Stage::kBody) {
    if (rest.empty() || (!has_line_ && !line_fits(rest))) break;
    if (stage_ == Stage::kBody && parser.chunked() && rest.size() < kLastChunk) break;
    boost::system::error_code& error = parser_->error;
    const size_t used = parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    if (stage_ == Stage::kHeader) {
      has_folded_line_ = has_folded_line_ || has_folded_line(rest.substr(0, used));
    }
    rest.remove_prefix(used);
    has_line_ = has_line_ || used > 0;
    if (error == http::error::need_more) {
      // Only within a line of the chunked coding: the parser has limits for all else.
      if (stage_ == Stage::kBody && rest.size() > kMaxChunkLine) {
        refuse(400, fmt::format("A line between chunks has more than {} bytes.", kMaxChunkLine));
      }
      break;
    }
    if (error) {
      refuse_parsed(rest);
      break;
    }
    if (stage_ == Stage::kHeader && parser.is_header_done()) take_head();
    if (stage_ == Stage::kBody && parser.is_done()) stage_ = Stage::kWhole;
  }
  return taken();
}

void RequestReader::refuse_parsed(std::string_view rest) {
  // The known part of the head decides the dialect of the answer.
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
    return refuse(505, "The HTTP version is not supported; use HTTP/1.1.");
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
  for (const auto& field : message) {
    head_.fields.push_back(
        {ascii_lower(view(field.name_string())), std::string(view(field.value()))});
  }
  if (!fields_are_plain()) return;
  const std::string* expected = head_.find("expect");
  head_.expects_continue = expected != nullptr && ascii_lower(*expected) == "100-continue";
  take_absolute_target();
  if (stage_ == Stage::kHeader) stage_ = Stage::kBody;
}

bool RequestReader::fields_are_plain() {
  const auto refused = [this](int status, std::string message) {
    refuse(status, std::move(message));
    return false;
  };
  if (has_folded_line_) {
    return refused(400, "A header field goes on in a second line; expected each in one line.");
  }
  if (head_.fields.size() > limits_.fields) {
    return refused(431, fmt::format("The header has more than {} fields.", limits_.fields));
  }
  size_t hosts = 0, lengths = 0;
  for (const auto& [name, value] : head_.fields) {
    if (name == "host") ++hosts;
    if (name == "content-length" && (++lengths > 1 || value.find(',') != value.npos)) {
      return refused(400, "Content-Length is given twice, expected one number.");
    }
    if (name != "transfer-encoding") continue;
    if (head_.is_http_1_0) return refused(400, "HTTP/1.0 has no Transfer-Encoding.");
    if (ascii_lower(value) != "chunked") {
      return refused(501, "Of the transfer codings only chunked is supported.");
    }
  }
  if (hosts > 1 || (hosts == 0 && !head_.is_http_1_0)) {
    return refused(400, "A request has one Host field.");
  }
  return true;
}

void RequestReader::take_absolute_target() {
  const std::string_view target = head_.target;
  const size_t begin = target.find("://");
  if (target.starts_with('/') || begin == target.npos) return;
  const std::string scheme = ascii_lower(target.substr(0, begin));
  const size_t end = std::min(target.find_first_of("/?", begin + 3), target.size());
  std::string host(target.substr(begin + 3, end - begin - 3));
  if ((scheme != "http" && scheme != "https") || host.empty() || host.find('@') != host.npos) {
    return refuse(400, "The address in the request line is not one of HTTP, http://host/path.");
  }
  const std::string_view path = target.substr(end);
  head_.target = path.starts_with('/') ? std::string(path) : fmt::format("/{}", path);
  const auto field = std::ranges::find(head_.fields, "host", &Field::name);
  if (field != head_.fields.end()) {
    field->value = std::move(host);
  } else {
    head_.fields.push_back({"host", std::move(host)});
  }
}

}  // namespace tokamak::serve
