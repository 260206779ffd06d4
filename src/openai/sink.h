// What goes in and comes out: HTTP without sockets.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tokamak::openai {

struct HttpRequest {
  std::string method, path, body;  // what stands after '?' in the path is not read
  /// Whose request it is: beginnings of prompts are shared among those of the same tenant only.
  std::string tenant = {};
  std::string content_type = {};  // of the body, where it matters: forms
  /// Keeps account of the body's bytes for as long as it is there; copies share it.
  std::shared_ptr<const void> body_lease = {};

  /// Frees the body once it has been read.
  void drop_body() {
    body = {};
    body_lease.reset();
  }
};

/// Receives one answer: begin() once, write() any number of times, end() once. They are called by
/// Service::begin(), Service::speak() and the scheduler's step(), and must call none of them.
struct Sink {
  std::function<void(int status, std::string_view content_type)> begin;
  std::function<void(std::string_view)> write;
  std::function<void()> end;
  /// May be unset. Before begin(): a header that the answer should have, such as Allow with 405.
  std::function<void(std::string_view name, std::string_view value)> header = {};

  void whole(int status, std::string_view text,
             std::string_view content_type = "application/json") const {
    begin(status, content_type);
    write(text);
    end();
  }
};

}  // namespace tokamak::openai
