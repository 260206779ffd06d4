#include "generate/steps/image_rows.h"

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {

ImageRows::ImageRows(const Plan& plan, uint32_t vocab, WriteAngles angles, bool needs_whole)
    : vocab_(vocab), angles_(std::move(angles)), needs_whole_(needs_whole), next_id_(vocab) {
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].use != BufferUse::kRows) continue;
    buffers_.push_back(BufferId(i));
    capacity_ = uint32_t(plan.buffers[i].tensor.shape[0]);
    width_ = uint32_t(plan.buffers[i].tensor.shape[1]);
  }
  TOK_CHECK(capacity_ > 0);
  std::ranges::sort(buffers_, {}, [&](BufferId id) {
    const std::string& name = plan.at(id).tensor.name;
    return std::pair(name.size(), name);
  });
}

std::vector<uint32_t> PromptImage::ids() const {
  std::vector<uint32_t> out;
  uint32_t next = first_id;
  const auto add_rows = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) out.push_back(next++);
  };
  for (const ImagePart& part : parts) {
    out.insert(out.end(), part.before.begin(), part.before.end());
    add_rows(part.rows);
  }
  if (parts.empty()) add_rows(tokens());
  return out;
}

ImageRef ImageRows::add(uint32_t rows, uint32_t columns, PromptImage::Encode encode,
                        std::vector<ImagePart> parts) {
  const uint32_t tokens = rows * columns;
  TOK_CHECK(tokens > 0 && tokens <= capacity_);
  // Its rows are neighbours on the device, too.
  const uint32_t place = first_row(next_id_);
  if (place + tokens > capacity_) next_id_ += capacity_ - place;
  if (next_id_ > UINT32_MAX - 2 * capacity_) {  // also where the gap would not fit next time
    images_.clear();
    on_device_.clear();
    next_id_ = vocab_;
    ++epoch_;
  }
  images_.push_back(std::make_shared<const PromptImage>(PromptImage{.number = ++images_added_,
                                                                    .epoch = epoch_,
                                                                    .first_id = next_id_,
                                                                    .rows = rows,
                                                                    .columns = columns,
                                                                    .parts = std::move(parts),
                                                                    .encode = std::move(encode),
                                                                    .values = {}}));
  next_id_ += tokens;
  // Who asks for older ones makes them again.
  constexpr size_t kMaxKept = 64;
  if (images_.size() > kMaxKept / std::min(buffers_.size(), kMaxKept)) {
    const auto is_free = [](const ImageRef& image) { return image.use_count() == 1; };
    const auto oldest = std::find_if(images_.begin(), std::prev(images_.end()), is_free);
    if (oldest != std::prev(images_.end())) images_.erase(oldest);
  }
  return images_.back();
}

ImageRef ImageRows::find(uint32_t id) const {
  // The first that begins after it follows the one that may have it.
  const auto after = std::ranges::upper_bound(
      images_, id, {}, [](const ImageRef& image) { return image->first_id; });
  if (after == images_.begin()) return nullptr;
  const ImageRef& found = *std::prev(after);
  return found->has(id) ? found : nullptr;
}

Result<void> ImageRows::encode(const PromptImage& image) const {
  if (!image.encode) return {};
  TOK_TRY(image.values, image.encode());
  TOK_CHECK(image.values.size() == size_t{image.tokens()} * width_ * buffers_.size());
  image.encode = nullptr;  // with the pixels that it holds
  return {};
}

Result<void> ImageRows::upload(Program& program, const PromptImage& image) {
  TOK_TRY(encode(image));
  const auto is_it = [&](const OnDevice& one) { return one.number == image.number; };
  if (std::ranges::any_of(on_device_, is_it)) return {};
  const uint32_t first = first_row(image.first_id), count = image.tokens();
  std::erase_if(on_device_, [&](const OnDevice& other) {
    return other.first < first + count && first < other.first + other.count;
  });
  const std::span<const float> values = image.values;
  const size_t each = size_t{count} * width_;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    TOK_TRY(program.write_table(buffers_[i], words_of(values.subspan(i * each, each)),
                                uint64_t{first} * width_));
  }
  on_device_.push_back({image.number, first, count});
  return {};
}

