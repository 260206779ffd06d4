// Scheduler: many sequences on one program. It admits requests as slots and pages allow, reads
// prompts in chunks between the steps that decode, and never waits for the device: step() takes
// what has arrived and submits what can run.
//
// A sequence gives the tokens that it gives alone (docs/scheduling.md says how exactly). Where
// pages run out, the request that came last gives its pages back and is computed again later; where
// the device is lost, all are. Neither is seen by the caller but as time.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "generate/pages/checkpoints.h"
#include "generate/pages/page_pool.h"
#include "generate/pages/page_tables.h"
#include "generate/sample/sampler.h"
#include "generate/sample/text_stream.h"
#include "generate/schedule/prefill_budget.h"
#include "generate/schedule/request.h"
#include "generate/schedule/scheduler_options.h"
#include "generate/schedule/scheduler_stats.h"
#include "generate/schedule/turns.h"
#include "generate/steps/step_log.h"

namespace tokamak {

class ImageStepInputs;

class Scheduler {
 public:
  /// `tokenizer`: null where there is none; what is generated has ids then, but no text. REQUIRES:
  /// program and tokenizer outlive it. Errors: a plan without phases that sample and choose.
  static Result<std::unique_ptr<Scheduler>> make(Program& program, const Tokenizer* tokenizer,
                                                 const SchedulerOptions& options, Clock clock);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// Errors: an empty prompt, one that does not fit, ids beyond the vocabulary that are no image's,
  /// parts of images, parameters out of range, stop strings or a grammar without a tokenizer.
  Result<RequestId> add(Request request);
  /// Whether add() would take it. The one call that any thread may make at any time.
  Result<void> check(const Request& request) const;
  /// Ends a request, whose `done` receives what there is; does nothing where it has ended.
  void cancel(RequestId id);
  void cancel_all();
  /// Nothing more is computed of a request, which keeps its slot and its pages, until it goes on:
  /// for a reader that does not keep up. step() is false where all that is left is held.
  void hold(RequestId id, bool is_held);
  void observe(SchedulerObserver observer) { observer_ = std::move(observer); }
  /// Takes what has arrived and submits what can run. False when there is nothing left to do.
  /// Errors: the device's, after which every request has received it.
  Result<bool> step();
  /// Blocks until the oldest step in flight has arrived, for programs whose thread may.
  Result<void> wait();
  /// step() and wait() until nothing is left to do.
  Result<void> run();

  /// Ends all requests with that error, after an exception in the middle of a call: tables may be
  /// half changed and are made anew. What throws here has ended one of them, and may be called
  /// again.
  void abandon(const Error& error);

  SchedulerStats stats() const;

 private:
  struct Sequence;
  struct Row;
  struct InFlightStep;

  Scheduler(Program& program, const Tokenizer* tokenizer, const SchedulerOptions& options,
            Clock clock);
  void find_tables();
  Result<void> check_images(const Request& request) const;
  bool is_long(const Sequence& sequence) const;
  /// Whose pages the sequence may share.
  std::string tenant_of(const Sequence& sequence) const;

