// Scheduler: many sequences on one program. It admits requests as slots and pages allow, reads
// prompts in chunks between the steps that decode, and never waits for the device: step() takes
// what has arrived and submits what can run.
//
// A sequence gives the tokens that it gives alone (docs/scheduling.md says how exactly). Where
// pages run out, the request that came last gives its pages back and is computed again later; where
// the device is lost, all are. Neither is seen by the caller but as time.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "generate/checkpoints.h"
#include "generate/page_pool.h"
#include "generate/page_tables.h"
#include "generate/prefill_budget.h"
#include "generate/request.h"
#include "generate/sampler.h"
#include "generate/scheduler_options.h"
#include "generate/scheduler_stats.h"
#include "generate/step_log.h"
#include "generate/text_stream.h"

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
  /// Blocks until the oldest step under way has arrived, for programs whose thread may.
  Result<void> wait();
  /// step() and wait() until nothing is left to do.
  Result<void> run();

  SchedulerStats stats() const;

 private:
  struct Sequence;
  struct Row;
  struct UnderWay;

  Scheduler(Program& program, const Tokenizer* tokenizer, const SchedulerOptions& options,
            Clock clock);
  void find_tables();
  Result<void> check_images(const Request& request) const;
  bool is_long(const Sequence& sequence) const;
  /// Whose pages the sequence may share.
  std::string tenant_of(const Sequence& sequence) const;

  // Slots and pages.
  Result<void> admit();
  /// Finds the pages that hold the beginning of its prompt, and where a checkpoint is needed one
  /// after some of them. Gives the tokens that need not run.
  uint32_t share_prefix(Sequence& sequence);
  /// The only slot holds that much of it.
  void begin_after(Sequence& sequence, uint32_t shared);
  /// Where a step over the prompt has to end for a checkpoint to be made; 0: nowhere.
  uint32_t next_checkpoint(const Sequence& sequence) const;
  /// After the tokens that the steps submitted so far have run.
  Result<void> add_checkpoint(const Sequence& sequence);
  /// The copies of a checkpoint to make in front of the next step that generates, which may run on
  /// a token that turns out to be another: settle_checkpoint() keeps it when it has not.
  std::vector<BufferCopy> checkpoint_ahead(Sequence& sequence);
  void settle_checkpoint(Sequence& sequence);
  /// How many tokens a sequence shares with the last one in the only slot, so that it can go on
  /// with the windows that this has left.
  uint32_t held_in_windows(const Sequence& sequence, std::string_view tenant,
                           std::span<const uint32_t> ids) const;
  /// How many of the tokens the last sequence in the only slot has begun with.
  uint32_t begins_as_left(std::string_view tenant, std::span<const uint32_t> ids) const;
  /// Takes all pages that its prompt needs; false where there are too few.
  bool take_pages_to_begin(Sequence& sequence);
  /// Tells the program which pages the slot has, where it does not know.
  Result<void> write_tables(Sequence& sequence);
  void take_slot(Sequence& sequence);
  /// Pages for that many positions. False where none are left.
  Result<bool> reserve(Sequence& sequence, uint32_t positions);
  /// The same, and where none are left others give back theirs, at once: who waits would take them
  /// otherwise. False where the sequence itself is the one to give back its pages.
  Result<bool> reserve_before_others(Sequence& sequence, uint32_t positions);
  std::optional<uint32_t> free_page();
  void forget_prefixes();
  /// Takes the pages of the one that came last among those of the lowest priority.
  Sequence& preempt();
  void release(Sequence& sequence);
  /// It will be computed again from its first token on.
  void start_again(Sequence& sequence);
  /// What is on its way of it counts no more.
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
  /// Before a step that reads of an image: brings that to the device, and gives what the step reads
  /// of each row, as long as `inputs` lives.
  Result<std::vector<InputWrite>> prepare_images(ImageStepInputs& inputs,
                                                 std::span<const Slot> slots);
  Result<void> submit_decode();
  /// A token of one sequence alone, for all logits.
  Result<void> submit_for_logits(Sequence& sequence);
  /// The next `count` tokens of the sequence run, in that many steps.
  void advance(Sequence& sequence, uint32_t count, uint32_t steps = 1);
  Result<void> submit_ahead();
  Result<void> submit_logits(const UnderWay& step, size_t row);
  /// What their drafts promise for a step after those under way.
  std::vector<DraftChance> draft_chances(std::span<Sequence* const> sequences);
  /// What a draft model promises of a sequence that may draft `room` tokens. `is_made`: it has
  /// been asked about some of those of the step.
  DraftChance model_chance(Sequence& sequence, uint32_t room, bool is_made);
  /// How many tokens the sequence may draft for such a step.
  uint32_t draft_room(const Sequence& sequence) const;
  /// Instead of a step that decodes one that verifies drafts. False where none is worth it.
  Result<bool> submit_verify(std::span<Sequence* const> chosen);
  /// Whether a draft model was asked what follows one of them as it is.
  bool has_model_drafts(std::span<Sequence* const> sequences) const;
  /// Asks a draft model for at most `most` tokens of each, or lets it first read what it has not
  /// seen of those where that is long.
  Result<void> submit_draft(std::span<Sequence* const> chosen, std::span<const DraftChance> chances,
                            uint32_t most);
  /// Whether the device should not run on, since a step that verifies is worth more.
  bool waits_to_verify(const UnderWay& last);
  /// What its next token is chosen by; tells the device which may follow and which have occurred.
  Result<SamplingRule> rule_for(Sequence& sequence, const Phase& phase);
  void choose_steps_of_runs();  // whether those that grammars force go token by token
  /// The step is under way from now on: its results arrive in take_results(). Gives who tells of
  /// them.
  decltype(StepRequest::done) expect(std::shared_ptr<UnderWay> step);
  Result<void> submit(std::shared_ptr<UnderWay> step, StepRequest request);
  Result<void> submit(UnderWay step, std::vector<Slot> slots, std::vector<uint32_t> ids,
                      std::vector<uint32_t> outputs, std::span<const InputWrite> inputs = {},
                      std::span<const BufferCopy> copies = {});
  /// How many steps more the device may make of it on tokens that it chose itself.
  uint32_t room_ahead(const Sequence& sequence) const;
  uint32_t max_steps_ahead() const;  // of one phase that may be under way
  uint32_t tokens_left(const Sequence& sequence) const;

  // Results.
  Result<void> take_results();
  Result<void> take_all(const UnderWay& step);
  void take_times(const UnderWay& step);
  /// Takes the results of step `number` of those.
  Result<void> take_step(const UnderWay& step, uint32_t number);
  Result<void> take_row(const UnderWay& step, uint32_t number, size_t row);
  void take_draft(const UnderWay& step, size_t row);
  /// Draws from a list; `chosen`: what the device goes on with, or has gone on with.
  Result<void> take_list(const UnderWay& step, uint32_t number, size_t row,
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
  uint64_t epoch_ = 0;        // Program::sequence(): nobody else's since
  uint32_t image_epoch_ = 0;  // ImageRows::epoch()
  uint64_t next_id_ = 1;
  std::vector<std::unique_ptr<Sequence>> sequences_;  // by arrival
  std::vector<Sequence*> slots_;                      // who has which
  std::vector<PageTable> tables_;
  std::optional<size_t> pool_table_;  // the one of layers that see everything
  PagePool pool_;
  PrefixCache prefixes_;
  Checkpoints checkpoints_;
  bool shares_prefixes_ = false, uses_checkpoints_ = false;
  bool is_recurrent_ = false;
  /// Where there is one slot, what is computed again runs in the steps in which it has run. Beside
  /// others it had other rows in them anyway.
  const bool is_alone_;
  /// What the only slot has of the last sequence in it.
  struct Left {
    std::string tenant;
    std::vector<uint32_t> ids;
    StepLog steps;
    uint32_t written = 0;   // positions that the windows have seen, also for nothing
    bool is_there = false;  // false: the device has lost it, and it runs again in these steps
  };
  Left left_;
  uint32_t written_ = 0;                // of the sequence in it now, as Left::written
  uint32_t window_spare_ = UINT32_MAX;  // positions of a ring that steps ahead may take
  bool did_prefill_ = false;            // last
  PrefillBudget budget_;
  Speculation speculation_;
  uint32_t verify_rows_ = 0;  // most of a step that verifies; 0: there is none
  uint64_t judged_at_ = 0;    // of the last waits_to_verify()
  bool waits_ = false;        // what it said
  double last_arrival_ = 0;   // when the device had done the step before, by the clock
  uint32_t short_rows_ = 0;
  uint32_t losses_ = 0;  // since something arrived
  std::deque<std::shared_ptr<UnderWay>> under_way_;
  SchedulerStats stats_;
  SchedulerObserver observer_;
};

}  // namespace tokamak
