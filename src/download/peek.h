// Looking at a model of a hub without its weights: its texts, and of the weights the headers only.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "formats/unread.h"
#include "hub/model_name.h"
#include "hub/settings.h"

namespace tokamak::download {

struct Peeked {
  std::string commit;
  std::map<std::string, std::string> texts;  // path -> contents: config.json, tokenizer.json, ...
  TensorFile tensors;                        // names, types and shapes; asking for data is an error
  UnreadTensors unread;                      // those of types that are not read
  uint64_t fetched = 0;                      // bytes of weight files that were fetched

  /// "" when there is no such file.
  std::string text(const std::string& path) const;
};

/// Fetches the texts that say what a model is, and of every file of weights 8 bytes and the header
/// that they announce. Nothing is kept on disk. `looking_at` gets what is fetched.
Result<Peeked> peek(const hub::Settings& settings, const hub::ModelName& name,
                    const std::function<void(const std::string&)>& looking_at,
                    const std::function<bool()>& cancelled);

}  // namespace tokamak::download
