// Transcripts of recordings, and how they are made.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tokamak {

/// A part of a transcript: usually a sentence or a breath.
struct Segment {
  double start = 0, end = 0;  // seconds from the beginning of the recording
  std::string text = {};
  std::vector<uint32_t> ids = {};
  /// How sure the model was: of each token on average, and that nobody speaks.
  double average_log_prob = 0, no_speech_prob = 0;
  double temperature = 0;        // at which it was written
  double compression_ratio = 0;  // of the text: much where it repeats itself
};

struct Transcript {
  std::string text = {};
  std::string language = {};  // as "en"; "": not known
  double seconds = 0;         // of the recording
  std::vector<Segment> segments = {};
};

struct TranscribeOptions {
  std::string language = {};  // "en", "English", "en-US"; "", "auto": the model finds out
  bool translate = false;     // into English
  std::string prompt = {};    // what the text goes on from: names, spelling
  double temperature = 0;     // of the first attempt
  bool fallback = true;       // attempts at higher temperatures where a text looks wrong
  bool timestamps = true;     // the model writes them; without, segments are whole windows
  uint64_t seed = 0;
};

struct TranscribeCallbacks {
  std::function<void(const Segment&)> segment = {};  // each, as soon as it is there
  std::function<bool()> cancelled = {};              // called before each token
};

}  // namespace tokamak
