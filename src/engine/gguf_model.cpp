#include "engine/gguf_model.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/system/path_text.h"
#include "engine/files/gguf_files.h"
#include "formats/native_files.h"
#include "model/gguf/import.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

/// The .gguf files in the model's folder that are named as towers are, sorted; without its own.
std::vector<fs::path> towers_beside(const std::string& path) {
  const fs::path own = path_of(path);
  const fs::path folder = own.has_parent_path() ? own.parent_path() : fs::path(".");
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string name = text_of(entry->path().filename());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool is_tower = name.ends_with(".gguf") && name.find("mmproj") != name.npos;
    if (is_tower && entry->path().filename() != own.filename()) found.push_back(entry->path());
  }
  std::ranges::sort(found);
  return found;
}

/// 0 for the type that is taken first.
int rank_of(const GgufFile& tower) {
  const Json* const type = tower.metadata.values().find("general.file_type");
  const auto name =
      gguf_file_type_name(type != nullptr && type->is_integer() ? type->as_integer() : -1);
  return name == "F16" ? 0 : name == "BF16" ? 1 : name == "F32" ? 3 : 2;
}

struct FoundProjector {
  std::optional<GgufFile> file;
  std::string note;  // which one beside the model it is, or why one that lies there is not
};

Result<FoundProjector> find_projector(const std::string& path, const GgufFile& text,
                                      const std::string& named) {
  FoundProjector found;
  if (!named.empty()) {
    TOK_TRY(found.file, open_gguf(named));
    TOK_TRY(check_projector(text, *found.file));
    return found;
  }
  std::string unfit;
  fs::path taken;
  for (const fs::path& one : towers_beside(path)) {
    auto tower = open_gguf(text_of(one));
    const Result<void> fits =
        tower ? check_projector(text, *tower) : Result<void>(Failure(tower.error()));
    if (!fits) {
      if (unfit.empty()) unfit = fits.error().message;
    } else if (!found.file || rank_of(*tower) < rank_of(*found.file)) {
      found.file = *std::move(tower);
      taken = one;
    }
  }
  if (found.file) {
    found.note = fmt::format(
        "Images are read with {}, which lies beside the model (--mmproj names another).",
        text_of(taken.filename()));
  } else if (!unfit.empty()) {
    found.note = unfit;
  }
  return found;
}

}  // namespace

Result<ModelFiles> read_gguf_model(const std::string& path, const std::string& projector,
                                   UnreadTensors* unread) {
  TOK_TRY(const GgufFile file, unread != nullptr ? open_gguf(path, *unread) : open_gguf(path));
  TOK_TRY(FoundProjector tower, find_projector(path, file, projector));
  TOK_TRY(ModelFiles files, gguf_model_files(file, tower.file ? &*tower.file : nullptr));
  files.tower_note = std::move(tower.note);
  return files;
}

}  // namespace tokamak
