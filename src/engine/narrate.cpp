// Models that speak, with the codec that makes sound of what they write.
#include <filesystem>

#include "base/system/path_text.h"
#include "engine/codec.h"
#include "engine/sound.h"
#include "engine/task.h"
#include "speech/narrator.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPublished = "nemo-nano-codec-22khz-0.6kbps-12.5fps";

/// A codec in that folder: a .nemo file, or a folder of a codec's name; "" when there is none.
std::string codec_in(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"codec", "nanocodec", kPublished}) {
    const fs::path inner = folder / path_of(name);
    if (fs::exists(inner / "config.json", ignored)) return text_of(inner);
    if (!fs::is_directory(inner, ignored)) continue;
    if (const std::string found = codec_in(inner); !found.empty()) return found;
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".nemo") files.push_back(text_of(entry.path()));
  }
  return files.empty() ? "" : std::ranges::min(files);
}

/// The codec that lies in a model's folder or beside it.
Result<std::string> find_codec(const std::string& model) {
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(path_of(model), ignored);
  for (const fs::path& place : {folder, folder.parent_path()}) {
    if (std::string found = codec_in(place); !found.empty()) return found;
  }
  return fail(ErrorCode::kUsage,
              "{} writes codes, and no codec that makes sound of them is in its folder or beside "
              "it; name one (--codec): NanoCodec, nvidia/{}.",
              model, kPublished);
}

}  // namespace

Result<std::unique_ptr<Narrator>> make_narrator(Engine& engine, const std::string& codec) {
  TOK_TRY(check_task(engine.compiled(), Task::kVoice));
  TOK_TRY(const Tokenizer* own, engine.tokenizer());
  std::string path = codec;
  if (path.empty()) {
    TOK_TRY(path, find_codec(engine.files().name));
  }
  TOK_TRY(Codec* const found, engine.codec(path));
  auto made = Narrator::make(
      {.program = engine.program(),
       .model = *engine.compiled().voice,
       .tokenizer = *own,
       .codec = {.groups = found->groups(),
                 .codes = found->codes_per_group(),
                 .rate = found->sample_rate(),
                 .samples_per_frame = found->samples_per_frame(),
                 .context_frames = found->context_frames(),
                 .decode = [found](std::span<const uint32_t> codes, uint32_t context) {
                   return found->decode(codes, context);
                 }}});
  if (!made) return Failure(made.error().within(path));
  return made;
}

Result<Narrator*> Engine::narrator(const std::string& codec) {
  TOK_TRY(check_task(compiled_, Task::kVoice));
  TOK_TRY(check_idle());
  std::string path = codec;
  if (path.empty()) {
    TOK_TRY(path, find_codec(files_.name));
  }
  const Codec* const before = codec_.get();
  TOK_TRY(const Codec* const found, this->codec(path));
  if (narrator_ == nullptr || found != before) {
    TOK_TRY(narrator_, make_narrator(*this, path));
  }
  return narrator_.get();
}

}  // namespace tokamak
