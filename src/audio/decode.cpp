#include "audio/decode.h"

#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "audio/flac.h"
#include "audio/mp3.h"
#include "audio/ogg.h"
#include "audio/plain_sound.h"
#include "audio/sound_bytes.h"
#include "audio/sound_sink.h"
#include "audio/wav.h"

namespace tokamak {
namespace {

sf_count_t source_length(void* own) {
  return sf_count_t(static_cast<SoundBytes*>(own)->size());
}

sf_count_t source_seek(sf_count_t offset, int from, void* own) {
  return sf_count_t(static_cast<SoundBytes*>(own)->seek(offset, from));
}

sf_count_t source_read(void* out, sf_count_t count, void* own) {
  return sf_count_t(
      static_cast<SoundBytes*>(own)->read(out, size_t(std::max<sf_count_t>(count, 0))));
}

sf_count_t source_write(const void*, sf_count_t, void*) {
  return 0;
}

sf_count_t source_tell(void* own) {
  return sf_count_t(static_cast<SoundBytes*>(own)->at());
}

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

/// Encodings that are read; RIFF may hold a dozen others of the eighties.
bool is_read(const SF_INFO& info) {
  constexpr int kTypes[] = {SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_FLAC, SF_FORMAT_OGG,
                            SF_FORMAT_RAW};
  constexpr int kEncodings[] = {SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16,
                                SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
                                SF_FORMAT_DOUBLE, SF_FORMAT_ULAW,   SF_FORMAT_ALAW,
                                SF_FORMAT_VORBIS, SF_FORMAT_OPUS};
  const auto has = [](const auto& list, int one) {
    return std::ranges::find(list, one) != std::end(list);
  };
  return has(kTypes, info.format & SF_FORMAT_TYPEMASK) &&
         has(kEncodings, info.format & SF_FORMAT_SUBMASK);
}

/// Gives the sound of a piece to the sink. `frames`: how many it should have; 0: as libsndfile
/// finds. `info`: the format of samples without a header.
Result<void> decode_piece(SoundBytes source, uint64_t frames, SoundSink& sink, SF_INFO info = {}) {
  TOK_TRY(sink.begin_piece());
  SF_VIRTUAL_IO io = {source_length, source_seek, source_read, source_write, source_tell};
  const std::unique_ptr<SNDFILE, Close> sound(sf_open_virtual(&io, SFM_READ, &info, &source));
  if (!sound) {
    std::string text = fmt::format("The file is damaged or cut off: {}", sf_strerror(nullptr));
    if (sink.is_empty()) return invalid_input("{}", text);
    sink.note_missing(std::move(text));  // the sound before it stays
    return {};
  }
  if (!is_read(info)) {
    return unsupported("The sound is encoded in a way that is not read here; convert it first.");
  }
  if (info.samplerate < 0 || info.channels < 0) return invalid_input("The file is damaged.");
  const SoundFormat format = {uint32_t(info.samplerate), uint32_t(info.channels)};
  TOK_TRY(sink.begin(format));
  const bool is_length_known = info.frames > 0 && info.frames < SF_COUNT_MAX;
  if (frames == 0 && is_length_known) frames = uint64_t(info.frames);

  constexpr size_t kFrames = 4096;
  std::vector<float> block(kFrames * format.channels);
  uint64_t found = 0;
  for (;;) {
    const sf_count_t read = sf_readf_float(sound.get(), block.data(), kFrames);
    if (read <= 0) break;
    found += uint64_t(read);
    TOK_TRY(sink.add(std::span(block).first(size_t(read) * format.channels)));
  }
  if (const int error = sf_error(sound.get())) {
    sink.note_missing(fmt::format("The file is damaged or cut off: {}", sf_error_number(error)));
  }
  // Positions in Ogg are those of a lossy encoder.
  const uint64_t inexact =
      (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_OGG ? format.rate / 10 : 0;
  if (found + inexact < frames) {
    sink.note_missing(
        fmt::format("The file is damaged or cut off: its header says {} samples, but {} follow.",
                    frames, found));
  }
  return {};
}

Result<void> decode_wav(std::span<const std::byte> file, SoundSink& sink) {
  TOK_TRY(const WavFile wav, read_wav(file));
  if (!wav.missing.empty()) sink.note_missing(wav.missing);
  for (const WavPiece& piece : wav.pieces) {
    if (piece.samples.empty()) continue;
    const std::string head = wav_head(piece);
    TOK_TRY(
        is_mp3(piece)
            ? decode_mp3(piece.samples, sink)
            : decode_piece(SoundBytes({std::as_bytes(std::span(head)), piece.samples}), 0, sink));
  }
  return {};
}

Result<void> decode_flac(std::span<const std::byte> file, SoundSink& sink) {
  for (const FlacPiece& piece : read_flac(file)) {
    TOK_TRY(decode_piece(SoundBytes({std::as_bytes(std::span(piece.head)), piece.rest}),
                         piece.frames, sink));
  }
  return {};
}

Result<void> decode_ogg(std::span<const std::byte> file, SoundSink& sink) {
  const OggFile ogg = read_ogg(file);
  if (!ogg.missing.empty()) sink.note_missing(ogg.missing);
  for (const OggLink& link : ogg.links) {
    TOK_TRY(decode_piece(SoundBytes({link.pages, link.last_page}), 0, sink));
  }
  return {};
}

/// The samples of a file, without its header: libsndfile's own readers of these headers are not
/// used.
template <Result<std::vector<PlainSound>> (*kRead)(std::span<const std::byte> file)>
Result<void> decode_plain(std::span<const std::byte> file, SoundSink& sink) {
  constexpr int kEncodings[] = {SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16,
                                SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
                                SF_FORMAT_DOUBLE, SF_FORMAT_ULAW,   SF_FORMAT_ALAW};
  TOK_TRY(const std::vector<PlainSound> sounds, kRead(file));
  for (const PlainSound& sound : sounds) {
    TOK_TRY(sink.begin({sound.rate, sound.channels}));  // libsndfile's own words are vague
    const SF_INFO info = {.samplerate = int(sound.rate),
                          .channels = int(sound.channels),
                          .format = SF_FORMAT_RAW | kEncodings[size_t(sound.encoding)] |
                                    (sound.is_little ? SF_ENDIAN_LITTLE : SF_ENDIAN_BIG)};
    TOK_TRY(decode_piece(SoundBytes({sound.samples}), sound.frames, sink, info));
  }
  return {};
}

struct Format {
  std::string_view name;
  bool (*begins)(std::span<const std::byte> file);
  Result<void> (*decode)(std::span<const std::byte> file, SoundSink& sink);
};

template <char... kMark>
bool begins_with(std::span<const std::byte> file) {
  constexpr char kText[] = {kMark...};
  return file.size() >= sizeof kText && std::memcmp(file.data(), kText, sizeof kText) == 0;
}

/// libsndfile reads more headers, which hardly anyone has and few have looked at for mistakes.
constexpr Format kFormats[] = {
    {"WAV", is_wav, decode_wav},
    {"FLAC", begins_with<'f', 'L', 'a', 'C'>, decode_flac},
    {"Ogg", begins_with<'O', 'g', 'g', 'S'>, decode_ogg},
    {"MP3", begins_with<'I', 'D', '3'>, decode_mp3},
    {"MP3", has_mpeg_frames, decode_mp3},
    {"AIFF", is_aiff, decode_plain<read_aiff>},
    {"AU", is_au, decode_plain<read_au>},
    {"CAF", is_caf, decode_plain<read_caf>},
};

template <char... kMark>
bool has_at_4(std::span<const std::byte> file) {
  return file.size() >= 4 && begins_with<kMark...>(file.subspan(4));
}

/// Formats that people have and that are not read.
constexpr std::pair<std::string_view, bool (*)(std::span<const std::byte>)> kOthers[] = {
    {"MPEG-4 (M4A, MP4, MOV)", has_at_4<'f', 't', 'y', 'p'>},
    {"Matroska or WebM", begins_with<'\x1A', '\x45', '\xDF', '\xA3'>},
    {"Windows Media (WMA)", begins_with<'\x30', '\x26', '\xB2', '\x75'>},
    {"AMR", begins_with<'#', '!', 'A', 'M', 'R'>},
    {"AVI",
     [](std::span<const std::byte> file) {
       return begins_with<'R', 'I', 'F', 'F'>(file) && file.size() >= 8 &&
              begins_with<'A', 'V', 'I', ' '>(file.subspan(8));
     }},
};

/// The bytes of an ID3 tag in front, which some programs also put before FLAC and WAV.
size_t tag_bytes(std::span<const std::byte> file) {
  constexpr size_t kHeader = 10, kSizeAt = 6;
  if (file.size() < kHeader || !begins_with<'I', 'D', '3'>(file)) return 0;
  size_t size = 0;
  for (size_t i = kSizeAt; i < kHeader; ++i) {
    size = size << 7 | (std::to_integer<size_t>(file[i]) & 0x7f);
  }
  return std::min(kHeader + size, file.size());
}

Result<DecodedSound> decode(std::span<const std::byte> file, const Format& format,
                            const SoundLimits& limits) {
  SoundSink sink(limits);
  TOK_TRY(format.decode(file, sink));
  TOK_TRY(Samples samples, sink.finish());
  return DecodedSound{std::move(samples), sink.missing()};
}

}  // namespace

Result<DecodedSound> decode_as_far_as_possible(std::span<const std::byte> file,
                                               const SoundLimits& limits) {
  if (file.empty()) return invalid_input("The file is empty, expected a sound.");
  if (file.size() > limits.max_file_bytes) {
    return invalid_input(
        "The sound file has {} bytes, expected at most {}; cut it into parts first.", file.size(),
        limits.max_file_bytes);
  }
  const auto after_tag = file.subspan(tag_bytes(file));
  const auto* const format = std::ranges::find_if(
      kFormats, [&](const Format& one) { return one.begins(after_tag) || one.begins(file); });
  if (format == std::end(kFormats)) {
    const auto* const other =
        std::ranges::find_if(kOthers, [&](const auto& one) { return one.second(after_tag); });
    return unsupported(
        "The file is {}, expected WAV, FLAC, Ogg (Vorbis, Opus), MP3, AIFF, AU or CAF; convert it "
        "first: ffmpeg -i FILE sound.wav",
        other == std::end(kOthers) ? "not a sound that is read here" : other->first);
  }
  auto sound = decode(after_tag, *format, limits);
  if (!sound) return Failure(std::move(sound).error().within(format->name));
  if (!sound->missing.empty()) sound->missing = fmt::format("{}: {}", format->name, sound->missing);
  return sound;
}

Result<Samples> decode_sound(std::span<const std::byte> file, const SoundLimits& limits) {
  TOK_TRY(DecodedSound sound, decode_as_far_as_possible(file, limits));
  if (!sound.missing.empty()) return invalid_input("{}", sound.missing);
  return std::move(sound.samples);
}

}  // namespace tokamak
