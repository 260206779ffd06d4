// A text that the build puts into the program (tools/embed.py).
#pragma once
#include <string_view>

namespace tokamak {

struct EmbeddedFile {
  std::string_view name;  // relative to the folder it was embedded from: "norm/rms_norm.wgsl"
  std::string_view text;
};

}  // namespace tokamak
