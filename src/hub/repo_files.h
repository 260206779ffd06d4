// Which files of a repository a model needs: texts, and its weights once. Repositories often hold
// the same weights several times (safetensors, .bin, .pth, onnx/, original/).
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hub/reply.h"

namespace tokamak::hub {

/// Which of several quantizations a name means that says none, as in llama.cpp and ollama: a good
/// compromise of size and quality, which most repositories have.
inline constexpr std::string_view kDefaultQuantization = "Q4_K_M";

/// The files of a .gguf model of which `paths` are the candidates; several when it is split
/// (-00001-of-00003.gguf), in order. `choice` is a path, a file name, or a quantization, which is a
/// part of the name between "-", "." and "/", in either case; "": the only one, or the one of
/// kDefaultQuantization. Errors say what there is: kUsage when the choice does not decide, with a
/// command for `repo` that would.
Result<std::vector<std::string>> choose_gguf(std::span<const std::string> paths,
                                             std::string_view choice,
                                             std::string_view repo = "org/name");

/// The first file of each .gguf model among `paths`, sorted: projectors of images and importance
/// matrices are none, and the parts of a split file are one.
std::vector<std::string> gguf_models(std::span<const std::string> paths);

/// Whether "" means one of several models, by its quantization.
bool chooses_default(std::span<const std::string> paths);

/// Whether the files of one .gguf model are as many as their names say (-of-00003).
bool is_whole_gguf(std::span<const std::string> files);

/// Whether `paths` have all files of any .gguf model.
bool have_whole_gguf(std::span<const std::string> paths);

/// The files to read before others can be chosen: the index of the weights, modules.json.
std::vector<std::string> files_to_look_up(const RepoListing& listing, std::string_view choice);

/// The content of those files.
struct LookedUp {
  std::vector<std::string> shards;   // model.safetensors.index.json: names of files
  std::vector<std::string> folders;  // modules.json: folders beside the first
};

/// The folders that modules.json of sentence-transformers names; its own, "", is left out.
Result<std::vector<std::string>> parse_modules(std::string_view text);

/// Sorted by path, so that texts come before weights only by chance; each once. An error when the
/// repository has no weights that can be read, or when a file that it names is not there.
Result<std::vector<RepoFile>> needed_files(const RepoListing& listing, std::string_view choice,
                                           const LookedUp& looked_up);

/// The texts of a model that say what it is, of those in the repository.
std::vector<RepoFile> text_files(const RepoListing& listing);

}  // namespace tokamak::hub
