// The way of a text into a store: into its normal form, without secrets, in chunks, through the
// model, and at once into all tables. Secrets are gone before anything else sees the text.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "memory/chunk.h"
#include "memory/embedder.h"
#include "memory/redact.h"
#include "memory/store.h"

namespace tokamak::memory {

struct NewText {
  std::string source;  // where it is from, such as a path; "" for none
  std::string text;
  int64_t added = 0;  // seconds of 1970
  Json meta = Json(Json::Object());
};

struct Added {
  enum class Kind : uint8_t { kNew, kReplaced, kUnchanged } kind = Kind::kNew;
  int64_t id = 0;
  size_t chunks = 0;
  std::array<uint32_t, 4> redacted = {};  // by Secret
};

/// Checks that bytes are text in UTF-8. Errors name the first line that is not.
Result<void> check_text(std::string_view bytes);
/// Whether a text has nothing that could be found.
bool is_blank(std::string_view text);

/// Called after each batch of chunks; false stops.
using Progress = std::function<bool(size_t done, size_t all)>;

class Writer {
 public:
  /// REQUIRES: all outlive the writer.
  Writer(const Store& store, const Embedder& embedder, const Redactor& redactor, ChunkSizes sizes)
      : store_(store), embedder_(embedder), redactor_(redactor), sizes_(sizes) {}

  /// Makes the embedder the store's where it has none; to be called first. Errors: check_model()'s.
  Result<void> begin();

  /// A text of a source that the store has takes the place of the older one; the same text changes
  /// nothing. Errors: a text that is empty or none, and those of the embedder and the store, which
  /// leave the store as it was.
  Result<Added> add(const NewText& added, const Progress& progress);

  /// Makes all chunks and vectors again by the embedder, document after document; what was
  /// interrupted goes on where it was. Ids of documents stay. `progress` counts documents.
  Result<void> rebuild(const Progress& progress);

 private:
  Result<std::vector<StoredChunk>> embedded(const std::string& text, const Progress& progress);

  const Store& store_;
  const Embedder& embedder_;
  const Redactor& redactor_;
  ChunkSizes sizes_;
};

}  // namespace tokamak::memory
