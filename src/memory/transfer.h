// A store as lines of JSON and back, for backups and other programs. The first line is
//   {"tokamak_memory": 1, "model": {name, pooling, dimension, fingerprint}, "rules": [...]}
// and every other one a document:
//   {id, source, title, added, meta, chunks: [{id, start, stop, tokens, text, vector}]}
// "vector" is f16, "fingerprint" f32, little end first, in base64. Each chunk's text is the bytes
// from start to stop of the document's; together they are all of it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "memory/store.h"

namespace tokamak::memory {

/// `write` takes one line after another, without its end. Errors: its own; a store that is being
/// rebuilt.
Result<void> export_lines(const Store& store, const Filter& filter,
                          const std::function<Result<void>(std::string_view line)>& write);

struct Imported {
  uint64_t added = 0, known = 0;  // documents
};

/// All or nothing. Documents and chunks keep their ids where these are free; a document that is
/// there with the same source and text stays as it is. `next` gives lines, nothing at the end.
/// Errors name the line: no such file, another model than the store's; and those of `next`.
Result<Imported> import_lines(const Store& store,
                              const std::function<Result<std::optional<std::string>>()>& next);

}  // namespace tokamak::memory
