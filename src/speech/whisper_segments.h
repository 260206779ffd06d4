// The meaning of Whisper's timestamps: which part of a window each segment is, and where the next
// window begins.
#pragma once
#include <span>
#include <vector>

#include "speech/whisper_tokens.h"
#include "tokamak/transcript.h"

namespace tokamak {

struct WindowSegments {
  std::vector<Segment> segments;  // start, end and the ids of text
  double seconds = 0;             // of the window that are done with
};

/// `written`: the tokens of a window of that many seconds, without the end.
WindowSegments cut_into_segments(const WhisperTokens& tokens, std::span<const uint32_t> written,
                                 double window_seconds);

}  // namespace tokamak
