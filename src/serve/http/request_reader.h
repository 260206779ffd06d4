// RequestReader: bytes of a connection -> requests of HTTP/1.1 and 1.0. No sockets, no clock.
//
// The grammar is Boost.Beast's, which is strict; what is refused besides it: a request line or a
// header that is too long, an HTTP/1.1 request without one Host, transfer codings other than
// chunked, a length that is given twice, folded lines, and whatever else may be read in two ways
// (docs/serve.md has the limits and the statuses).
#pragma once
#include <memory>

#include "serve/http/message.h"

namespace tokamak::serve {

class RequestReader {
 public:
  struct Limits {
    size_t line_bytes = size_t{8} << 10;     // of the request line
    size_t header_bytes = size_t{32} << 10;  // of all fields together
    size_t fields = 100;
    uint64_t body_bytes = uint64_t{32} << 20;
  };

  enum class Stage : uint8_t {
    kNothing,  // no byte has come
    kHeader,
    kBody,   // head() is there
    kWhole,  // take_body() too
    kRefused,
  };

  struct Refusal {
    int status = 400;
    std::string message;
  };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;

  /// Takes from the front of `bytes` what belongs to the request, and leaves what comes after it.
  /// Nothing is taken once the request is whole or refused.
  void read(std::string& bytes);

  Stage stage() const { return stage_; }
  /// The known part of it; the whole of it from kBody on.
  const RequestHead& head() const { return head_; }
  uint64_t body_bytes() const;
  /// REQUIRES: kWhole.
  std::string take_body();
  /// REQUIRES: kRefused. The connection is of no more use.
  const Refusal& refusal() const { return refusal_; }

 private:
  struct Parser;

  void refuse(int status, std::string message);
  /// The number of bytes at the front that belong to the request.
  size_t take(std::string_view bytes);
  /// Refuses for the parser's reason; `rest` begins where it stands.
  void refuse_parsed(std::string_view rest);
  bool line_fits(std::string_view bytes);
  void take_head();
  /// Whether the fields can be read in one way only; refuses otherwise.
  bool fields_are_plain();
  /// Reads the absolute form of a target: its host counts in place of Host (RFC 9112, 3.2.2).
  void take_absolute_target();

  Limits limits_;
  Stage stage_ = Stage::kNothing;
  bool has_line_ = false;
  bool has_folded_line_ = false;  // in the header
  RequestHead head_;
  Refusal refusal_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tokamak::serve
