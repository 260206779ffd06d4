#include "generate/sample/grammar_filter.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/utf8.h"
#include "text/grammar/token_bytes.h"

namespace tokamak {
namespace {

/// Longer runs are taken in parts.
constexpr size_t kMaxForcedBytes = 512;
/// So much of the text before a run decides where words begin.
constexpr size_t kMaxContextBytes = 256;

/// Bytes up to the end of the last character that is whole.
size_t whole_characters(std::string_view bytes) {
  size_t end = bytes.size();
  while (end > 0 && !is_valid_utf8(bytes.substr(0, end))) --end;
  return end;
}

Failure too_wide() {
  return invalid_input(
      "The grammar has more than {} ways to go on after the text so far, or some that take too "
      "long to follow; repetitions of what may be empty, or of each other, are the commonest "
      "cause.",
      GrammarMatcher::kMaxThreads);
}

}  // namespace

GrammarFilter::GrammarFilter(std::shared_ptr<GrammarMasks> masks, const Tokenizer& tokenizer,
                             std::span<const uint32_t> end_ids)
    : masks_(std::move(masks)),
      places_(masks_->places()),
      matcher_(places_),
      tokenizer_(&tokenizer),
      end_ids_(end_ids.begin(), end_ids.end()) {}

void GrammarFilter::use_shared_tables() {
  masks_->renew_if_full();
  if (places_ != masks_->places()) {
    places_ = masks_->places();
    matcher_.move_to(places_);
  }
  places_->renew_budget();
}

bool GrammarFilter::allows(uint32_t id) {
  if (end_ids_.contains(id)) return matcher_.may_end();
  use_shared_tables();
  if (!is_sure()) return false;
  if (const TokenSet* known = masks_->known_after(matcher_.here(), begins_)) {
    return has_token(*known, id);
  }
  const std::string bytes = grammar_bytes(*tokenizer_, id, begins_);
  return !bytes.empty() && matcher_.allows(bytes);
}

bool GrammarFilter::has_mask() {
  use_shared_tables();
  return masks_->known_after(matcher_.here(), begins_) != nullptr;
}

Result<std::span<const uint32_t>> GrammarFilter::mask(size_t vocab) {
  use_shared_tables();
  if (!is_sure()) return too_wide();
  const TokenSet& set = masks_->after(matcher_.here(), begins_);
  if (!is_sure()) return too_wide();
  mask_.assign(ceil_div<size_t>(vocab, 32), 0);
  for (size_t i = 0; i < std::min(mask_.size(), 2 * set.size()); ++i) {
    mask_[i] = uint32_t(set[i / 2] >> (32 * (i % 2)));
  }
  if (vocab % 32 != 0) mask_.back() &= (1u << vocab % 32) - 1;
  const bool may_end = matcher_.may_end();
  for (const uint32_t id : end_ids_) {
    if (id >= vocab) continue;
    const uint32_t bit = 1u << id % 32;
    mask_[id / 32] = may_end ? mask_[id / 32] | bit : mask_[id / 32] & ~bit;
  }
  if (std::ranges::all_of(mask_, [](uint32_t word) { return word == 0; })) {
    return invalid_input(
        "No token of the vocabulary goes on with the text so far as the grammar says{}.",
        may_end ? ", and the model has no token that ends it" : "");
  }
  return mask_;
}

Result<std::span<const float>> GrammarFilter::allowed(std::span<const float> logits) {
  TOK_TRY(const std::span<const uint32_t> bits, mask(logits.size()));
  logits_.assign(logits.size(), kRemoved);
  for (size_t i = 0; i < bits.size(); ++i) {
    for (uint32_t word = bits[i]; word != 0; word &= word - 1) {
      const size_t id = 32 * i + size_t(std::countr_zero(word));
      logits_[id] = logits[id];
    }
  }
  return logits_;
}

void GrammarFilter::push(uint32_t id) {
  if (end_ids_.contains(id)) return;
  use_shared_tables();
  const std::string bytes = grammar_bytes(*tokenizer_, id, begins_);
  matcher_.push(bytes);
  const bool is_special = tokenizer_->is_special(id);  // no text is cut across it
  if (is_special || text_.size() + bytes.size() > kMaxContextBytes) text_.clear();
  if (!is_special) text_ += bytes;
  begins_ = false;
}

std::vector<uint32_t> GrammarFilter::forced() {
  use_shared_tables();
  std::string run = matcher_.forced(kMaxForcedBytes);
  run.resize(whole_characters(run));
  if (run.empty() || !is_sure() || !is_valid_utf8(text_)) return {};
  auto ids = tokens_of(run);
  if (!ids) return {};
  GrammarMatcher after = matcher_;
  after.push(run);
  size_t kept = ids->size();
  std::string end;
  for (size_t i = ids->size(); i-- > 0;) {
    end.insert(0, tokenizer_->bytes((*ids)[i], begins_ && i == 0));
    if (end.size() >= masks_->vocabulary().max_bytes()) break;
    if (masks_->continues(end, after.here())) kept = i;
  }
  ids->resize(kept);
  return *std::move(ids);
}

std::optional<std::vector<uint32_t>> GrammarFilter::tokens_of(std::string_view run) const {
  // With the text before it: words are cut otherwise where they stand alone.
  const std::string text = fmt::format("{}{}", text_, run);
  const auto ids = tokenizer_->encode(text, {.add_special = false, .parse_special = false});
  if (!ids) return {};
  size_t first = 0, bytes = 0;
  while (first < ids->size() && bytes < text_.size()) {
    bytes += tokenizer_->bytes((*ids)[first], first == 0).size();
    ++first;
  }
  if (bytes != text_.size()) return {};
  std::vector<uint32_t> own(ids->begin() + std::ptrdiff_t(first), ids->end());
  std::string taken;
  for (size_t i = 0; i < own.size(); ++i) {
    if (tokenizer_->is_special(own[i])) return {};
    taken += tokenizer_->bytes(own[i], begins_ && i == 0);
  }
  if (taken != run) return {};
  return own;
}

}  // namespace tokamak
