// The passages of a store about a question, as a text of limited length for a prompt, with sources.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "memory/search.h"

namespace tokamak::memory {

/// A passage: a chunk, neighbouring ones as one, or the beginning of one.
struct Record {
  int64_t document = 0;
  std::vector<int64_t> chunks;
  double score = 0;  // of its best chunk
  std::string source, title, text;
  uint64_t start = 0, stop = 0;  // bytes of the document's text
};

struct Recalled {
  /// A fixed sentence, and the passages, every line after "> ": no text in them can end the
  /// quotation. "" where nothing was found or fits.
  std::string context;
  std::vector<Record> records;  // as the context numbers them, from 1
  size_t tokens = 0;            // of the context
};

/// Takes hits as long as `budget` tokens have room for them, frame and all; `hits` are best first.
/// Where not even one fits, it is the best one's beginning, up to the end of a sentence.
Result<Recalled> recall(std::span<const Hit> hits, size_t budget, const CountTokens& count);

/// {context, records: [{id, chunks, score, source, title, start, stop}], tokens}
Json to_json(const Recalled& recalled);

}  // namespace tokamak::memory
