#include "speech/transcript_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tokamak {
namespace {

/// "00:01:02,345", with that mark before the milliseconds.
std::string time_text(double seconds, char mark) {
  const auto milliseconds = uint64_t(std::llround(std::max(seconds, 0.0) * 1000));
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", milliseconds / 3'600'000,
                     milliseconds / 60'000 % 60, milliseconds / 1000 % 60, mark,
                     milliseconds % 1000);
}

/// Without blanks around it, and on one line: an empty one would end the subtitle.
std::string line_of(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' || c == '\r' ? ' ' : c;
  const size_t first = line.find_first_not_of(' ');
  if (first == line.npos) return "";
  return line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

/// "-->" belongs to the times.
std::string subtitle_of(std::string_view text) {
  std::string line = line_of(text);
  for (size_t at; (at = line.find("-->")) != line.npos;) line.replace(at, 3, "->");
  return line;
}

std::string subtitles(const Transcript& transcript, bool is_vtt) {
  std::string out = is_vtt ? "WEBVTT\n\n" : "";
  const char mark = is_vtt ? '.' : ',';
  size_t number = 0;
  for (const Segment& segment : transcript.segments) {
    if (!is_vtt) out += fmt::format("{}\n", ++number);
    out += fmt::format("{} --> {}\n{}\n\n", time_text(segment.start, mark),
                       time_text(segment.end, mark), subtitle_of(segment.text));
  }
  return out;
}

/// Numbers for people: as exact as the model's steps.
double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

}  // namespace

std::optional<TranscriptFormat> transcript_format(std::string_view name) {
  const auto found = std::ranges::find(kTranscriptFormatNames, name);
  if (found == std::end(kTranscriptFormatNames)) return std::nullopt;
  return TranscriptFormat(found - std::begin(kTranscriptFormatNames));
}

Json transcript_json(const Transcript& transcript) {
  Json::Array segments;
  for (const Segment& segment : transcript.segments) {
    Json::Array tokens;
    for (const uint32_t id : segment.ids) tokens.push_back(uint64_t{id});
    Json one;
    one.set("id", uint64_t{segments.size()});
    one.set("start", rounded(segment.start)).set("end", rounded(segment.end));
    one.set("text", segment.text).set("tokens", std::move(tokens));
    one.set("temperature", rounded(segment.temperature));
    one.set("avg_logprob", rounded(segment.average_log_prob));
    one.set("compression_ratio", rounded(segment.compression_ratio));
    one.set("no_speech_prob", rounded(segment.no_speech_prob));
    segments.push_back(std::move(one));
  }
  Json out;
  out.set("text", transcript.text).set("duration", rounded(transcript.seconds));
  if (!transcript.language.empty()) out.set("language", transcript.language);
  out.set("segments", std::move(segments));
  return out;
}

std::string transcript_text(const Transcript& transcript, TranscriptFormat format) {
  switch (format) {
    case TranscriptFormat::kText:
      return transcript.text + "\n";
    case TranscriptFormat::kJson:
      return transcript_json(transcript).dump() + "\n";
    case TranscriptFormat::kSrt:
      return subtitles(transcript, false);
    case TranscriptFormat::kVtt:
      return subtitles(transcript, true);
  }
  return "";
}

}  // namespace tokamak
