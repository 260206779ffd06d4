// Models in the cache on this machine, and fetched into it from a Hugging Face hub. The cache is
// that of Hugging Face's own tools, and the environment sets where it and the hub are:
// HF_HUB_CACHE, HF_HOME, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokamak/error.h"

namespace tokamak {

/// One revision of a model in the cache.
struct StoredModel {
  std::string name = {};                    // org/name
  std::string commit = {};                  // "" where nothing of it is whole yet
  std::vector<std::string> revisions = {};  // branches and tags that mean this commit
  std::string folder = {};                  // what ModelOptions::model may name, too
  std::vector<std::string> files = {};      // that are there, relative to it
  uint64_t bytes = 0;                       // of these
  uint64_t partial_bytes = 0;               // that have come of others
  std::string missing = {};                 // why it cannot be opened; "" where it can
};

/// By name and commit. Errors: a cache that cannot be read, or has no place.
Result<std::vector<StoredModel>> list_models();

/// The folder or file that ModelOptions::model means: a path, org/name[@revision][:file] in the
/// cache, or "" for the built-in model. Errors name the way to get what is not there.
Result<std::string> locate_model(const std::string& model);

/// A step of pull_model(): asking the hub, waiting for it or for another pull, fetching, comparing
/// hashes.
enum class PullStage : uint8_t { kLookUp, kWait, kFetch, kCheck };

struct PullProgress {
  PullStage stage = PullStage::kLookUp;
  std::string text = {};         // the file that is looked up or checked; why it waits
  uint64_t done = 0, total = 0;  // bytes of all files; those that were there count as done
};

struct PullOptions {
  /// Called several times a second. False cancels; what has come stays for the next pull.
  std::function<bool(const PullProgress&)> progress = {};
};

struct PulledModel {
  std::string path = {};  // for ModelOptions::model
  std::string commit = {};
  uint32_t files = 0;
  uint64_t bytes = 0;    // of these
  uint64_t fetched = 0;  // over the network
};

/// Fetches what is missing of a model: org/name[@revision][:file or quantization]; blocks. Errors:
/// a name that is none, a model that the hub does not have or show, no network, a full disk,
/// kCancelled.
Result<PulledModel> pull_model(std::string_view name, const PullOptions& options = {});

}  // namespace tokamak
