// The tokenizer inside a GGUF file: the keys "tokenizer.ggml.*" of its metadata, read by whoever
// opens the file, and a Tokenizer made of them by Tokenizer::from_gguf.
//
// A GGUF keeps a vocabulary, but of the steps around it only names. What the names mean here is
// what the tokenizer.json of the models that carry them says; where that differs from llama.cpp
// (src/llama-vocab.cpp), the model's own tokenizer counts.
//
//   "gpt2"    byte-level BPE by merges; `pre` names how the text is cut (gguf_pre_tokenizer.h)
//   "llama"   SentencePiece BPE: the neighbours whose piece has the highest score are merged
//   "gemma4"  SentencePiece text, BPE by merges
//   "t5"      SentencePiece Unigram, by scores
//   "bert"    WordPiece; tokens that start a word are marked instead of those that continue one
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/tokenizer_parts.h"

namespace tokamak {

/// An array that the file does not have is empty, a string likewise.
struct GgufVocab {
  std::string model;
  std::string pre;
  std::string architecture, name;    // "general.architecture" and "general.name"
  std::vector<std::string> tokens;   // by id
  std::vector<float> scores;         // by id
  std::vector<int32_t> token_types;  // by id: 1 normal, 2 unknown, 3 control, 4 user defined,
                                     // 5 unused, 6 byte
  std::vector<std::string> merges;   // "left right", by rank
  std::string charsmap;              // the bytes of "precompiled_charsmap"

  // The keys "bos_token_id", ..., "unknown_token_id", "seperator_token_id", "padding_token_id".
  std::optional<uint32_t> bos, eos, eot, eom, unk, sep, pad, mask;
  std::vector<uint32_t> more_ends;  // where a file has a list of them
  // "add_bos_token", ..., "add_space_prefix", "remove_extra_whitespaces".
  std::optional<bool> add_bos, add_eos, add_sep, add_space_prefix, remove_extra_spaces;
  // "normalizer.lowercase" and "normalizer.strip_accents", for "bert".
  std::optional<bool> lowercase, strip_accents;
};

/// Errors name the key that is wrong, not the file.
Result<TokenizerParts> read_gguf_parts(const GgufVocab& vocab);

}  // namespace tokamak
