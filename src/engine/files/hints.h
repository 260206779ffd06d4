// tokamak.json: what the maker of a model recommends for running it.
//
//   {"kv": "f32", "kernels": {"linear": "linear.wgsl.any", "attention": ["a", "b"]}}
//
// Recommendations, not commands: flags of the command line come first, and a kernel that a device
// does not run is passed over, which `tokamak inspect` shows. Every mistake in the file is an
// error.
#pragma once
#include <optional>
#include <string>

#include "base/json.h"
#include "kernels/select.h"

namespace tokamak {

struct ModelHints {
  bool present = false;           // there is such a file
  std::optional<std::string> kv;  // "f32", "f16" or "q8": where --kv is auto
  ForcedVariants kernels;
};

/// `json` unset: no file. `where` is shown in messages. Errors: no JSON object, a name that is not
/// known or occurs twice, a value of another kind, an op or a kernel that there is not.
Result<ModelHints> read_hints(const std::optional<Json>& json, const std::string& where);

}  // namespace tokamak
