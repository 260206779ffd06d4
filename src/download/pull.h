// `tokamak pull`: brings the files that a model needs into the cache, in this order: list the
// repository, choose files, wait for other pulls of it, check the room on the disk, fetch, compare
// hashes, link the snapshot, and only then let the revision point to it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "hub/model_name.h"
#include "hub/settings.h"

namespace tokamak::download {

enum class Stage : uint8_t { kLookUp, kWait, kFetch, kCheck };

struct Progress {
  Stage stage = Stage::kLookUp;
  std::string text;              // what is looked up, waited for or checked
  uint64_t done = 0, total = 0;  // bytes of all files; those that were there count as done
  uint64_t fetched = 0;          // bytes that came over the network by now
};

struct PullHooks {
  std::function<void(const Progress&)> progress;
  std::function<bool()> cancelled;
};

struct Pulled {
  std::string path;  // what MODEL becomes: the snapshot, or the .gguf file
  std::string commit;
  uint32_t files = 0;
  bool chose_default = false;       // one of several .gguf files, for its quantization
  uint64_t bytes = 0, fetched = 0;  // of all files; over the network
};

Result<Pulled> pull(const hub::Settings& settings, const hub::ModelName& name,
                    const PullHooks& hooks);

}  // namespace tokamak::download
