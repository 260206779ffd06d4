#include "apps/cli/speaker.h"

#include "apps/cli/line/input.h"
#include "speech/speaker_file.h"

namespace tokamak::cli {

Result<std::vector<float>> read_speaker_file(const std::string& path) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  if (path.empty()) return std::vector<float>();
  TOK_TRY(const std::string text, read_input(path, kMaxBytes));
  for (const std::string_view mark : {"RIFF", "fLaC", "OggS", "ID3"}) {
    if (!text.starts_with(mark)) continue;
    return invalid_input(
        "{}: The file is a recording; a voice is the numbers that describe it, a JSON array or "
        "floats of 32 bits.",
        path);
  }
  auto speaker = read_speaker(text);
  if (!speaker) return Failure(speaker.error().within(path));
  return speaker;
}

}  // namespace tokamak::cli
