#include <algorithm>
#include <utility>

#include "api/stream_loop.h"
#include "base/result.h"

namespace tokamak {

void StreamState::publish() {
  const bool has_more = !staged.text.empty() || !staged.reasoning.empty() || !staged.tokens.empty();
  if (!has_more && !staged_end) return;
  {
    const std::scoped_lock lock(mutex);
    if (has_more) {
      if (!piece) piece.emplace();
      piece->text += staged.text;
      piece->reasoning += staged.reasoning;
      std::ranges::move(staged.tokens, std::back_inserter(piece->tokens));
      staged = {};
    }
    if (staged_end) end = *staged_end;
  }
  arrived.notify_all();
  const std::scoped_lock lock(notifying);
  if (notify && !is_dropped) notify();
}

namespace {

/// Waits, or runs the model where nobody else does, until `state` has something to take.
/// False when the time is over. `deadline` unset: without end.
template <typename Test>
bool wait_until(StreamState& state, std::optional<std::chrono::steady_clock::time_point> deadline,
                const Test& has_come) {
  const auto is_over = [&] { return deadline && std::chrono::steady_clock::now() >= *deadline; };
  std::unique_lock lock(state.mutex);
  if (const auto pump = state.pump.lock()) {
    while (!has_come() && !is_over()) {
      lock.unlock();
      pump->loop().turn(true);
      lock.lock();
    }
    return has_come();
  }
  if (!deadline) {
    state.arrived.wait(lock, has_come);
    return true;
  }
  return state.arrived.wait_until(lock, *deadline, has_come);
}

/// Ends the notifications: afterwards their receiver may be gone.
void drop(StreamState& state) {
  state.is_cancelled = true;
  const std::scoped_lock lock(state.notifying);
  state.is_dropped = true;
}

}  // namespace

Stream::Stream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  if (state_ != nullptr) drop(*state_);
  state_ = std::move(other.state_);
  return *this;
}

Stream::~Stream() {
  if (state_ != nullptr) drop(*state_);
}

std::optional<TextPiece> Stream::take(std::optional<std::chrono::nanoseconds> timeout) {
  if (state_ == nullptr) return std::nullopt;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // A time beyond a year counts as for ever: no sum of clock and duration may overflow.
  if (timeout && *timeout < std::chrono::years(1)) {
    deadline = std::chrono::steady_clock::now() + *timeout;
  }
  wait_until(*state_, deadline, [&] { return state_->piece || state_->end; });
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->piece, std::nullopt);
}

std::optional<TextPiece> Stream::next() {
  return take(std::nullopt);
}

std::optional<TextPiece> Stream::next(std::chrono::nanoseconds timeout) {
  return take(timeout);
}

bool Stream::ended() const {
  if (state_ == nullptr) return true;
  const std::scoped_lock lock(state_->mutex);
  return state_->end && !state_->piece;
}

void Stream::cancel() {
  if (state_ != nullptr) state_->is_cancelled = true;
}

Result<Generation> Stream::result() {
  if (state_ == nullptr) return fail(ErrorCode::kUsage, "The stream was moved to another one.");
  wait_until(*state_, std::nullopt, [&] { return state_->end.has_value(); });
  const std::scoped_lock lock(state_->mutex);
  return *state_->end;
}

}  // namespace tokamak
