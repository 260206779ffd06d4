// SoundEncoder: samples of one channel to a file of sound, piece by piece; native builds only.
//
// WAV and FLAC have 16 bits a sample, Ogg has Opus at 48 kHz, PCM is the samples of 16 bits alone,
// little end first, without a header.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak {

enum class SoundFileFormat : uint8_t { kWav, kPcm, kFlac, kOpus, kMp3 };

/// "wav", "pcm", "flac", "opus" or "mp3".
std::optional<SoundFileFormat> sound_file_format(std::string_view name);
/// The format of files with that name, by its ending: also .ogg and .raw.
std::optional<SoundFileFormat> sound_format_of_file(std::string_view path);
/// "audio/wav"
std::string_view content_type(SoundFileFormat format);

class SoundEncoder {
 public:
  virtual ~SoundEncoder() = default;

  /// `is_stream`: bytes leave before all are known, so that headers do not say how long the sound
  /// is. Otherwise all of them come with finish(), as always those of MP3, which begins with what
  /// follows.
  /// Errors: a format that the libraries here were built without.
  static Result<std::unique_ptr<SoundEncoder>> make(SoundFileFormat format, uint32_t rate,
                                                    bool is_stream);

  /// Gives the bytes that are ready. Samples beyond -1 and 1 are clipped.
  virtual Result<std::string> add(std::span<const float> samples) = 0;
  /// The rest. Nothing may be added after it.
  virtual Result<std::string> finish() = 0;
};

}  // namespace tokamak
