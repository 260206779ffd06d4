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
  announce();
}

Stream::Stream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  if (state_ != nullptr) state_->drop();
  state_ = std::move(other.state_);
  return *this;
}

Stream::~Stream() {
  if (state_ != nullptr) state_->drop();
}

std::optional<TextPiece> Stream::take(std::optional<std::chrono::nanoseconds> timeout) {
  if (state_ == nullptr) return std::nullopt;
  state_->wait(timeout, [&] { return state_->piece || state_->end; });
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->piece, std::nullopt);
}

std::optional<TextPiece> Stream::next() {
  return take(std::nullopt);
}

std::optional<TextPiece> Stream::next(std::chrono::nanoseconds timeout) {
  return take(timeout);
}

void Stream::on_ready(std::function<void()> ready) {
  if (state_ == nullptr) return;
  state_->on_ready(std::move(ready), [&] { return state_->piece || state_->end; });
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
  state_->wait(std::nullopt, [&] { return state_->end.has_value(); });
  const std::scoped_lock lock(state_->mutex);
  return *state_->end;
}

}  // namespace tokamak
