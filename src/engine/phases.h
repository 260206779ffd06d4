// The phases of a model's main part: which steps have a graph of their own, and kernels that are
// chosen for as many rows.
#pragma once
#include <vector>

#include "compile/part.h"

namespace tokamak {

/// The facts that decide which phases there are.
struct PhaseFacts {
  uint32_t chunk = 1, context = 1, sequences = 1;
  bool gives_text = false;
  uint32_t draft_tokens = 0;  // that a step verifies for each sequence; 0: it verifies none
  bool is_parallel = false;   // as of fuse::Target
  bool has_matrix = false;    // units that multiply matrices
  bool by_rows = true;        // kernels are chosen by how many rows a step has
  bool has_few_rows = false;  // kernels for up to kFewRows rows
  size_t images = 0;          // the graph of steps with images; 0: none
  /// Most rows of each stage of a sound, whose graphs are `sound` and those after it.
  std::vector<uint32_t> sound_rows;
  size_t sound = 0;
};

/// In the order of the plan.
std::vector<PhaseSpec> phases_of(const PhaseFacts& facts);

}  // namespace tokamak
