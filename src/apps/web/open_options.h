// How the page wants a model opened.
#pragma once
#include <string>
#include <vector>

#include "base/json.h"
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
};

/// {name, files: [{name, size, id}], backend, context, sequences, cacheTokens, kv, quantize,
/// pooling, chunk, selfTest, f16, subgroups, defaultLimits, submitDispatches}: what OpenOptions has
/// of these names; and megapixels of an image where the model sees, 0: it reads text only.
Result<Opening> read_opening(const Json& json);

}  // namespace tokamak::web
