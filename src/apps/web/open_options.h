// How the page wants a model opened.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"
#include "engine/open_options.h"

namespace tokamak::web {

/// A file that the page reads for the module.
struct HostFile {
  std::string name;  // in the model's folder
  uint64_t size = 0;
  uint32_t id = 0;  // the page's number of it
};

struct Opening {
  std::string name = "The model";
  std::vector<HostFile> files;
  bool self_test = true;
  OpenOptions options;
  std::optional<DeviceInfo> assumed;  // in place of the browser's, for looking at a model
};

/// The names of features as in WebGPU.
Json::Array feature_names(Features features);

/// {name, files: [{name, size, id}], backend, context, sequences, cacheTokens, kv, quantize,
/// pooling, chunk, selfTest, f16, subgroups, defaultLimits, submitDispatches}: what OpenOptions has
/// of these names; megapixels of an image where the model sees, 0: it reads text only; and device:
/// {features, subgroupSize}.
Result<Opening> read_opening(const Json& json);

}  // namespace tokamak::web
