// When guessing pays. A step that verifies drafts takes longer than one that decodes, and the host
// has to see what came of it before the next, while plain steps run ahead on the device: so drafts
// are verified only where the tokens that they are likely to give, by how often such drafts came
// true lately, come faster than by plain steps as these were timed. Nothing here reads a clock.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "generate/speculate/prompt_lookup.h"

namespace tokamak {

struct SpeculationOptions {
  uint32_t draft_tokens = 0;  // most of a sequence in a step; 0: nothing is guessed
  bool adapts = false;        // false: whatever it costs
  bool asks_model = false;    // a draft model guesses; false: the sequence itself says what follows
};

/// "off", "auto", "lookup", "lookup:N", "draft" or "draft:N"; "" is auto where there is a draft
/// model, else off. Errors: anything else, N beyond 1 to 63, draft without a draft model, lookup
/// with one.
Result<SpeculationOptions> speculation_from_text(std::string_view text, bool has_draft_model);

/// How often a drafted token comes true where all before it did, by how many tokens matched.
class DraftRates {
 public:
  /// Counts that of `drafted` tokens the first `accepted` came true.
  void took(uint32_t match, uint32_t accepted, uint32_t drafted);
  /// The rate as if `prior` had been seen some times before, all else only `trust` times as often.
  double rate(uint32_t match, double prior, double trust = 1) const;

 private:
  struct Kind {
    double tried = 0, accepted = 0;  // the last ones count more
  };
  static size_t kind_of(uint32_t match);

  std::array<Kind, 5> kinds_;
};

/// The times of steps, by their rows: up to 1, 2, 4 and so on up to kMaxRows.
class StepTimes {
 public:
  static constexpr uint32_t kMaxRows = 64;

  /// One took so long, which moves what is known by that part of the difference. Times of 0 say
  /// nothing.
  void took(uint32_t rows, double seconds, double weight = 0.25);
  /// The time of a step of that many rows, as far as is known: no less than one of fewer, or where
  /// that is not known as one of more. 0: nothing is.
  double seconds(uint32_t rows) const;
  /// Up to how many rows should be tried, from that number on: what more take is guessed better
  /// when those were timed.
  uint32_t most_to_try(uint32_t rows) const;
  /// Fades what was slow once and may not be any more: it counts as that part of what it did, until
  /// one is timed.
  void fade(double kept) { trust_ *= kept; }
  bool has_faded() const { return trust_ < 1; }

 private:
  struct Kind {
    uint32_t timed = 0;  // how often
    double seconds = 0;  // the last ones count more
  };
  static size_t kind_of(uint32_t rows);

  std::array<Kind, 7> kinds_;
  double trust_ = 1;
};

/// The draft that a sequence may make.
struct DraftChance {
  uint32_t tokens = 0;  // that it has
  double rate = 0;      // of each coming true where all before it did
  uint32_t lag = 0;     // tokens of it that come before a step could verify the others
  uint32_t unread = 0;  // tokens that a draft model must read first
  uint32_t left = 0;    // that the sequence may still be given, which share the cost of that
};

class Speculation {
 public:
  explicit Speculation(const SpeculationOptions& options) : options_(options) {}

  bool is_on() const { return options_.draft_tokens > 0; }
  uint32_t draft_tokens() const { return options_.draft_tokens; }

  /// How many tokens each sequence should draft at most for the next step, of at most `max_rows`
  /// rows, a chance for each sequence in it; 0: plain steps are as fast. `is_made`: the drafts are
  /// there; otherwise a draft model has to make them.
  uint32_t most_drafted(std::span<const DraftChance> chances, uint32_t max_rows,
                        bool is_made = true) const;
  /// Takes the decision: the next step verifies, or plain ones go on.
  void decided(bool verifies);

  /// Takes the time of each of some plain steps, and of a step that verified.
  void decoded(uint32_t rows, uint32_t steps, double seconds);
  void verified(uint32_t rows, double seconds) { verify_.took(rows, seconds); }
  /// Takes the time of a draft model for drafts of that length, and for reading some tokens.
  void drafted(uint32_t tokens, double seconds) { draft_.took(tokens, seconds); }
  void read(uint32_t tokens, double seconds);

  /// A draft of a sequence with those rates, and what came of it.
  void settled(DraftRates& own, uint32_t match, uint32_t accepted, uint32_t drafted);
  double rate(const DraftRates& own, uint32_t match) const;

 private:
  SpeculationOptions options_;
  StepTimes plain_, verify_, draft_;
  double read_seconds_ = 0;  // of a token that a draft model reads; 0: not known
  uint32_t retries_ = 0;     // of what did not pay, one after the other
  DraftRates rates_;         // of all sequences
  double trust_ = 1;         // in rates of a draft model, which nobody sees while it is not asked
};

/// The drafts of one sequence.
class Drafter {
 public:
  /// How likely drafts of a model are to come true before any has: as those of long matches.
  static constexpr uint32_t kModelMatch = PromptLookup::kMaxMatch;

  /// Proposes what may follow `ids` by their own repetitions, at most `most` tokens of `vocab`.
  /// Counts first how the draft before ended. REQUIRES: as PromptLookup::draft().
  const Draft& propose(std::span<const uint32_t> ids, uint32_t most, uint32_t vocab,
                       Speculation& speculation);
  /// Takes a model's draft after the first `length` tokens; an id outside `vocab` ends it.
  void take(std::vector<uint32_t> ids, size_t length, uint32_t vocab);
  /// Whether a model was asked what follows the first `length` tokens.
  bool was_asked(size_t length) const { return place_ == length; }
  /// Sees what came of the last draft, where something has.
  void settle(std::span<const uint32_t> ids, Speculation& speculation);
  /// The last one.
  std::span<const uint32_t> draft() const { return draft_.ids; }
  double rate(const Speculation& speculation) const {
    return speculation.rate(rates_, draft_.match);
  }
  double model_rate(const Speculation& speculation) const {
    return speculation.rate(rates_, kModelMatch);
  }

 private:
  void keep(Draft draft, size_t place, uint32_t vocab);

  PromptLookup lookup_;
  DraftRates rates_;
  Draft draft_;
  size_t place_ = 0;  // of its first token
};

}  // namespace tokamak
