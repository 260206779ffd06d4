// A state: a value that lives from step to step. Its graph declares of which kind it is.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

enum class StateKind : uint8_t {
  kPages,      // cells, one for each position, in pages of a pool that all sequences share
  kRing,       // cells of the last positions only, in pages of each sequence, which recur
  kRecurrent,  // one value for each sequence, of everything before; it cannot take back a position
  kSampled,    // tokens of each sequence: those chosen, those that have occurred, those allowed
};

/// A part of a cell: `heads` vectors of `width` elements.
struct StateStream {
  std::string name;
  uint32_t heads = 1, width = 0;
  bool operator==(const StateStream&) const = default;
};

struct StateSpec {
  StateKind kind = StateKind::kPages;
  std::vector<StateStream> streams =
      {};  // of a cell, in their order; none where there are no cells
  bool operator==(const StateSpec&) const = default;

  bool has_cells() const { return kind == StateKind::kPages || kind == StateKind::kRing; }
};

}  // namespace tokamak