  // Slots and pages.
  Result<void> admit();
  Result<void> give_slot(Sequence& sequence, uint32_t slot, uint32_t shared);
  std::vector<Sequence*> running() const;  // those that have a slot, by arrival
  /// Finds the pages that hold the beginning of its prompt, and where a checkpoint is needed one
  /// after some of them. Gives the tokens that need not run.
  uint32_t share_prefix(Sequence& sequence);
  /// The only slot holds that much of it.
  void begin_after(Sequence& sequence, uint32_t shared);
  /// The position at which a step over the prompt has to end for a checkpoint to be made; 0: none.
  uint32_t next_checkpoint(const Sequence& sequence) const;
  /// After the tokens that the steps submitted so far have run.
  Result<void> add_checkpoint(const Sequence& sequence);
  /// The copies of a checkpoint before the next step, which may run on a wrongly guessed token:
  /// settle_checkpoint() keeps it where it has not.
  std::vector<BufferCopy> checkpoint_ahead(Sequence& sequence);
  void settle_checkpoint(Sequence& sequence);
  /// The tokens that it shares with the last one in the only slot and whose windows are still
  /// there.
  uint32_t shared_prefix_with_last(const Sequence& sequence, std::string_view tenant,
                                   std::span<const uint32_t> ids) const;
  /// The tokens that the last sequence in the only slot began with, too.
  uint32_t shared_prefix_with_last(std::string_view tenant, std::span<const uint32_t> ids) const;
  /// Takes all pages that its prompt needs; false where there are too few.
  bool take_pages_to_begin(Sequence& sequence);
  /// Tells the program which pages the slot has, where it does not know.
  Result<void> write_tables(Sequence& sequence);
  void take_slot(Sequence& sequence);
  /// Pages for that many positions. False where none are left.
  Result<bool> reserve(Sequence& sequence, uint32_t positions);
  /// The same; where none are left, others give back theirs. False: it is its own that must go.
  Result<bool> reserve_before_others(Sequence& sequence, uint32_t positions);
  std::optional<uint32_t> free_page();
  void forget_prefixes();
  /// Takes the pages of the one that came last among those of the lowest priority.
  Sequence& preempt();
  void release(Sequence& sequence);
  /// It will be computed again from its first token on.
  void start_again(Sequence& sequence);
  /// Discards the sequence's steps in flight.
  void forget_steps(Sequence& sequence);
  /// The same, and its last token runs once more.
  void take_back_steps(Sequence& sequence);
  /// Whether the row's sequence is there, and still where the step found it.
  bool is_current(const Row& row) const;

  // Steps.
  Result<void> submit_next();
  Result<void> submit_prefill();
  uint32_t prefill_tokens() const;  // most of them in the next step over prompts
  /// How many tokens of its prompt the next step takes, which has `taken` of its budget; 0: none.
  /// `checkpoint`: of next_checkpoint().
  uint32_t step_tokens(const Sequence& sequence, uint32_t checkpoint, uint32_t budget,
                       uint32_t taken, bool has_image) const;
  /// Runs the tower of the image in the next `count` tokens, where it has not run: at most one
  /// between two steps. False: it has failed, which has ended the sequence.
  Result<bool> encode_image(Sequence& sequence, uint32_t count);
  /// Brings the image of a step to the device, and gives what the step reads of each row, as long
  /// as `inputs` lives.
  Result<std::vector<InputWrite>> prepare_images(ImageStepInputs& inputs,
                                                 std::span<const Slot> slots);
  Result<void> submit_decode();
  /// A token of one sequence alone, for all logits.
  Result<void> submit_for_logits(Sequence& sequence);
  /// The next `count` tokens of the sequence run, in that many steps.
  void advance(Sequence& sequence, uint32_t count, uint32_t steps = 1);
  Result<void> submit_ahead();
  Result<void> submit_logits(const InFlightStep& step, size_t row);
  /// The chances of their drafts in a step after those in flight.
  std::vector<DraftChance> draft_chances(std::span<Sequence* const> sequences);
  /// The chance of a draft model's draft for a sequence that may draft `room` tokens. `is_made`: it
  /// has made drafts for some sequences of the step.
  DraftChance model_chance(Sequence& sequence, uint32_t room, bool is_made);
  /// How many tokens the sequence may draft for such a step.
  uint32_t draft_room(const Sequence& sequence) const;
  /// Submits a step that verifies drafts in place of one that decodes. False: it is not worth it.
  Result<bool> submit_verify(std::span<Sequence* const> chosen);
  /// Whether a draft model was asked what follows one of them as it is.
  bool has_model_drafts(std::span<Sequence* const> sequences) const;
  /// Asks a draft model for at most `most` tokens of each, or lets it first read what it has not
  /// seen of those where that is long.
  Result<void> submit_draft(std::span<Sequence* const> chosen, std::span<const DraftChance> chances,
                            uint32_t most);
  /// Whether the device should not run on, since a step that verifies is worth more.
  bool defer_for_verification(const InFlightStep& last);
  /// The rule of its next token; gives the device the allowed tokens and those that have occurred.
  Result<SamplingRule> rule_for(Sequence& sequence, const Phase& phase);
  void choose_steps_of_runs();  // whether those that grammars force go token by token
  /// Counts the step as in flight: take_results() finds its results. Gives what receives them.
  decltype(StepRequest::done) expect(std::shared_ptr<InFlightStep> step);
  Result<void> submit(std::shared_ptr<InFlightStep> step, StepRequest request);
  Result<void> submit(InFlightStep step, std::vector<Slot> slots, std::vector<uint32_t> ids,
                      std::vector<uint32_t> outputs, std::span<const InputWrite> inputs = {},
                      std::span<const BufferCopy> copies = {});
  static bool is_unwanted(const Sequence& sequence, double now);  // by its caller, or too late
  /// How many steps more the device may make of it on tokens that it chose itself.
  uint32_t room_ahead(const Sequence& sequence) const;
  uint32_t max_steps_ahead() const;  // of one phase that may be in flight
  uint32_t tokens_left(const Sequence& sequence) const;

