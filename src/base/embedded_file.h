// A text that the build puts into the program (tools/embed.py).
#pragma once
#include <span>
#include <string_view>

#include "base/check.h"

namespace tokamak {

struct EmbeddedFile {
  std::string_view name;  // relative to the folder it was embedded from: "norm/rms_norm.wgsl"
  std::string_view text;
};

/// REQUIRES: one of them has the name.
inline std::string_view find_text(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  const bool is_embedded = false;
  TOK_CHECK(is_embedded);
  return {};
}

}  // namespace tokamak
