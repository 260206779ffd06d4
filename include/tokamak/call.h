// A call of a protocol that `tokamak serve` answers, without a server.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tokamak {

/// A part of an answer: of a stream one event, without what frames it; else the whole body.
struct AnswerPart {
  int status = 0;                 // of HTTP: 200, or that of an error, whose JSON is the body
  std::string content_type = {};  // as the server names it
  std::string bytes = {};
};

struct CallState;  // what a call has in common with its model

/// A call that was begun, for one thread at a time; cancel() may come from any. Dropping it cancels
/// it.
class Call {
 public:
  Call(Call&&) noexcept;
  Call& operator=(Call&&) noexcept;
  ~Call();

  /// Blocks until there is more; nothing when the answer has ended.
  std::optional<AnswerPart> next();
  /// The same, but nothing as well when the time is over; ended() tells the two apart.
  std::optional<AnswerPart> next(std::chrono::nanoseconds timeout);
  /// Called as that of Stream::on_ready().
  void on_ready(std::function<void()> ready);
  /// Whether the answer has ended and every part of it was taken.
  bool ended() const;
  /// Cancels the call: what has come stays, then the answer ends, with an error where it is no
  /// stream.
  void cancel();

 private:
  friend class Model;
  explicit Call(std::shared_ptr<CallState> state);
  std::optional<AnswerPart> take(std::optional<std::chrono::nanoseconds> timeout);
  std::shared_ptr<CallState> state_;
};

}  // namespace tokamak
