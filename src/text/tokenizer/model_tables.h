// The two large members of a BPE tokenizer.json, "vocab" and "merges" of "model", as lists instead
// of JSON trees: some 800 000 small strings, whose tree takes longer to build than all the rest.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace tokamak {

struct TokenEntry {
  std::string_view token;
  uint32_t id;
};

struct MergePair {
  std::string_view left, right;
};

/// Borrows the text that it was read from.
struct ModelTables {
  std::vector<TokenEntry> vocab;
  std::vector<MergePair> merges;
  bool merges_are_strings = false;    // "left right", not ["left", "right"]
  std::deque<std::string> unescaped;  // the strings that were written with a backslash
};

struct TokenizerDocument {
  Json rest;  // "vocab" and "merges" are null
  ModelTables tables;
};

/// Reads the plain form only: a BPE model, ids of up to nine digits, merges of one style. Nothing
/// for any other text, right or wrong, which Json::parse is for.
std::optional<TokenizerDocument> split_model_tables(std::string_view tokenizer_json);

}  // namespace tokamak
