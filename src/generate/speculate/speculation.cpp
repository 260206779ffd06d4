#include "generate/speculate/speculation.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace tokamak {
namespace {

/// By how much tokens have to come faster: the change from one kind of step to the other costs.
constexpr double kMargin = 1.1;
constexpr uint32_t kAutoTokens = 15;
/// A draft model takes as long for the last token of a draft, which seldom comes true, as for the
/// first.
constexpr uint32_t kModelTokens = 5;
constexpr uint32_t kMaxRetries = 6;  // that make the next one come later

}  // namespace

Result<SpeculationOptions> speculation_from_text(std::string_view text, bool has_draft_model) {
  if (text.empty()) text = has_draft_model ? "auto" : "off";
  if (text == "off") return SpeculationOptions{};
  if (text == "auto") return SpeculationOptions{kAutoTokens, true, has_draft_model};
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view source = text.substr(0, colon), number = text.substr(colon);
  const bool asks_model = source == "draft";
  uint32_t tokens = asks_model ? kModelTokens : kAutoTokens;
  bool is_known = asks_model || source == "lookup";
  if (!number.empty()) {
    const char* const last = number.data() + number.size();
    const auto [end, error] = std::from_chars(number.data() + 1, last, tokens);
    is_known = is_known && error == std::errc() && end == last && tokens >= 1 &&
               tokens < StepTimes::kMaxRows;
  }
  if (!is_known) {
    return fail(ErrorCode::kUsage,
                "speculate is \"{}\", expected off, auto, lookup, draft, or one of the latter with "
                "a number of tokens, as lookup:1 to lookup:63.",
                text);
  }
  if (asks_model && !has_draft_model) {
    return fail(ErrorCode::kUsage,
                "speculate is \"{}\", but there is no draft model; name one (--draft).", text);
  }
  if (!asks_model && has_draft_model) {
    return fail(
        ErrorCode::kUsage,
        "speculate is \"{}\", which asks no draft model, but there is one; expected auto or "
        "draft.",
        text);
  }
  return SpeculationOptions{tokens, false, asks_model};
}

size_t DraftRates::kind_of(uint32_t match) {
  return std::min<size_t>(size_t(std::bit_width(std::max(match, 1u))) - 1, 4);
}

void DraftRates::took(uint32_t match, uint32_t accepted, uint32_t drafted) {
  constexpr double kKept = 0.98;  // some fifty tokens count
  Kind& kind = kinds_[kind_of(match)];
  for (uint32_t i = 0; i < std::min(accepted + 1, drafted); ++i) {
    kind.tried = kind.tried * kKept + 1;
    kind.accepted = kind.accepted * kKept + (i < accepted ? 1 : 0);
  }
}

double DraftRates::rate(uint32_t match, double prior, double trust) const {
  constexpr double kPriorTries = 4;
  const Kind& kind = kinds_[kind_of(match)];
  return (trust * kind.accepted + kPriorTries * prior) / (trust * kind.tried + kPriorTries);
}

size_t StepTimes::kind_of(uint32_t rows) {
  return size_t(std::bit_width(rows - 1));
}

void StepTimes::took(uint32_t rows, double seconds, double weight) {
  if (seconds <= 0 || rows == 0 || rows > kMaxRows) return;
  trust_ = 1;
  Kind& kind = kinds_[kind_of(rows)];
  // The first one may have met cold caches, and any may have been interrupted.
  if (++kind.timed <= 2) {
    kind.seconds = kind.timed == 1 ? seconds : std::min(kind.seconds, seconds);
    return;
  }
  const double now = std::min(seconds, 2 * kind.seconds);
  kind.seconds += (now - kind.seconds) * weight;
}

double StepTimes::seconds(uint32_t rows) const {
  const size_t own = kind_of(std::clamp(rows, 1u, kMaxRows));
  double known = 0;
  for (size_t i = 0; i <= own; ++i) {
    if (kinds_[i].timed > 1) known = std::max(known, kinds_[i].seconds);
  }
  for (size_t i = own + 1; known == 0 && i < kinds_.size(); ++i) {
    if (kinds_[i].timed > 1) known = kinds_[i].seconds;
  }
  return known * trust_;
}

uint32_t StepTimes::most_to_try(uint32_t rows) const {
  size_t kind = kind_of(std::clamp(rows, 1u, kMaxRows));
  while (kind + 1 < kinds_.size() && kinds_[kind].timed > 1) ++kind;
  return 1u << kind;
}

