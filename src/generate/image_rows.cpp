#include "generate/image_rows.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tokamak {

ImageRows::ImageRows(const Plan& plan, uint32_t vocab, WriteAngles angles, bool needs_whole)
    : vocab_(vocab), angles_(std::move(angles)), needs_whole_(needs_whole), next_id_(vocab) {
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].use != BufferUse::kRows) continue;
    buffer_ = BufferId(i);
    capacity_ = uint32_t(plan.buffers[i].tensor.shape[0]);
    width_ = uint32_t(plan.buffers[i].tensor.shape[1]);
  }
  TOK_CHECK(capacity_ > 0);
}

ImageRows::Named ImageRows::add(uint32_t rows, uint32_t columns, std::vector<float> values) {
  const uint32_t tokens = rows * columns;
  TOK_CHECK(tokens > 0 && tokens <= capacity_ && values.size() == size_t{tokens} * width_);
  // Its rows are neighbours on the device, too.
  const uint32_t place = (next_id_ - vocab_) % capacity_;
  if (place + tokens > capacity_) next_id_ += capacity_ - place;
  images_.push_back({.named = {next_id_, rows, columns}, .values = std::move(values)});
  next_id_ += tokens;
  // Who asks for older ones makes them again.
  constexpr size_t kMaxKept = 64;
  if (images_.size() > kMaxKept) images_.pop_front();
  return images_.back().named;
}

const ImageRows::Kept* ImageRows::kept(uint32_t id) const {
  // The first that begins after it follows the one that may have it.
  const auto after = std::ranges::upper_bound(
      images_, id, {}, [](const Kept& image) { return image.named.first_id; });
  if (after == images_.begin()) return nullptr;
  const Kept& found = *std::prev(after);
  return id - found.named.first_id < found.named.tokens() ? &found : nullptr;
}

const ImageRows::Named* ImageRows::find(uint32_t id) const {
  const Kept* image = kept(id);
  return image == nullptr ? nullptr : &image->named;
}

std::span<const float> ImageRows::values(uint32_t first_id) const {
  const Kept* image = kept(first_id);
  TOK_CHECK(image != nullptr);
  return image->values;
}

Result<void> ImageRows::bring(Program& program, std::span<const uint32_t> ids) {
  for (const uint32_t id : ids) {
    if (id < vocab_) continue;
    const Kept* const image = kept(id);
    if (image == nullptr) {
      return invalid_input("An earlier image of the text is not kept any more; add it again.");
    }
    if (image->is_on_device) continue;
    std::vector<uint32_t> words(image->values.size());
    std::memcpy(words.data(), image->values.data(), words.size() * sizeof(uint32_t));
    const uint32_t first = first_row(*image), count = image->named.tokens();
    TOK_TRY(program.write_table(buffer_, words, uint64_t{first} * width_));
    for (Kept& other : images_) {
      const uint32_t begin = first_row(other), end = begin + other.named.tokens();
      if (begin < first + count && first < end) other.is_on_device = &other == image;
    }
  }
  return {};
}

void ImageRows::forget_device() {
  for (Kept& image : images_) image.is_on_device = false;
}

TokenPlaces::TokenPlaces(std::span<const uint32_t> ids, const ImageRows* images) {
  if (images == nullptr) return;
  needs_whole_ = images->needs_whole();
  uint32_t shift = 0;
  for (uint32_t i = 0; i < ids.size();) {
    const ImageRows::Named* image = images->find(ids[i]);
    if (image == nullptr) {
      ++i;
      continue;
    }
    const uint32_t start = i + shift, count = image->tokens();
    if (images->has_places()) shift += std::max(image->rows, image->columns) - count;
    spans_.push_back({i, count, image->columns, start, shift});
    i += count;
  }
}

const TokenPlaces::Span* TokenPlaces::before(uint32_t index) const {
  const auto after = std::ranges::upper_bound(spans_, index, {}, &Span::first);
  return after == spans_.begin() ? nullptr : &*std::prev(after);
}

bool TokenPlaces::has_image(uint32_t first, uint32_t count) const {
  const Span* last = before(first + count - 1);
  return last != nullptr && last->first + last->count > first;
}

uint32_t TokenPlaces::step_tokens(uint32_t first, uint32_t count) const {
  bool has_one = false;
  for (const Span& span : spans_) {
    if (span.first + span.count <= first) continue;
    if (span.first >= first + count) break;
    const bool is_cut = needs_whole_ && span.first + span.count > first + count;
    if (has_one || (is_cut && span.first > first)) return span.first - first;
    has_one = true;
  }
  return count;
}

uint32_t TokenPlaces::end(uint32_t index) const {
  const Span* last = before(index);
  return last != nullptr && index < last->first + last->count ? last->first + last->count : 0;
}

uint32_t TokenPlaces::shift(uint32_t index) const {
  const Span* last = before(index);
  return last == nullptr ? 0 : last->shift;
}

TokenPlace TokenPlaces::place(uint32_t index) const {
  const Span* last = before(index);
  if (last == nullptr || index >= last->first + last->count) {
    const uint32_t at = index + shift(index);
    return {at, at, at};
  }
  const uint32_t inside = index - last->first;
  return {last->start, last->start + inside / last->columns, last->start + inside % last->columns};
}

}  // namespace tokamak
