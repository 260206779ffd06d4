// An architecture built from a config alone, on a file of wishes: which tensors it asks for, and
// all that the config decides.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "formats/unread.h"
#include "formats/wishes.h"
#include "model/arch.h"

namespace tokamak {

struct WishedModel {
  std::vector<TensorInfo> tensors;  // that it asks for, as f32, by name
  std::optional<Graph> graph;       // nothing: see `error`; a codec has none
  Error error;
  /// Facts, graphs and errors of all parts: equal where configs mean the same.
  std::string text;
};

/// REQUIRES: config.json of `config` outlives the call.
WishedModel wished_model(const Architecture& architecture, const ConfigReader& config,
                         Wishes::Names promised = {});

/// The same without the graphs: cheap, and enough where a mistake shows.
std::string facts_text(const Architecture& architecture, const ConfigReader& config);

/// The names that the checkpoint can promise: its own and, of packed matrices, the plain ones.
Wishes::Names promised_names(const TensorFile& file, const UnreadTensors& unread);

}  // namespace tokamak