TokenPlaces::TokenPlaces(std::span<const uint32_t> ids, const ImageRows* rows) {
  if (rows != nullptr) find_spans(ids, *rows, [&](uint32_t id) { return rows->find(id); });
}

TokenPlaces::TokenPlaces(std::span<const uint32_t> ids, const ImageRows& rows,
                         std::span<const ImageRef> images) {
  find_spans(ids, rows, [&](uint32_t id) {
    const auto has_it = [id](const ImageRef& image) { return image->has(id); };
    const auto found = std::ranges::find_if(images, has_it);
    return found == images.end() ? ImageRef() : *found;
  });
}

namespace {

/// How many ids from `first` on are rows of the image that follow each other.
uint32_t run_length(const PromptImage& image, std::span<const uint32_t> ids, uint32_t first) {
  uint32_t count = 1;
  while (first + count < ids.size() && ids[first + count] == ids[first] + count &&
         image.has(ids[first + count])) {
    ++count;
  }
  return count;
}

}  // namespace

void TokenPlaces::find_spans(std::span<const uint32_t> ids, const ImageRows& rows,
                             const std::function<ImageRef(uint32_t id)>& find) {
  needs_whole_ = rows.needs_whole();
  uint32_t shift = 0;
  for (uint32_t i = 0; i < ids.size();) {
    ImageRef image = find(ids[i]);
    if (image == nullptr) {
      ++i;
      continue;
    }
    const uint32_t start = i + shift;
    const uint32_t count = image->parts.empty() ? image->tokens() : run_length(*image, ids, i);
    if (rows.has_places()) shift += std::max(image->rows, image->columns) - count;
    spans_.push_back({std::move(image), i, count, start, shift});
    i += count;
  }
}

const TokenPlaces::Span* TokenPlaces::before(uint32_t index) const {
  const auto after = std::ranges::upper_bound(spans_, index, {}, &Span::first);
  return after == spans_.begin() ? nullptr : &*std::prev(after);
}

const PromptImage* TokenPlaces::image(uint32_t first, uint32_t count) const {
  for (const Span& span : spans_) {
    if (span.end() > first) return span.first < first + count ? span.image.get() : nullptr;
  }
  return nullptr;
}

uint32_t TokenPlaces::step_tokens(uint32_t first, uint32_t count, uint32_t most,
                                  bool has_image) const {
  const PromptImage* own = nullptr;
  for (const Span& span : spans_) {
    if (span.end() <= first) continue;
    if (span.first >= first + count) break;
    if (has_image && span.image.get() != own) return std::max(span.first, first) - first;
    has_image = true;
    own = span.image.get();
    if (!needs_whole_ || span.end() <= first + count) continue;
    if (span.first > first) return span.first - first;
    return span.end() - first <= most ? span.end() - first : 0;
  }
  return count;
}

bool TokenPlaces::can_part(uint32_t index) const {
  const Span* last = before(index);
  return !needs_whole_ || last == nullptr || index == last->first || index >= last->end();
}

uint32_t TokenPlaces::end(uint32_t index) const {
  const Span* last = before(index);
  return last != nullptr && index < last->end() ? last->end() : 0;
}

uint32_t TokenPlaces::shift(uint32_t index) const {
  const Span* last = before(index);
  return last == nullptr ? 0 : last->shift;
}

TokenPlace TokenPlaces::place(uint32_t index) const {
  const Span* last = before(index);
  if (last == nullptr || index >= last->end()) {
    const uint32_t at = index + shift(index);
    return {at, at, at};
  }
  const uint32_t inside = index - last->first, columns = last->image->columns;
  return {last->start, last->start + inside / columns, last->start + inside % columns};
}

}  // namespace tokamak
