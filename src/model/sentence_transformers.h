// Reads the files that make a folder an embedding model in the layout of sentence-transformers:
// modules.json lists what follows the transformer, each with a folder of its own. Known are Pooling
// (mean, lasttoken, cls), Dense (identity or tanh) and Normalize at the end; anything else is
// kUnsupported by name. Reference: sentence-transformers, sentence_transformer/models/Pooling.py,
// Dense.py, Normalize.py and sentence_transformer/model.py (prompts).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "model/embedding_head.h"

namespace tokamak {

/// An entry of modules.json.
struct EncoderModule {
  std::string type;    // the last word: "Pooling"
  std::string folder;  // a plain name, or "" for the model's own
};

/// Those files, parsed.
struct EncoderFiles {
  std::vector<EncoderModule> modules;        // modules.json
  std::optional<Json> prompts;               // config_sentence_transformers.json
  std::optional<Json> transformer;           // sentence_bert_config.json
  std::map<std::string, Json> configs = {};  // config.json of the modules' folders that have one
};

/// Nothing when there is no modules.json.
Result<std::optional<EncoderFiles>> read_encoder_files(const ReadText& read);

struct Encoder {
  EmbeddingHead head;
  bool normalize = true;    // to unit length
  uint32_t width = 0;       // of the hidden states; 0: not said
  uint32_t max_tokens = 0;  // longest text it was made for; 0: not said
  bool lower_case = false;  // texts are turned into small letters first
  std::vector<std::pair<std::string, std::string>> prompts;  // name -> what stands before the text
  std::optional<std::string> default_prompt;                 // a name in `prompts`

  /// Numbers of an embedding, of a backbone with `hidden` columns.
  uint32_t dimensions(uint32_t hidden) const {
    return head.dense.empty() ? hidden : head.dense.back().outputs;
  }
};

Result<Encoder> read_encoder(const EncoderFiles& files);

/// "mean", "last" or "cls", as the command line names them.
Result<Pooling> parse_pooling(std::string_view name);

}  // namespace tokamak
