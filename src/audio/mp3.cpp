#include "audio/mp3.h"

#include <mpg123.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "audio/sound_bytes.h"

namespace tokamak {
namespace {

/// Samples by which a decoder of layer 3 is late; encoders leave them out of their delay.
constexpr uint32_t kDecoderDelay = 529;

struct Close {
  void operator()(mpg123_handle* own) const { mpg123_delete(own); }
};
using Decoder = std::unique_ptr<mpg123_handle, Close>;

mpg123_ssize_t read_bytes(void* own, void* out, size_t count) {
  return mpg123_ssize_t(static_cast<SoundBytes*>(own)->read(out, count));
}

off_t seek_bytes(void* own, off_t offset, int from) {
  return off_t(static_cast<SoundBytes*>(own)->seek(offset, from));
}

/// The frame in front of a piece that holds its length in place of sound.
struct InfoFrame {
  std::optional<uint32_t> frames;
  uint32_t delay = 0, padding = 0;  // samples that the encoder has added
};

uint32_t big_endian(std::span<const uint8_t> bytes) {
  return uint32_t(big_number(std::as_bytes(bytes)));
}

/// `body`: the frame after its header of four bytes.
std::optional<InfoFrame> info_of(uint32_t header, std::span<const uint8_t> body) {
  constexpr size_t kTag = 4, kVbriAt = 32, kVbriFrames = 14, kToc = 100, kDelayAt = 21;
  const auto has_at = [&](size_t at, std::string_view tag) {
    return body.size() >= at + tag.size() && std::memcmp(body.data() + at, tag.data(), kTag) == 0 &&
           std::ranges::all_of(body.first(at), [](uint8_t one) { return one == 0; });
  };
  if (has_at(kVbriAt, "VBRI") && body.size() >= kVbriAt + kVbriFrames + 4) {
    return InfoFrame{.frames = big_endian(body.subspan(kVbriAt + kVbriFrames, 4))};
  }
  const bool is_mpeg1 = (header >> 19 & 3) == 3, is_mono = (header >> 6 & 3) == 3;
  const size_t side_info = is_mpeg1 ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17);
  if (!has_at(side_info, "Xing") && !has_at(side_info, "Info")) return std::nullopt;
  InfoFrame info;
  auto rest = body.subspan(side_info + kTag);
  const auto take = [&](size_t count) {
    const auto taken = rest.first(std::min(count, rest.size()));
    rest = rest.subspan(taken.size());
    return taken;
  };
  const uint32_t flags = big_endian(take(4));
  if ((flags & 1) != 0) info.frames = big_endian(take(4));
  if ((flags & 2) != 0) take(4);
  if ((flags & 4) != 0) take(kToc);
  if ((flags & 8) != 0) take(4);
  if (rest.size() >= kDelayAt + 3 && rest[0] != 0) {  // the name of the encoder
    const uint32_t both = big_endian(rest.subspan(kDelayAt, 3));
    info.delay = both >> 12;
    info.padding = both & 0xfff;
  }
  return info;
}

/// Cuts from the pieces what their encoders have added.
class Pieces {
 public:
  explicit Pieces(SoundSink& sink) : sink_(sink) {}

  Result<void> begin(const InfoFrame& info) {
    TOK_TRY(end());
    frames_ = info.frames;
    const bool has_ends = info.delay != 0 || info.padding != 0;
    skipped_ = has_ends ? info.delay + kDecoderDelay : 0;
    held_ = std::max(info.padding, kDecoderDelay) - kDecoderDelay;
    return {};
  }

  Result<void> set_format(const SoundFormat& format) {
    // A format that changes within a piece ends what is held of the old one.
    TOK_TRY(give(0));
    channels_ = format.channels;
    return sink_.begin(format);
  }

  Result<void> add(std::span<const float> samples) {
    ++decoded_;
    const size_t skipped = std::min<size_t>(skipped_, samples.size() / channels_);
    skipped_ -= uint32_t(skipped);
    pending_.insert(pending_.end(), samples.begin() + ptrdiff_t(skipped * channels_),
                    samples.end());
    return give(held_);
  }

  Result<void> end() {
    const bool is_whole = !frames_ || *frames_ == decoded_;
    TOK_TRY(give(is_whole ? held_ : 0));
    pending_.clear();
    if (frames_ && decoded_ < *frames_) {
      sink_.note_missing(fmt::format(
          "The file is cut off: its header says {} frames, but {} follow.", *frames_, decoded_));
    }
    frames_.reset();
    decoded_ = 0;
    held_ = skipped_ = 0;
    return {};
  }

 private:
  /// Gives away all frames but the last `held`.
  Result<void> give(size_t held) {
    const size_t kept = std::min(held * channels_, pending_.size());
    const size_t given = pending_.size() - kept;
    if (given == 0) return {};
    TOK_TRY(sink_.add(std::span(pending_).first(given)));
    pending_.erase(pending_.begin(), pending_.begin() + ptrdiff_t(given));
    return {};
  }

