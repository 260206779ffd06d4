// Which parts of a checkpoint run here, on which backend, and why the others do not: what
// `tokamak inspect --support` shows. Nothing is loaded and no device is opened.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tokamak {

struct SupportRow {
  std::string part;  // "architecture", "tokenizer", "vision_tower"
  bool cpu = false, webgpu = false;
  std::string what;  // what it is, or why it does not run
};

/// Each stage of opening the model is tried by itself, so that one that fails hides no other. The
/// WebGPU column is for a device that grants no more than every device does.
std::vector<SupportRow> support(const ModelFiles& files, const OpenOptions& options);

std::string support_text(const std::vector<SupportRow>& rows);
Json support_json(const std::vector<SupportRow>& rows);

}  // namespace tokamak
