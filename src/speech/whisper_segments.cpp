#include "speech/whisper_segments.h"

#include <algorithm>

namespace tokamak {

WindowSegments cut_into_segments(const WhisperTokens& tokens, std::span<const uint32_t> written,
                                 double window_seconds) {
  WindowSegments out;
  const auto time_of = [&](uint32_t id) {
    return std::min(double(id - tokens.first_timestamp) * kSecondsPerTimestamp, window_seconds);
  };
  const auto add = [&](double start, double end, std::span<const uint32_t> ids) {
    Segment segment{.start = start, .end = std::max(start, end), .ids = tokens.text_ids(ids)};
    if (!segment.ids.empty()) out.segments.push_back(std::move(segment));
  };
  // A segment ends where two timestamps follow each other: its own, and that of the next.
  size_t first = 0;
  for (size_t i = 1; i < written.size(); ++i) {
    if (!tokens.is_timestamp(written[i]) || !tokens.is_timestamp(written[i - 1])) continue;
    add(time_of(written[first]), time_of(written[i - 1]), written.subspan(first, i - first));
    first = i;
  }
  const std::span<const uint32_t> rest = written.subspan(first);
  const bool ends_in_silence = rest.size() > 1 && tokens.is_timestamp(rest.back()) &&
                               !tokens.is_timestamp(rest[rest.size() - 2]);
  if (first > 0 && !ends_in_silence) {
    // The last segment goes on after the window: it is heard again from its beginning.
    out.seconds = time_of(written[first - 1]);
    return out;
  }
  const auto last = std::ranges::find_if(rest.rbegin(), rest.rend(),
                                         [&](uint32_t id) { return tokens.is_timestamp(id); });
  const bool has_end = last != rest.rend() && *last != tokens.first_timestamp;
  const bool has_start = !rest.empty() && tokens.is_timestamp(rest.front());
  add(has_start ? time_of(rest.front()) : 0, has_end ? time_of(*last) : window_seconds, rest);
  out.seconds = window_seconds;
  return out;
}

}  // namespace tokamak