  // Results.
  Result<void> take_results();
  Result<void> take_all(const InFlightStep& step);
  void take_times(const InFlightStep& step);
  /// Takes the results of step `number` of those.
  Result<void> take_step(const InFlightStep& step, uint32_t number);
  void give_up_step(const Row& row);  // which was cancelled
  Result<void> take_row(const InFlightStep& step, uint32_t number, size_t row);
  void take_draft(const InFlightStep& step, size_t row);
  /// Draws from a list; `chosen`: what the device goes on with, or has gone on with.
  Result<void> take_list(const InFlightStep& step, uint32_t number, size_t row,
                         std::span<const float> list, std::optional<uint32_t> chosen);
  void take_logits(Sequence& sequence, std::span<const float> logits,
                   std::optional<uint32_t> guess);
  /// Takes the log-probability of that token of the prompt.
  void score(Sequence& sequence, uint32_t token, std::span<const float> logits);
  /// Takes a token, and what the grammar forces after it. `guess`: what the device has gone on
  /// with; where that is another one, it has for nothing.
  void take_token(Sequence& sequence, uint32_t id, const Logprobs* logprobs,
                  std::optional<uint32_t> guess);
  /// False where the text ends.
  bool append_token(Sequence& sequence, uint32_t id, const Logprobs* logprobs);
  bool take_run(Sequence& sequence);
  void finish(Sequence& sequence, std::optional<Error> error = std::nullopt);
  void end_overdue();
  Result<void> recover(const Error& loss);
  void fail_all(const Error& error);
  void remove_finished();

  Program* program_;
  const Tokenizer* tokenizer_;
  GrammarCache grammars_;
  SchedulerOptions options_;
  Clock clock_;
  uint64_t epoch_ = 0;  // Program::sequence(): nobody else's since
  uint64_t next_id_ = 1;
  std::map<RequestId, std::unique_ptr<Sequence>> sequences_;  // by arrival
  bool has_finished_ = false;                                 // whether some of them have to go
  std::vector<Sequence*> slots_;                              // who has which
  Turns turns_;
  std::optional<std::pair<RequestId, uint64_t>> blocked_;  // who had no pages, changes() then
  std::vector<PageTable> tables_;
  std::optional<size_t> pool_table_;  // the one of layers that see everything
  PagePool pool_;
  PrefixCache prefixes_;
  Checkpoints checkpoints_;
  bool shares_prefixes_ = false, uses_checkpoints_ = false;
  bool is_recurrent_ = false;
  /// Replayed tokens run in their original steps then; beside others these had other rows.
  const bool single_slot_;
  LastSequence last_in_slot_;
  uint32_t written_ = 0;                // of the sequence in it now, as LastSequence::written
  uint32_t window_spare_ = UINT32_MAX;  // positions of a ring that steps ahead may take
  bool did_prefill_ = false;            // last
  PrefillBudget budget_;
  Speculation speculation_;
  uint32_t verify_rows_ = 0;  // most of a step that verifies; 0: there is none
  uint64_t decided_at_ = 0;   // of the last defer_for_verification()
  bool defer_ = false;        // its result
  double last_arrival_ = 0;   // when the device had done the step before, by the clock
  uint32_t short_rows_ = 0;
  uint32_t losses_ = 0;  // since something arrived
  std::deque<std::shared_ptr<InFlightStep>> in_flight_;
  SchedulerStats stats_;
  SchedulerObserver observer_;
};

}  // namespace tokamak
