// The part of Session that goes back to what a new prompt shares with the sequence.
#include <algorithm>

#include "base/check.h"
#include "generate/session.h"

namespace tokamak {

uint32_t Session::keep_prefix(std::span<const uint32_t> ids) {
  TOK_CHECK(!ids.empty());
  // The last token runs in any case: somebody wants its logits.
  const std::span<const uint32_t> held = std::span(ids_).first(position_);
  const auto shared = std::ranges::mismatch(held, ids.first(ids.size() - 1));
  const auto kept = uint32_t(shared.in1 - held.begin());
  if (kept < position_) cut_back(kept);
  return position_;
}

void Session::use_adapter(uint32_t adapter) {
  if (adapter != adapter_) cut_back(0);
  adapter_ = adapter;
}

void Session::cut_back(uint32_t position) {
  if (is_recurrent_) {
    const std::optional<size_t> newest = newest_copy(position);
    position = newest ? *copied_[*newest] : 0;
  }
  if (!windows_reach(position)) position = 0;
  is_corrupted_ = is_recurrent_ && position > 0;
  position_ = position;
  uint32_t left = position;
  const auto is_left = [&](uint32_t count) {
    if (count > left) return false;
    left -= count;
    return true;
  };
  steps_.erase(std::ranges::find_if_not(steps_, is_left), steps_.end());
  if (left > 0) steps_.push_back(left);  // a shorter step than the one that was cut
  ids_.resize(position);
  forget_copies_after(position);
  holds_logits_ = false;
}

bool Session::windows_reach(uint32_t position) const {
  return std::ranges::all_of(program_->plan().buffers, [&](const Buffer& buffer) {
    if (buffer.use != BufferUse::kState || buffer.tensor.window == 0) return true;
    const auto rows = uint32_t(buffer.tensor.shape[0]);
    const uint32_t first_held = written_ - std::min(written_, rows);
    return first_held == 0 || position >= first_held + buffer.tensor.window;
  });
}

}  // namespace tokamak
