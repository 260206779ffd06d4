// The layers that an architecture writes by itself.
#pragma once
#include <string>

#include "model/model_builder.h"

namespace tokamak {

/// Layer `index` of a model of configuration `c`. `kAddsOne`: norms are stored as w - 1.
template <typename Config, bool kAddsOne = false>
struct LayerBase {
  ModelBuilder& b;
  const Config& c;
  uint32_t index = 0;
  std::string p = fmt::format("layers.{}.", index);

  ValueId norm(const char* name, ValueId x, uint32_t size) const {
    return b.rms_norm(x, b.vector(p + name + ".weight", size, kAddsOne), c.eps);
  }
};

}  // namespace tokamak