  SoundSink& sink_;
  uint32_t channels_ = 1;
  std::optional<uint32_t> frames_;  // that the piece should have
  uint64_t decoded_ = 0;
  uint32_t skipped_ = 0;  // samples of a channel, still to come, in front
  uint32_t held_ = 0;     // samples of a channel at the end
  std::vector<float> pending_;
};

std::optional<uint32_t> header_at(std::span<const std::byte> file, size_t at) {
  if (at >= file.size() || file.size() - at < 4) return std::nullopt;
  const auto header = uint32_t(big_number(file.subspan(at, 4)));
  const uint32_t version = header >> 19 & 3, layer = header >> 17 & 3;
  const bool is_frame = header >> 21 == 0x7ff && version != 1 && (layer == 1 || layer == 2) &&
                        (header >> 12 & 15) != 15 && (header >> 10 & 3) != 3;
  return is_frame ? std::optional(header) : std::nullopt;
}

/// The bytes of the frame with that header; 0: not known.
size_t frame_bytes(uint32_t header) {
  constexpr uint16_t kKilobits[3][15] = {
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},  // layer 2
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},   // layer 3
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};      // half the rates
  constexpr uint32_t kRates[] = {44100, 48000, 32000};
  const uint32_t version = header >> 19 & 3;
  const bool is_mpeg1 = version == 3, is_layer3 = (header >> 17 & 3) == 1;
  const uint32_t kilobits = kKilobits[is_mpeg1 ? is_layer3 : 2][header >> 12 & 15];
  const uint32_t rate = kRates[header >> 10 & 3] / (is_mpeg1 ? 1 : version == 2 ? 2 : 4);
  const uint32_t samples = is_layer3 && !is_mpeg1 ? 576 : 1152;
  return samples / 8 * kilobits * 1000 / rate + (header >> 9 & 1);
}

/// Whether several frames of one kind follow each other there, which other bytes hardly do.
bool begins_run(std::span<const std::byte> file, size_t at) {
  constexpr uint32_t kKind = 0xfffe'0c00;  // version, layer and rate
  constexpr int kFrames = 4;
  const auto first = header_at(file, at);
  for (int i = 0; i < kFrames; ++i) {
    const auto header = header_at(file, at);
    if (!header || (*header & kKind) != (*first & kKind)) return false;
    const size_t size = frame_bytes(*header);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

Result<Decoder> open(SoundBytes& source) {
  const auto refused = [](const char* text) {
    return fail(ErrorCode::kOutOfMemory, "libmpg123 cannot decode the sound: {}.", text);
  };
  int error = MPG123_OK;
  Decoder decoder(mpg123_new(nullptr, &error));
  if (!decoder) return refused(mpg123_plain_strerror(error));
  // Lengths in headers are guesses, and there may be several of them.
  constexpr long kAdded =
      MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_IGNORE_INFOFRAME | MPG123_IGNORE_STREAMLENGTH;
  mpg123_handle* const own = decoder.get();
  const bool is_set =
      mpg123_param(own, MPG123_ADD_FLAGS, kAdded, 0) == MPG123_OK &&
      mpg123_param(own, MPG123_REMOVE_FLAGS, MPG123_GAPLESS, 0) == MPG123_OK &&
      mpg123_param(own, MPG123_RESYNC_LIMIT, -1, 0) == MPG123_OK &&
      mpg123_replace_reader_handle(own, read_bytes, seek_bytes, nullptr) == MPG123_OK &&
      mpg123_open_handle(own, &source) == MPG123_OK;
  if (!is_set) return refused(mpg123_strerror(own));
  return decoder;
}

SoundFormat format_of(mpg123_handle* decoder) {
  long rate = 0;
  int channels = 0, encoding = 0;
  mpg123_getformat(decoder, &rate, &channels, &encoding);
  return {uint32_t(rate), uint32_t(channels)};
}

std::optional<InfoFrame> info_of(mpg123_handle* decoder) {
  unsigned long header = 0;
  unsigned char* body = nullptr;
  size_t bytes = 0;
  if (mpg123_framedata(decoder, &header, &body, &bytes) != MPG123_OK) return std::nullopt;
  return info_of(uint32_t(header), {body, bytes});
}

/// Copies the samples of a frame; damaged ones have none.
std::vector<float> samples_of(mpg123_handle* decoder) {
  off_t index = 0;
  unsigned char* sound = nullptr;
  size_t bytes = 0;
  if (mpg123_framebyframe_decode(decoder, &index, &sound, &bytes) != MPG123_OK) return {};
  std::vector<float> samples(bytes / sizeof(float));
  if (!samples.empty()) std::memcpy(samples.data(), sound, samples.size() * sizeof(float));
  return samples;
}

}  // namespace

bool has_mpeg_frames(std::span<const std::byte> file) {
  if (header_at(file, 0)) return true;
  constexpr size_t kSearched = 64 << 10;
  for (size_t at = 1; at < std::min(file.size(), kSearched); ++at) {
    if (begins_run(file, at)) return true;
  }
  return false;
}

Result<void> decode_mp3(std::span<const std::byte> file, SoundSink& sink) {
  SoundBytes source({file});
  TOK_TRY(const Decoder decoder, open(source));
  Pieces pieces(sink);
  bool has_format = false;
  for (;;) {
    const int status = mpg123_framebyframe_next(decoder.get());
    if (status != MPG123_OK && status != MPG123_NEW_FORMAT) break;  // nothing more to decode
    const auto info = info_of(decoder.get());
    if (info) TOK_TRY(pieces.begin(*info));
    if (status == MPG123_NEW_FORMAT || !has_format) {
      TOK_TRY(pieces.set_format(format_of(decoder.get())));
      has_format = true;
    }
    if (!info) TOK_TRY(pieces.add(samples_of(decoder.get())));
  }
  return pieces.end();
}

}  // namespace tokamak
