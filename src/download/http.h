// HTTP GET over libcurl: many requests at once on one thread, no redirects, no retries, no state.
// The only unit that knows the library. What a status means is for the caller (fetch.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace tokamak::download {

/// Bytes [first, end) of a file; end > first.
struct Range {
  uint64_t first = 0, end = 0;
  uint64_t size() const { return end - first; }
};

struct Request {
  std::string url, token;      // no token: ""
  std::optional<Range> range;  // none: the whole
  bool is_direct = false;      // past any proxy: of a server that is this user's
};

/// The reply. The head is complete before the first byte of a body is handed over.
struct Reply {
  int status = 0;             // 0: no answer
  std::string location;       // of a redirect, absolute; "" for none
  std::string error_code;     // X-Error-Code: GatedRepo, RepoNotFound, RevisionNotFound, ...
  std::string content_range;  // "bytes 0-99/1000"
  int64_t retry_after = 0;    // seconds; 0: not said
  std::string problem;        // why the transfer failed; "" when it did not
  bool unreachable = false;   // no connection was made at all
};

class Http {
 public:
  using Id = uint64_t;
  /// False ends the transfer, whose reply then has the problem "stopped".
  using Body = std::function<bool(const Reply& head, std::span<const std::byte> bytes)>;
  struct Finished {
    Id id = 0;
    Reply reply;
  };

  Http();
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  Id start(const Request& request, Body body);
  /// Moves data for at most `seconds`; a transfer that came to its end, if one did.
  std::optional<Finished> wait(double seconds);
  /// Ends everything that is in flight.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "scheme://host:port" in lower case with the port always named; "" when `url` is not http(s).
std::string origin_of(const std::string& url);

/// `text` as one part of a path: everything but letters, digits and "-._~" becomes %XX.
std::string escaped(std::string_view text);

/// "example.org" of an address, for messages.
std::string host_of(const std::string& url);

}  // namespace tokamak::download
