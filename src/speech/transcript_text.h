// Transcripts as files: plain text, subtitles, JSON.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "tokamak/transcript.h"

namespace tokamak {

enum class TranscriptFormat : uint8_t { kText, kJson, kSrt, kVtt };
inline constexpr std::string_view kTranscriptFormatNames[] = {"text", "json", "srt", "vtt"};
std::optional<TranscriptFormat> transcript_format(std::string_view name);

/// Whole files. kText: the text and a line end. kJson: transcript_json() and a line end.
std::string transcript_text(const Transcript& transcript, TranscriptFormat format);

/// text, language, duration and segments with their tokens, as OpenAI's verbose_json has them.
Json transcript_json(const Transcript& transcript);

}  // namespace tokamak
