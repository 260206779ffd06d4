#include "audio/decode.h"

#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "audio/resample.h"
#include "audio/whole.h"
#include "base/check.h"

namespace tokamak {
namespace {

/// A file in memory as libsndfile reads it.
struct Source {
  std::span<const std::byte> file;
  size_t at = 0;
};

sf_count_t source_length(void* own) {
  return sf_count_t(static_cast<Source*>(own)->file.size());
}

sf_count_t source_seek(sf_count_t offset, int from, void* own) {
  auto& source = *static_cast<Source*>(own);
  const auto size = sf_count_t(source.file.size());
  const sf_count_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? sf_count_t(source.at) : size;
  // Offsets of damaged files may be anything.
  sf_count_t to = 0;
  if (!__builtin_add_overflow(start, offset, &to))
    source.at = size_t(std::clamp<sf_count_t>(to, 0, size));
  return sf_count_t(source.at);
}

sf_count_t source_read(void* out, sf_count_t count, void* own) {
  auto& source = *static_cast<Source*>(own);
  const size_t taken =
      std::min(size_t(std::max<sf_count_t>(count, 0)), source.file.size() - source.at);
  if (taken > 0) std::memcpy(out, source.file.data() + source.at, taken);
  source.at += taken;
  return sf_count_t(taken);
}

sf_count_t source_write(const void*, sf_count_t, void*) {
  return 0;
}

sf_count_t source_tell(void* own) {
  return sf_count_t(static_cast<Source*>(own)->at);
}

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

Result<void> no_check(std::span<const std::byte>) {
  return {};
}

struct Format {
  std::string_view name;
  std::string_view mark;       // the first bytes
  std::string_view mark_at_8;  // and those at byte 8
  Result<void> (*check)(std::span<const std::byte>);
};

/// libsndfile reads more formats, which hardly anyone has and few have looked at for mistakes.
constexpr Format kFormats[] = {
    {"WAV", "RIFF", "WAVE", check_whole_wav},
    {"WAV", "RF64", "WAVE", no_check},
    {"FLAC", "fLaC", "", no_check},
    {"Ogg", "OggS", "", check_whole_ogg},
    {"MP3", "ID3", "", no_check},
};

/// MP3 without a tag begins with a frame: eleven bits of 1, then a version and layer 3.
bool is_mp3_frame(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xff' && (uint8_t(text[1]) & 0xe6) == 0xe2;
}

Result<const Format*> format_of(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Format& format : kFormats) {
    if (!text.starts_with(format.mark)) continue;
    if (text.size() >= 8 && text.substr(8).starts_with(format.mark_at_8)) return &format;
  }
  if (is_mp3_frame(text)) return &kFormats[std::size(kFormats) - 1];
  return unsupported(
      "The file is not a sound that is read here, expected WAV, FLAC, Ogg (Vorbis, Opus) or MP3; "
      "convert it first.");
}

/// Encodings that are read; RIFF may hold a dozen others of the eighties.
bool is_read(const SF_INFO& info) {
  constexpr int kTypes[] = {SF_FORMAT_WAV,  SF_FORMAT_WAVEX, SF_FORMAT_RF64,
                            SF_FORMAT_FLAC, SF_FORMAT_OGG,   SF_FORMAT_MPEG};
  constexpr int kEncodings[] = {SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16,
                                SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
                                SF_FORMAT_DOUBLE, SF_FORMAT_ULAW,   SF_FORMAT_ALAW,
                                SF_FORMAT_VORBIS, SF_FORMAT_OPUS,   SF_FORMAT_MPEG_LAYER_III};
  const auto has = [](const auto& list, int one) {
    return std::ranges::find(list, one) != std::end(list);
  };
  return has(kTypes, info.format & SF_FORMAT_TYPEMASK) &&
         has(kEncodings, info.format & SF_FORMAT_SUBMASK);
}

Result<Samples> decode(std::span<const std::byte> file, const SoundLimits& limits) {
  Source source = {.file = file};
  SF_VIRTUAL_IO io = {source_length, source_seek, source_read, source_write, source_tell};
  SF_INFO info = {};
  const std::unique_ptr<SNDFILE, Close> sound(sf_open_virtual(&io, SFM_READ, &info, &source));
  if (!sound) {
    return invalid_input("The file is damaged or cut off: {}", sf_strerror(nullptr));
  }
  if (!is_read(info)) {
    return unsupported("The sound is encoded in a way that is not read here; convert it first.");
  }
  if (info.samplerate < 0 || info.channels < 0) return invalid_input("The file is damaged.");
  const SoundFormat format = {uint32_t(info.samplerate), uint32_t(info.channels)};
  TOK_TRY(Resampler resampler, Resampler::open(format));
  const uint64_t most = uint64_t{limits.max_seconds} * format.rate;
  const bool is_length_known = info.frames > 0 && info.frames < SF_COUNT_MAX;
  const auto too_long = [&] {
    return invalid_input("The sound is longer than {} seconds; cut it into parts first.",
                         limits.max_seconds);
  };
  if (is_length_known && uint64_t(info.frames) > most) return too_long();

  constexpr size_t kFrames = 4096;
  std::vector<float> block(kFrames * format.channels);
  Samples samples;
  uint64_t frames = 0;
  for (;;) {
    const sf_count_t read = sf_readf_float(sound.get(), block.data(), kFrames);
    if (read <= 0) break;
    frames += uint64_t(read);
    if (frames > most) return too_long();
    TOK_TRY(resampler.add(std::span(block).first(size_t(read) * format.channels), samples));
  }
  if (const int error = sf_error(sound.get())) {
    return invalid_input("The file is damaged or cut off: {}", sf_error_number(error));
  }
  if (frames == 0) return invalid_input("The sound has no samples.");
  if (is_length_known && frames < uint64_t(info.frames)) {
    return invalid_input(
        "The file is damaged or cut off: its header says {} samples, but {} follow.", info.frames,
        frames);
  }
  TOK_TRY(resampler.finish(samples));
  return samples;
}

}  // namespace

Result<Samples> decode_sound(std::span<const std::byte> file, const SoundLimits& limits) {
  if (file.empty()) return invalid_input("The file is empty, expected a sound.");
  if (file.size() > limits.max_file_bytes) {
    return invalid_input(
        "The sound file has {} bytes, expected at most {}; cut it into parts first.", file.size(),
        limits.max_file_bytes);
  }
  TOK_TRY(const Format* format, format_of(file));
  if (auto whole = format->check(file); !whole) {
    return Failure(std::move(whole).error().within(format->name));
  }
  auto samples = decode(file, limits);
  if (!samples) return Failure(std::move(samples).error().within(format->name));
  return samples;
}

}  // namespace tokamak
