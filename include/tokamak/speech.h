// Sound for Model::transcribe() and of Model::speak().
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokamak/error.h"
#include "tokamak/transcript.h"

namespace tokamak {

/// The samples of a file of sound, one channel at 16 kHz: WAV, FLAC, Ogg (Vorbis, Opus), MP3, AIFF,
/// AU or CAF of any rate, at most two hours. Errors: another file, one that is cut off.
Result<std::vector<float>> decode_recording(std::span<const std::byte> file);

/// A transcript as a file: text, json, srt or vtt.
Result<std::string> format_transcript(const Transcript& transcript, std::string_view format);

struct SpeakOptions {
  /// The codec that makes sound of what the model writes: a folder, a .nemo file, or org/name in
  /// the Hugging Face cache; "": the one in the model's folder or beside it.
  std::string codec = {};
  std::vector<float> speaker = {};  // numbers that describe a voice; none: the model's own
  std::string language = {};        // a tag of the model's, as en_us; "": none
  /// Most tokens of what is spoken at once, a sentence or some: four for 80 ms. Where unset, this
  /// and the following ones are as the model's authors have them.
  std::optional<uint32_t> max_tokens = {};
  std::optional<double> temperature = {};         // 0: the most probable token
  std::optional<uint32_t> top_k = {};             // 0: all
  std::optional<double> top_p = {};               // 1: all
  std::optional<double> repetition_penalty = {};  // 1: off
  std::optional<uint64_t> seed = {};              // unset: another one for every call
  /// Receives the samples as they are made, by the model's thread; must not block.
  std::function<void(std::span<const float> samples, uint32_t rate)> samples = {};
  std::function<bool()> cancelled = {};  // called between frames, by the model's thread
};

struct Speech {
  std::vector<float> samples = {};  // of one channel, mostly from -1 to 1
  uint32_t rate = 0;                // samples a second
  uint32_t pieces = 0;              // that the text was spoken in
  uint32_t cut = 0;                 // of these, those that did not end within max_tokens
  uint64_t seed = 0;                // that chance started from
};

/// The sound as a file: wav, flac, opus (in Ogg), mp3 or pcm (16 bits, little end first).
Result<std::string> encode_speech(const Speech& speech, std::string_view format);

}  // namespace tokamak
