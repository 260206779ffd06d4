#include "audio/ogg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "audio/sound_bytes.h"

namespace tokamak {
namespace {

constexpr std::string_view kMark = "OggS";
constexpr size_t kFlagsAt = 5, kPositionAt = 6, kChecksumAt = 22, kSegmentsAt = 26;
constexpr std::byte kBegins{2}, kEnds{4};

size_t byte_at(std::span<const std::byte> file, size_t at) {
  return std::to_integer<size_t>(file[at]);
}

/// The bytes of a page, or of as much of it as is known from its header so far.
size_t page_bytes(std::span<const std::byte> page) {
  size_t size = kSegmentsAt + 1;
  if (page.size() < size) return size;
  const size_t segments = byte_at(page, kSegmentsAt);
  size += segments;
  for (size_t i = 0; i < segments && size <= page.size(); ++i) {
    size += byte_at(page, kSegmentsAt + 1 + i);
  }
  return size;
}

/// The CRC of a page whose own field is 0.
uint32_t checksum(std::span<const std::byte> page) {
  constexpr uint32_t kPolynomial = 0x04c1'1db7;
  uint32_t sum = 0;
  for (const std::byte one : page) {
    sum ^= std::to_integer<uint32_t>(one) << 24;
    for (int bit = 0; bit < 8; ++bit) sum = sum << 1 ^ ((sum >> 31) * kPolynomial);
  }
  return sum;
}

std::vector<std::byte> with_end_mark(std::span<const std::byte> page) {
  std::vector<std::byte> copy(page.begin(), page.end());
  copy[kFlagsAt] |= kEnds;
  for (size_t i = 0; i < 4; ++i) copy[kChecksumAt + i] = std::byte{0};
  const uint32_t sum = checksum(copy);
  for (size_t i = 0; i < 4; ++i) copy[kChecksumAt + i] = std::byte(sum >> 8 * i);
  return copy;
}

class Walker {
 public:
  explicit Walker(std::span<const std::byte> file)
      : file_(file), text_(reinterpret_cast<const char*>(file.data()), file.size()) {}

  OggFile run() {
    // Bytes between two pages are damage, which the decoder passes over.
    for (size_t at = 0; at != text_.npos;) {
      const size_t size = page_bytes(file_.subspan(at)), rest = file_.size() - at;
      const size_t next = text_.find(kMark, at + kMark.size());
      const bool is_cut = next != text_.npos && next < at + size && !begins_page(at + size);
      if (is_cut || size > rest) {
        note(fmt::format("The file is cut off: a page has at least {} bytes, but {} follow.", size,
                         (is_cut ? next : file_.size()) - at));
        at = next;
        continue;
      }
      take(at, size);
      at = text_.find(kMark, at + size);
    }
    end_link();
    return std::move(found_);
  }

 private:
  bool begins_page(size_t at) const {
    return at < text_.size() && text_.substr(at).starts_with(kMark);
  }

  void note(std::string text) {
    if (found_.missing.empty()) found_.missing = std::move(text);
  }

  void take(size_t at, size_t size) {
    const auto page = file_.subspan(at, size);
    const bool begins = (page[kFlagsAt] & kBegins) != std::byte{0};
    if (begins && has_begun_) {
      end_link();
      link_ = at;
    }
    has_begun_ = !begins;
    const auto position = int64_t(number_at(page, kPositionAt, 8));
    if (position < 0) return;  // no packet ends in it
    last_ = at;
    end_ = at + size;
    int64_t& own = positions_[number_at(page, kPositionAt + 8, 4)];
    if (position < own) note("The file is damaged: the positions of its pages go back.");
    own = std::max(own, position);
  }

  void end_link() {
    positions_.clear();
    if (end_ <= link_) return;
    found_.links.push_back(
        {file_.subspan(link_, last_ - link_), with_end_mark(file_.subspan(last_, end_ - last_))});
  }

  std::span<const std::byte> file_;
  std::string_view text_;
  size_t link_ = 0;                        // the first byte of the link
  size_t last_ = 0, end_ = 0;              // its last page in which a packet ends
  bool has_begun_ = false;                 // the link has more than its first pages
  std::map<uint64_t, int64_t> positions_;  // of its streams, by number
  OggFile found_;
};

}  // namespace

OggFile read_ogg(std::span<const std::byte> file) {
  return Walker(file).run();
}

}  // namespace tokamak
