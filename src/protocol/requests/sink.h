// The requests that come in and the answers that go out: HTTP without sockets.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

struct HttpRequest {
  std::string method, path, body;  // what stands after '?' in the path is not read
  /// Whose request it is: beginnings of prompts are shared among those of the same tenant only.
  std::string tenant = {};
  std::string content_type = {};  // of the body, where it matters: forms
  /// Keeps account of the body's bytes for as long as it is there; copies share it.
  std::shared_ptr<const void> body_lease = {};
  /// May be unset. Called once, by Service::prepare(), with how many sequences the request is: an
  /// error refuses them.
  using Admit = std::function<Answer<void>(uint32_t sequences)>;
  Admit admit = {};

  /// Frees the body once it has been read.
  void drop_body() {
    body = {};
    body_lease.reset();
  }
};

/// 503: the server ends what runs.
inline ApiError cancelled_by_server() {
  return {.status = 503, .message = "The request was cancelled by the server."};
}

/// Receives one answer: begin() once, write() any number of times, end() once. They are called by
/// Service::begin(), Service::run_job() and the scheduler's step(), and must call none of them.
struct Sink {
  std::function<void(int status, std::string_view content_type)> begin;
  std::function<void(std::string_view)> write;
  std::function<void()> end;
  /// May be unset. Before begin(): a header that the answer should have, such as Allow with 405.
  std::function<void(std::string_view name, std::string_view value)> header = {};
  /// May be unset. Whether the answer is of no use any more: looked at between the device's steps,
  /// before Service::cancel() can be called.
  std::function<bool()> is_cancelled = {};

  void whole(int status, std::string_view text,
             std::string_view content_type = "application/json") const {
    begin(status, content_type);
    write(text);
    end();
  }
};

}  // namespace tokamak::protocol
