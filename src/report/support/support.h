// The parts of a checkpoint that run here, by backend, and why the rest does not: what
// `tokamak inspect --support` shows. No part hides another: each is looked at by itself. Nothing is
// loaded and no device is opened.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "formats/unread.h"

namespace tokamak {

struct SupportRow {
  std::string part;  // "architecture", "weights", "tokenizer"
  std::string id;    // for programs, the same from version to version: "weights/IQ3_S"
  /// Nothing where it is no matter of a backend.
  std::optional<bool> cpu, cuda, webgpu;
  std::string what;  // what it is, or why it does not run
};

/// A row that is alike on all backends.
SupportRow alike(std::string part, std::string id, bool runs, std::string what);

/// `unread`: the tensors of the model that `files` has not. The columns of CUDA and WebGPU are for
/// devices that grant no more than every device does.
std::vector<SupportRow> support(const ModelFiles& files, const UnreadTensors& unread,
                                const OpenOptions& options);

std::string support_text(const std::vector<SupportRow>& rows);
Json support_json(const std::vector<SupportRow>& rows);

}  // namespace tokamak
