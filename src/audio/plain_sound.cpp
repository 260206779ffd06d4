#include "audio/plain_sound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "audio/sound_bytes.h"

namespace tokamak {
namespace {

using Bytes = std::span<const std::byte>;

struct Encoded {
  PlainEncoding encoding;
  bool is_little = false;
};

std::string_view text_at(Bytes file, size_t at) {
  if (at > file.size() || file.size() - at < 4) return {};
  return {reinterpret_cast<const char*>(file.data() + at), 4};
}

/// Returns the number in some bytes, big end first. REQUIRES: they are in it.
uint64_t big_number_at(Bytes file, size_t at, size_t bytes) {
  return big_number(file.subspan(at, bytes));
}

/// A rate as a whole number; 0 for what is none, which nobody reads.
uint32_t rate_of(double rate) {
  return rate >= 1 && rate < 0x1p31 ? uint32_t(std::lround(rate)) : 0;
}

uint32_t sample_bytes(PlainEncoding encoding) {
  switch (encoding) {
    case PlainEncoding::kS16:
      return 2;
    case PlainEncoding::kS24:
      return 3;
    case PlainEncoding::kS32:
    case PlainEncoding::kF32:
      return 4;
    case PlainEncoding::kF64:
      return 8;
    default:
      return 1;
  }
}

std::optional<PlainEncoding> whole_numbers(uint64_t bits) {
  constexpr PlainEncoding kByBytes[] = {PlainEncoding::kS8, PlainEncoding::kS16,
                                        PlainEncoding::kS24, PlainEncoding::kS32};
  if (bits == 0 || bits > 32) return std::nullopt;
  return kByBytes[(bits - 1) / 8];
}

Failure not_read(std::string_view name) {
  return unsupported(
      "The sound is encoded as \"{}\", which is not read here; convert it first: ffmpeg -i FILE "
      "sound.wav",
      name);
}

Failure without_format() {
  return invalid_input("The file is damaged: it has samples, but no format before them.");
}

Failure without_samples() {
  return invalid_input("The file is damaged or cut off: it has no chunk of samples.");
}

/// Adds the samples at a place, `size` bytes by the header, to a sound with its format.
/// Returns the place after them.
size_t take_samples(Bytes file, size_t at, uint64_t size, PlainSound sound,
                    std::vector<PlainSound>& out) {
  constexpr uint64_t kUnknown = 0x7fff'0000;  // and above, where nothing of that size follows
  const size_t rest = file.size() - std::min(at, file.size());
  if (size == 0 || (size > rest && size >= kUnknown)) size = rest;
  sound.samples = file.subspan(file.size() - rest, size_t(std::min<uint64_t>(size, rest)));
  const uint64_t block = uint64_t(sample_bytes(sound.encoding)) * sound.channels;
  if (block > 0) sound.frames = std::max(sound.frames, size / block);
  out.push_back(sound);
  return file.size() - rest + sound.samples.size();
}

std::optional<Encoded> aiff_encoding(std::string_view type, uint64_t bits) {
  using enum PlainEncoding;
  constexpr std::pair<std::string_view, Encoded> kOthers[] = {
      {"fl32", {kF32}},  {"FL32", {kF32}},  {"fl64", {kF64}},  {"FL64", {kF64}},
      {"ulaw", {kULaw}}, {"ULAW", {kULaw}}, {"alaw", {kALaw}}, {"ALAW", {kALaw}},
      {"in24", {kS24}},  {"in32", {kS32}},  {"raw ", {kU8}}};
  if (type == "NONE" || type == "twos" || type == "sowt") {
    const auto whole = whole_numbers(bits);
    return whole ? std::optional(Encoded{*whole, type == "sowt"}) : std::nullopt;
  }
  const auto* const found =
      std::ranges::find(kOthers, type, &std::pair<std::string_view, Encoded>::first);
  return found == std::end(kOthers) ? std::nullopt : std::optional(found->second);
}

/// The chunk COMM.
Result<PlainSound> aiff_format(Bytes chunk) {
  constexpr size_t kBasic = 18;  // bytes of it; AIFF-C has the name of an encoding after them
  if (chunk.size() < kBasic) return invalid_input("The file is damaged: its format is cut off.");
  PlainSound sound;
  sound.channels = uint32_t(big_number_at(chunk, 0, 2));
  sound.frames = big_number_at(chunk, 2, 4);
  const uint64_t bits = big_number_at(chunk, 6, 2);
  // The rate has a sign and 15 bits of exponent, then 64 bits of which the first is the whole part.
  const int exponent = int(big_number_at(chunk, 8, 2)) - 16383 - 63;
  sound.rate = rate_of(std::ldexp(double(big_number_at(chunk, 10, 8)), exponent));
  const std::string_view type = chunk.size() < kBasic + 4 ? "NONE" : text_at(chunk, kBasic);
  const auto encoded = aiff_encoding(type, bits);
  if (!encoded) return not_read(type);
  sound.encoding = encoded->encoding;
  sound.is_little = encoded->is_little;
  return sound;
}

/// The chunk `desc`.
Result<PlainSound> caf_format(Bytes chunk) {
  constexpr size_t kSize = 32;
  constexpr uint64_t kIsFloat = 1, kIsLittle = 2;
  if (chunk.size() < kSize) return invalid_input("The file is damaged: its format is cut off.");
  PlainSound sound;
  sound.rate = rate_of(std::bit_cast<double>(big_number_at(chunk, 0, 8)));
  const std::string_view type = text_at(chunk, 8);
  const uint64_t flags = big_number_at(chunk, 12, 4), bits = big_number_at(chunk, 28, 4);
  sound.channels = uint32_t(big_number_at(chunk, 24, 4));
  std::optional<PlainEncoding> encoding;
  if (type == "ulaw") encoding = PlainEncoding::kULaw;
  if (type == "alaw") encoding = PlainEncoding::kALaw;
  if (type == "lpcm" && (flags & kIsFloat) == 0) encoding = whole_numbers(bits);
  if (type == "lpcm" && (flags & kIsFloat) != 0) {
    if (bits == 32) encoding = PlainEncoding::kF32;
    if (bits == 64) encoding = PlainEncoding::kF64;
  }
  if (!encoding) return not_read(type);
  sound.encoding = *encoding;
  sound.is_little = type == "lpcm" && (flags & kIsLittle) != 0;
  return sound;
}

std::optional<PlainEncoding> au_encoding(uint64_t number) {
  using enum PlainEncoding;
  constexpr PlainEncoding kFromOne[] = {kULaw, kS8, kS16, kS24, kS32, kF32, kF64};
  if (number >= 1 && number <= std::size(kFromOne)) return kFromOne[number - 1];
  constexpr uint64_t kNumberOfALaw = 27;
  return number == kNumberOfALaw ? std::optional(kALaw) : std::nullopt;
}

}  // namespace

bool is_aiff(Bytes file) {
  const std::string_view kind = text_at(file, 8);
  return text_at(file, 0) == "FORM" && (kind == "AIFF" || kind == "AIFC");
}

bool is_au(Bytes file) {
  return text_at(file, 0) == ".snd";
}

bool is_caf(Bytes file) {
  return text_at(file, 0) == "caff";
}

Result<std::vector<PlainSound>> read_aiff(Bytes file) {
  constexpr size_t kFileHeader = 12, kChunkHeader = 8, kBeforeSamples = 8;
  std::vector<PlainSound> out;
  std::optional<PlainSound> format;
  for (size_t at = 0; at + kChunkHeader <= file.size();) {
    if (is_aiff(file.subspan(at))) {
      format.reset();
      at += kFileHeader;
      continue;
    }
    const std::string_view id = text_at(file, at);
    const uint64_t size = big_number_at(file, at + 4, 4);
    const size_t begin = at + kChunkHeader;
    if (id == "SSND") {
      if (!format) return without_format();
      const uint64_t offset = begin + 4 <= file.size() ? big_number_at(file, begin, 4) : 0;
      const uint64_t skipped = kBeforeSamples + offset;
      at = take_samples(file, size_t(std::min<uint64_t>(begin + skipped, file.size())),
                        size > skipped ? size - skipped : 0, *format, out);
    } else {
      if (size > file.size() - begin) break;
      if (id == "COMM") {
        TOK_TRY(format, aiff_format(file.subspan(begin, size_t(size))));
      }
      at = begin + size_t(size);
    }
    at += at % 2;
  }
  if (out.empty()) return without_samples();
  return out;
}

Result<std::vector<PlainSound>> read_au(Bytes file) {
  constexpr size_t kHeader = 24;
  std::vector<PlainSound> out;
  for (size_t at = 0; is_au(file.subspan(at)) && file.size() - at >= kHeader;) {
    const auto field = [&](size_t index) { return big_number_at(file, at + 4 * index, 4); };
    PlainSound sound{.rate = uint32_t(field(4)), .channels = uint32_t(field(5))};
    const auto encoding = au_encoding(field(3));
    if (!encoding) return not_read(fmt::format("number {} of AU", field(3)));
    sound.encoding = *encoding;
    const uint64_t begin = at + std::max<uint64_t>(field(1), kHeader);
    at = take_samples(file, size_t(std::min<uint64_t>(begin, file.size())), field(2), sound, out);
  }
  if (out.empty()) return without_samples();
  return out;
}

Result<std::vector<PlainSound>> read_caf(Bytes file) {
  constexpr size_t kFileHeader = 8, kChunkHeader = 12, kBeforeSamples = 4;
  std::vector<PlainSound> out;
  std::optional<PlainSound> format;
  for (size_t at = 0; at + kFileHeader <= file.size();) {
    if (is_caf(file.subspan(at))) {
      format.reset();
      at += kFileHeader;
      continue;
    }
    if (at + kChunkHeader > file.size()) break;
    const std::string_view id = text_at(file, at);
    const uint64_t size = big_number_at(file, at + 4, 8);  // all ones: not known
    const size_t begin = at + kChunkHeader;
    if (id == "data") {
      if (!format) return without_format();
      at = take_samples(file, std::min(begin + kBeforeSamples, file.size()),
                        size > kBeforeSamples ? size - kBeforeSamples : 0, *format, out);
      continue;
    }
    if (size > file.size() - begin) break;
    if (id == "desc") {
      TOK_TRY(format, caf_format(file.subspan(begin, size_t(size))));
    }
    at = begin + size_t(size);
  }
  if (out.empty()) return without_samples();
  return out;
}

}  // namespace tokamak
