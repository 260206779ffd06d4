#include "memory/writer.h"

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/utf8.h"
#include "memory/normalise.h"
#include "memory/search.h"
#include "memory/vectors.h"
#include "text/unicode/clusters.h"
#include "text/unicode/unicode.h"

namespace tokamak::memory {
namespace {

constexpr size_t kBatch = 16;
constexpr size_t kTitleBytes = 80;

/// The first heading, else the first line.
std::string title_of(std::string_view text) {
  std::string_view first;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    if (line.starts_with("# ")) {
      first = trimmed(line.substr(2));
      break;
    }
    if (first.empty()) first = line;
    at = end + 1;
  }
  return std::string(cluster_prefix(first, kTitleBytes));
}

Failure stopped() {
  return fail(ErrorCode::kCancelled, "");
}

Result<Model> model_of(const Embedder& embedder) {
  TOK_TRY(std::vector<float> own, fingerprint(embedder));
  const uint32_t dimension = dimension_of(own);
  return Model{.name = embedder.name,
               .pooling = embedder.pooling,
               .dimension = dimension,
               .fingerprint = std::move(own)};
}

}  // namespace

Result<void> check_text(std::string_view bytes) {
  if (bytes.find('\0') != bytes.npos) return invalid_input("The file has bytes that are no text.");
  if (is_valid_utf8(bytes)) return {};
  size_t line = 1;
  for (size_t at = 0; at < bytes.size(); ++line) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    if (!is_valid_utf8(bytes.substr(at, end - at))) break;
    at = end + 1;
  }
  return invalid_input("Line {} is not UTF-8.", line);
}

bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char c = first_char(text);
    if (!is_whitespace(c.value) && !is_control_or_format(c.value)) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

Result<void> Writer::begin() {
  TOK_TRY(const Model own, model_of(embedder_));
  TOK_TRY(const bool is_known, has_model(store_, embedder_, own.fingerprint));
  return is_known ? Result<void>() : store_.add_model(own);
}

Result<std::vector<StoredChunk>> Writer::embedded(const std::string& text,
                                                  const Progress& progress) {
  ChunkSizes sizes = sizes_;
  sizes.tokens = std::min(sizes.tokens, embedder_.max_tokens);
  TOK_TRY(const std::vector<Chunk> chunks, chunks_of(text, embedder_.count, sizes));
  std::vector<StoredChunk> out;
  for (size_t at = 0; at < chunks.size(); at += kBatch) {
    const auto batch = std::span(chunks).subspan(at, std::min(kBatch, chunks.size() - at));
    std::vector<std::string> texts;
    for (const Chunk& chunk : batch) {
      texts.emplace_back(
          trimmed(std::string_view(text).substr(chunk.start, chunk.stop - chunk.start)));
    }
    TOK_TRY(const auto rows, embedder_.embed(texts, Side::kDocument));
    for (size_t i = 0; i < batch.size(); ++i) {
      out.push_back({.start = batch[i].start,
                     .stop = batch[i].stop,
                     .tokens = uint32_t(batch[i].tokens),
                     .text = text.substr(batch[i].start, batch[i].stop - batch[i].start),
                     .vector = to_f16(rows[i])});
    }
    if (progress && !progress(out.size(), chunks.size())) return stopped();
  }
  return out;
}

Result<Added> Writer::add(const NewText& added, const Progress& progress) {
  TOK_TRY(check_text(added.text));
  TOK_TRY(const Redacted clean, redactor_.redact(normalise(added.text)));
  if (is_blank(clean.text)) return invalid_input("The text is empty.");
  Added out{.redacted = clean.counts};
  TOK_TRY(const std::optional<int64_t> same, store_.find(added.source, clean.text));
  if (same) {
    out.kind = Added::Kind::kUnchanged;
    out.id = *same;
    return out;
  }
  TOK_TRY(const std::vector<StoredChunk> chunks, embedded(clean.text, progress));
  TOK_TRY(Transaction transaction, store_.begin());
  if (!added.source.empty()) {
    TOK_TRY(const std::vector<int64_t> older, store_.of_source(added.source));
    for (const int64_t id : older) TOK_TRY(store_.remove(id));
    if (!older.empty()) out.kind = Added::Kind::kReplaced;
  }
  const Document document = {.source = added.source,
                             .title = title_of(clean.text),
                             .added = added.added,
                             .meta = added.meta};
  TOK_TRY(out.id, store_.put(document, clean.text));
  TOK_TRY(store_.put_chunks(out.id, chunks));
  TOK_TRY(transaction.commit());
  out.chunks = chunks.size();
  return out;
}

Result<void> Writer::rebuild(const Progress& progress) {
  TOK_TRY(const Model own, model_of(embedder_));
  TOK_TRY(const std::optional<Model> newest, store_.model());
  TOK_TRY(uint64_t left, store_.outdated());
  const bool continues = left > 0 && newest && is_same_model(newest->fingerprint, own.fingerprint);
  if (!continues) {
    TOK_TRY(store_.add_model(own));
    TOK_TRY(left, store_.outdated());
  }
  for (uint64_t done = 0;; ++done) {
    if (progress && !progress(size_t(done), size_t(std::max(done, left)))) return stopped();
    TOK_TRY(const std::optional<int64_t> next, store_.next_outdated());
    if (!next) break;
    TOK_TRY(const std::string text, store_.text(*next));
    TOK_TRY(const std::vector<StoredChunk> chunks, embedded(text, nullptr));
    TOK_TRY(Transaction transaction, store_.begin());
    TOK_TRY(store_.put_chunks(*next, chunks));
    TOK_TRY(transaction.commit());
  }
  return store_.drop_old_models();
}

}  // namespace tokamak::memory