uint32_t Speculation::most_drafted(std::span<const DraftChance> chances, uint32_t max_rows,
                                   bool is_made) const {
  const auto sequences = uint32_t(chances.size());
  uint32_t longest = 0;
  for (const DraftChance& one : chances) {
    longest = std::max(longest, one.tokens - std::min(one.tokens, one.lag));
  }
  const double plain = plain_.seconds(sequences);
  if (longest == 0 || (options_.adapts && plain == 0)) return 0;
  if (options_.adapts) max_rows = std::min(max_rows, verify_.most_to_try(sequences + 1));
  if (options_.adapts && !is_made) longest = std::min(longest, draft_.most_to_try(1));
  uint32_t best = 0;
  double best_rate = kMargin * sequences / plain;
  for (uint32_t most = 1; most <= longest; ++most) {
    uint32_t rows = sequences;
    double tokens = sequences;
    double draft = is_made ? 0 : draft_.seconds(most);
    for (const DraftChance& one : chances) {
      const uint32_t count = std::min(one.tokens - std::min(one.tokens, one.lag), most);
      rows += count;
      double chance = std::pow(one.rate, double(one.lag));
      double own = 1;
      for (uint32_t i = 0; i < count; ++i) own += chance *= one.rate;
      tokens += own - 1;
      // A context that is read once serves all the tokens to come.
      if (!is_made && count > 0)
        draft += one.unread * read_seconds_ * std::min(1.0, own / one.left);
    }
    if (rows > max_rows) break;
    if (!options_.adapts) {
      best = most;
      continue;
    }
    const double rate = tokens / (std::max(verify_.seconds(rows), plain) + draft);
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = most;
  }
  return best;
}

void Speculation::decided(bool verifies) {
  // The other kind of step is timed again now and then; one that did not pay half as often.
  if (verifies) {
    plain_.fade(0.999);
    retries_ = verify_.has_faded() ? std::min(retries_ + 1, kMaxRetries) : 0;
  } else {
    const double kept = 1 - 0.003 / double(1u << retries_);
    verify_.fade(kept);
    draft_.fade(kept);
    // A sequence's own matches are seen without a step; a model would never be called again.
    if (options_.asks_model) trust_ *= kept;
  }
}

void Speculation::decoded(uint32_t rows, uint32_t steps, double seconds) {
  // Slower ones than those before may have waited for the host: they are believed by and by.
  const bool is_slower = seconds > plain_.seconds(rows);
  plain_.took(rows, seconds, is_slower ? 1.0 / 16 : 1 - std::pow(0.75, double(steps)));
}

void Speculation::read(uint32_t tokens, double seconds) {
  if (tokens == 0 || seconds <= 0) return;
  const double each = seconds / tokens;
  read_seconds_ = read_seconds_ == 0 ? each : read_seconds_ + (each - read_seconds_) / 4;
}

void Speculation::settled(DraftRates& own, uint32_t match, uint32_t accepted, uint32_t drafted) {
  own.took(match, accepted, drafted);
  rates_.took(match, accepted, drafted);
  trust_ = 1;
}

double Speculation::rate(const DraftRates& own, uint32_t match) const {
  // Before anything is known: the longer the match, the likelier.
  const double guess = std::min(0.25 * std::bit_width(std::max(match, 1u)), 0.9);
  return own.rate(match, rates_.rate(match, guess, trust_), trust_);
}

void Drafter::settle(std::span<const uint32_t> ids, Speculation& speculation) {
  const size_t come = std::min(ids.size() - std::min(ids.size(), place_), draft_.ids.size());
  if (come == 0) return;
  const auto [wrong, ignored] = std::ranges::mismatch(draft_.ids, ids.subspan(place_, come));
  const auto accepted = uint32_t(wrong - draft_.ids.begin());
  speculation.settled(rates_, draft_.match, accepted, uint32_t(come));
  draft_.ids.clear();
}

void Drafter::keep(Draft draft, size_t place, uint32_t vocab) {
  draft_ = std::move(draft);
  const auto unknown = [vocab](uint32_t id) { return id >= vocab; };  // of an image
  draft_.ids.erase(std::ranges::find_if(draft_.ids, unknown), draft_.ids.end());
  place_ = place;
}

void Drafter::take(std::vector<uint32_t> ids, size_t length, uint32_t vocab) {
  keep({std::move(ids), kModelMatch}, length, vocab);
}

const Draft& Drafter::propose(std::span<const uint32_t> ids, uint32_t most, uint32_t vocab,
                              Speculation& speculation) {
  settle(ids, speculation);
  keep(lookup_.draft(ids, most), ids.size(), vocab);
  return draft_;
}

}  // namespace tokamak
