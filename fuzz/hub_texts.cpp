// The texts that the hub client reads: the list of files of a repository, modules.json, ref files,
// notes on progress, names of models. Whatever they hold, no path may leave its folder.
#include <algorithm>

#include "base/check.h"
#include "hub/cache.h"
#include "hub/parts.h"
#include "hub/repo_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tokamak;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  if (const auto name = hub::parse_model_name(text)) {
    const std::string folder = hub::repo_folder("cache", name->repo);
    TOK_CHECK(std::ranges::count(folder, '/') == 1);
    TOK_CHECK(hub::is_inner_path(name->revision));
    TOK_CHECK(hub::parse_model_name(name->text()) == *name);
  }
  if (const auto commit = hub::parse_ref(text)) TOK_CHECK(hub::is_commit(*commit));
  if (const auto parts = hub::parse_parts(text, 1000)) {
    TOK_CHECK(hub::parse_parts(hub::format_parts(*parts), 1000).has_value());
    TOK_CHECK(parts->total_done() <= 1000);
  }
  hub::LookedUp looked_up;
  if (auto folders = hub::parse_modules(text)) {
    for (const std::string& folder : *folders) TOK_CHECK(hub::is_inner_path(folder));
    looked_up.folders = *std::move(folders);
  }
  const auto listing = hub::parse_repo_reply(text);
  if (!listing) return 0;
  TOK_CHECK(hub::is_commit(listing->commit));
  looked_up.shards = {"model-00001-of-00002.safetensors"};
  looked_up.folders.emplace_back("1_Pooling");
  for (const char* choice : {"", "Q4_K_M", "a.gguf"}) {
    const auto files = hub::needed_files(*listing, choice, looked_up);
    if (!files) continue;
    for (const hub::RepoFile& file : *files) {
      TOK_CHECK(hub::is_inner_path(file.path));
      TOK_CHECK(hub::is_hex(file.hash, file.large() ? 64 : 40));
    }
  }
  return 0;
}
