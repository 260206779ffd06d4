// The state of a sequence and of a step in flight; for scheduler*.cpp.
#pragma once
#include <algorithm>
#include <deque>

#include "generate/sample/token_list.h"
#include "generate/sample/top_k_policy.h"
#include "generate/schedule/scheduler.h"
#include "generate/speculate/draft_model.h"

namespace tokamak {

/// A request on its way.
struct Scheduler::Sequence {
  Sequence(RequestId number, Request asked, Sampler own_sampler, const Tokenizer* tokenizer,
           GrammarCache& grammars, bool is_recurrent)
      : id(number),
        request(std::move(asked)),
        sampler(std::move(own_sampler)),
        text(tokenizer, request.params, request.callbacks, grammars),
        lists(is_recurrent),
        ids(request.prompt) {}

  Turns::Ticket ticket() const {
    const std::string& owner = request.client.empty() ? request.tenant : request.client;
    return {uint64_t(id), request.priority, owner, request.group};
  }
  /// The number added to the position of the next token for its rotation.
  uint32_t rotary_shift() const { return places.shift(position); }
  /// The ids that have occurred, for penalties: those of images are none of the vocabulary.
  const std::vector<uint32_t>& previous_ids() const {
    return request.images.empty() ? ids : text_ids;
  }
  void add_id(uint32_t token) {
    ids.push_back(token);
    if (!request.images.empty()) text_ids.push_back(token);
  }

  /// Tokens that no step has run yet; those of steps ahead are not among them.
  uint32_t left() const {
    const auto known = uint32_t(ids.size());
    return known - std::min(known, position);
  }
  /// Whether the next step decodes.
  bool is_ready() const { return slot && (left() == 1 || steps_run) && in_flight == 0 && !is_held; }
  bool reads_prompt() const { return slot && left() > 1 && !steps_run && !is_held; }
  /// Whether a grammar has forced all tokens that no step has run yet, but the first.
  bool has_run() const { return left() > 1 && left() <= run + 1; }
  bool wants_logits() const { return reads_logits || needs_logits; }
  /// While the device works: the mask that the step had to do without, which is kept.
  void make_mask(size_t vocab) {
    GrammarFilter* filter = text.filter();
    if (filter != nullptr && !is_masked && !wants_logits()) (void)filter->mask(vocab);
  }
  /// Whether the log-probabilities of its prompt are not all known.
  bool scores_prompt() const {
    return request.params.prompt_logprobs &&
           text.generation().prompt_logprobs.size() + 1 < request.prompt.size();
  }
  /// Tokens that the device has fed and that are the sequence's whatever it chose after them.
  uint32_t certain() const { return std::min(position, uint32_t(ids.size()) - 1); }

  RequestId id;
  Request request;
  Sampler sampler;
  TextStream text;
  TopKPolicy lists;
  std::vector<uint32_t> ids;       // the prompt, and what was generated
  std::vector<uint32_t> text_ids;  // of them those that are no image's, where it has images
  TokenPlaces places;              // of the prompt's images, and what comes after them
  uint32_t position = 0;           // tokens that the steps submitted so far have run
  std::optional<uint32_t> slot;    // of the program
  bool has_tables = false;         // the program knows its pages
  std::vector<uint32_t> pages;     // of layers that see everything
  Drafter drafter;
  /// Its states and windows begin as this checkpoint.
  std::optional<uint32_t> checkpoint;
  /// Another sequence began with that many tokens too, but there is no checkpoint after them.
  uint32_t branch = 0;
  /// Made while it generates, after tokens that may still turn out to be others.
  struct Copied {
    uint32_t number, position;
  };
  std::optional<Copied> copied;
  StepLog steps;                // those of its prompt, and of what it shares
  uint32_t replay_tokens = 0;   // tokens that run once more, in the steps in which they have run
  uint32_t in_flight = 0;       // steps with a row of it that were not taken yet
  uint64_t version = 0;         // of its place: steps of an older one count no more
  bool is_long = false;         // which part of a rotary table its keys were turned by
  bool reads_logits = false;    // a list tells nothing of it
  bool needs_logits = false;    // the last list was not enough, or none is made
  bool is_masked = false;       // the device knew in the step in flight which tokens may follow
  bool knows_occurred = false;  // the device, which tokens have, for its penalty
  std::vector<uint32_t> mask;   // as the slot has it on the device; empty: another's
  uint32_t run = 0;             // tokens that the grammar forced, the last of the ids
  std::deque<uint32_t> forced_logprobs;  // forced ones whose log-probabilities are to be read
  bool steps_run = false;                // its run goes token by token, beside others
  bool is_finished = false, is_cancelled = false, is_held = false;
  double started = 0, first_token = 0, last_token = 0;  // seconds
  std::optional<double> admitted;                       // the first time
};

/// A row of a step that somebody waits for.
struct Scheduler::Row {
  Sequence* sequence = nullptr;  // read only where is_current()
  RequestId id = {};
  uint64_t version = 0;
  std::optional<uint32_t> guess = {};  // the row after it has this token
  bool is_known = false;               // the token after it: its results are not read
  uint32_t scored = 0;  // the token of the prompt whose log-probability it gives; 0: none's
  uint32_t begin = 0;  // the position before the step, up to which pages are kept if it is given up
};

enum class StepKind : uint8_t {
  kPrefill,
  kGreedy,
  kSampled,
  kDecode,  // one token of one sequence, for all logits
  kLogits,  // reads those that the step before has left
  kVerify,  // some tokens of each sequence, of which all but the first are guessed
  kDraft,   // of a draft model, which guesses those or reads what it has not seen
};

/// A step, or several of the same rows, one after the other, whose results arrive together.
struct Scheduler::InFlightStep {
  /// Whether the device can go on with what it chose.
  bool chooses() const { return kind == StepKind::kGreedy || kind == StepKind::kSampled; }
  /// Whether it gives nobody a token that others could go on with.
  bool reads() const {
    return kind == StepKind::kPrefill || (kind == StepKind::kDraft && drafting.tokens == 0);
  }

  StepKind kind = StepKind::kPrefill;
  size_t phase = 0;
  std::vector<Row> rows;     // whose results there are, in their order
  std::vector<Row> members;  // everyone with rows in it
  uint32_t steps = 1;
  uint32_t ahead = 0;  // how many steps the first is in front of what the device was last told
  bool grows = false;  // it is of more steps than the one before
  bool has_arrived = false;
  uint32_t tokens = 0;  // that it runs
  DraftModel::Drafting drafting = {.tokens = 0};
  double submitted = 0, arrived = 0;  // by the clock
  std::vector<float> values;
  std::optional<Error> error;
};

}  // namespace tokamak
