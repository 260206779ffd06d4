#include "apps/cli/speaker.h"

#include "formats/native_files.h"
#include "speech/speaker_file.h"

namespace tokamak::cli {

Result<std::vector<float>> read_speaker_file(const std::string& path) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  if (path.empty()) return std::vector<float>();
  TOK_TRY(const std::string text, read_text_file(path, kMaxBytes));
  auto speaker = read_speaker(text);
  if (!speaker) return Failure(speaker.error().within(path));
  return speaker;
}

}  // namespace tokamak::cli
