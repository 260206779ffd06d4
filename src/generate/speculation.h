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
#include "generate/prompt_lookup.h"

namespace tokamak {

struct SpeculationOptions {
  uint32_t draft_tokens = 0;  // most of a sequence in a step; 0: nothing is guessed
  bool adapts = false;        // false: whatever it costs
};

/// "off", "auto", "lookup" or "lookup:N". Errors: anything else, N beyond 1 to 63.
Result<SpeculationOptions> speculation_from_text(std::string_view text);

/// How often a drafted token comes true where all before it did, by how many tokens matched.
class DraftRates {
 public:
  /// Of `drafted` tokens the first `accepted` came true.
  void took(uint32_t match, uint32_t accepted, uint32_t drafted);
  /// As if `prior` had been seen some times before.
  double rate(uint32_t match, double prior) const;

 private:
  struct Kind {
    double tried = 0, accepted = 0;  // the last ones count more
  };
  static size_t kind_of(uint32_t match);

  std::array<Kind, 5> kinds_;
};

/// What steps take, by their rows: up to 1, 2, 4 and so on up to kMaxRows.
class StepTimes {
 public:
  static constexpr uint32_t kMaxRows = 64;

  /// One took so long, which moves what is known by that part of the difference. Times of 0 say
  /// nothing.
  void took(uint32_t rows, double seconds, double weight = 0.25);
  /// What one of that many rows takes, as far as is known: no less than one of fewer, or
  /// where that is not known as one of more. 0: nothing is.
  double seconds(uint32_t rows) const;
  /// Up to how many rows should be tried, from that number on: what more take is guessed better
  /// when those were timed.
  uint32_t most_to_try(uint32_t rows) const;
  /// What was slow once may not be any more: it counts as that part of what it did, until one is
  /// timed.
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

/// What a sequence may draft.
struct DraftChance {
  uint32_t tokens = 0;  // that it has
  double rate = 0;      // of each coming true where all before it did
  uint32_t lag = 0;     // tokens of it that come before a step could verify the others
};

class Speculation {
 public:
  explicit Speculation(const SpeculationOptions& options) : options_(options) {}

  bool is_on() const { return options_.draft_tokens > 0; }
  uint32_t draft_tokens() const { return options_.draft_tokens; }

  /// How many tokens each sequence should draft at most for the next step, of at most `max_rows`
  /// rows, a chance for each sequence in it; 0: plain steps are as fast.
  uint32_t most_drafted(std::span<const DraftChance> chances, uint32_t max_rows) const;
  /// What came of it: the next step verifies, or plain ones go on.
  void decided(bool verifies);

  /// What each of some plain steps took, and a step that verified.
  void decoded(uint32_t rows, uint32_t steps, double seconds);
  void verified(uint32_t rows, double seconds) { verify_.took(rows, seconds); }

  /// A draft of a sequence with those rates, and what came of it.
  void settled(DraftRates& own, uint32_t match, uint32_t accepted, uint32_t drafted);
  double rate(const DraftRates& own, uint32_t match) const;

 private:
  SpeculationOptions options_;
  StepTimes plain_, verify_;
  uint32_t retries_ = 0;  // of what did not pay, one after the other
  DraftRates rates_;      // of all sequences
};

/// The drafts of one sequence.
class Drafter {
 public:
  /// What may follow `ids`, at most `most` tokens of `vocab`. Sees first what came of the draft
  /// before. REQUIRES: as PromptLookup::draft().
  const Draft& propose(std::span<const uint32_t> ids, uint32_t most, uint32_t vocab,
                       Speculation& speculation);
  /// The last one.
  std::span<const uint32_t> draft() const { return draft_.ids; }
  double rate(const Speculation& speculation) const {
    return speculation.rate(rates_, draft_.match);
  }

 private:
  PromptLookup lookup_;
  DraftRates rates_;
  Draft draft_;
  size_t place_ = 0;  // of its first token
};

}  // namespace tokamak
