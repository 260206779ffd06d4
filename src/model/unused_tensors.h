// The tensors of a checkpoint that a graph does not read: parts of the model that this engine
// leaves out on purpose, and others that nobody expected. The second kind is worth a word to the
// user: a weight that is not used is often the sign of an answer that is not right.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/tensor_file.h"
#include "graph/graph.h"
#include "model/speech.h"

namespace tokamak {

struct UnusedTensors {
  /// Left out knowingly: "vision_tower", "mtp" -> how many tensors.
  std::map<std::string, uint32_t> parts;
  /// All others, in the order of their names.
  std::vector<std::string> unknown;
};

UnusedTensors unused_tensors(const TensorFile& file, const Graph& graph,
                             std::span<const SoundStage> stages = {});

/// One sentence on the unknown ones; "" when there are none.
std::string unknown_tensors_notice(const UnusedTensors& unused, std::string_view architecture);

}  // namespace tokamak
