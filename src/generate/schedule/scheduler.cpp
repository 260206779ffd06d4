// The part of Scheduler that decides who has slots and pages. scheduler_steps.cpp submits steps,
// scheduler_results.cpp takes what they give.
#include "generate/schedule/scheduler.h"

#include "base/check.h"
#include "generate/schedule/scheduler_state.h"
#include "generate/steps/call_errors.h"
#include "generate/steps/phase_results.h"

namespace tokamak {
namespace {

uint32_t pages_for(uint32_t positions) {
  return ceil_div(positions, kPageTokens);
}

PrefillBudget budget_for(const Plan& plan, const SchedulerOptions& options) {
  const uint32_t chunk = plan.chunk();
  const uint32_t most =
      options.prefill_tokens == 0 ? chunk : std::min(chunk, options.prefill_tokens);
  return {std::clamp(options.min_prefill_tokens, 1u, most), most};
}

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::make(Program& program, const Tokenizer* tokenizer,
                                                   const SchedulerOptions& options, Clock clock) {
  const Plan& plan = program.plan();
  for (const PhaseKind kind : {PhaseKind::kPrefill, PhaseKind::kSampled, PhaseKind::kGreedy}) {
    if (plan.phase_for(1, kind) < plan.phases.size()) continue;
    return unsupported("The plan has no phase that is for {}.", kPhaseKindNames[size_t(kind)]);
  }
  if (plan.phases[0].result.shape[0] == kTokens) {
    return fail(ErrorCode::kUsage,
                "The model was opened for the logits of every token, which requests do not use.");
  }
  if (options.vocab > kMaxExactVocab) {
    return unsupported("The vocabulary has {} tokens, expected at most {}.", options.vocab,
                       kMaxExactVocab);
  }
  auto scheduler =
      std::unique_ptr<Scheduler>(new Scheduler(program, tokenizer, options, std::move(clock)));
  scheduler->find_tables();
  return scheduler;
}

Scheduler::Scheduler(Program& program, const Tokenizer* tokenizer, const SchedulerOptions& options,
                     Clock clock)
    : program_(&program),
      tokenizer_(tokenizer),
      options_(options),
      clock_(std::move(clock)),
      slots_(program.plan().slots),
      tables_(page_tables(program.plan())),
      pool_(pool_size(tables_)),
      prefixes_(pool_),
      checkpoints_(checkpoints(program.plan())),
      single_slot_(slots_.size() == 1),
      budget_(budget_for(program.plan(), options)),
      speculation_(options.speculation) {
  stats_.pages = pool_.size();
}

Scheduler::~Scheduler() {
  fail_all({ErrorCode::kCancelled, "The scheduler has ended."});
}

void Scheduler::find_tables() {
  short_rows_ = short_rotary_rows(program_->plan());
  window_spare_ = window_spare(program_->plan());
  // The page that a sequence ends in stays whole for what continues it.
  if (single_slot_ && window_spare_ != UINT32_MAX) {
    window_spare_ -= std::min(window_spare_, kPageTokens - 1);
  }
  is_recurrent_ = std::ranges::any_of(program_->plan().buffers, is_recurrent_state);
  if (speculation_.is_on()) verify_rows_ = max_rows(program_->plan(), PhaseKind::kVerify);
  bool has_windows = false;
  for (size_t i = 0; i < tables_.size(); ++i) {
    has_windows = has_windows || tables_[i].ring > 0;
    if (tables_[i].pool > 0) pool_table_ = i;
  }
  // The tokens that a window or a recurrent state has forgotten are shared by checkpoints only, but
  // for the windows of the only slot, where the last sequence has left them.
  const bool has_checkpoints = checkpoints(program_->plan()) > 0;
  const bool leaves_windows = has_windows && single_slot_;
  shares_prefixes_ = options_.shares_prefixes &&
                     (has_checkpoints || (!is_recurrent_ && (!has_windows || leaves_windows)));
  uses_checkpoints_ = shares_prefixes_ && has_checkpoints && (is_recurrent_ || has_windows);
}

Result<void> Scheduler::check(const Request& request) const {
  if (request.prompt.empty()) return invalid_input("The prompt has no tokens.");
  if (request.prompt.size() > options_.context) {
    return invalid_input("The prompt has {} tokens, but the context has {} positions.",
                         request.prompt.size(), options_.context);
  }
  TOK_TRY(check_images(request));
  if (request.adapter > options_.adapters) {
    return invalid_input("The request is for adapter {}, but the model has {}.", request.adapter,
                         options_.adapters);
  }
  if (request.params.prompt_logprobs && !request.images.empty()) {
    return invalid_input("The log-probabilities of a prompt with images are not given.");
  }
  if (tokenizer_ == nullptr && (request.params.grammar || !request.params.stop.empty())) {
    return invalid_input("The model has no tokenizer, which stop strings and grammars need.");
  }
  return request.params.sampling.validate();
}

Result<RequestId> Scheduler::add(Request request) {
  TOK_TRY(check(request));
  TOK_TRY(Sampler sampler, Sampler::make(request.params.sampling));
  if (sequences_.empty() && program_->sequence() != epoch_) {
    forget_prefixes();  // a session has written over the pages
    epoch_ = program_->begin_sequence();
  }
  const auto id = RequestId(next_id_++);
  auto made = std::make_unique<Sequence>(id, std::move(request), std::move(sampler), tokenizer_,
                                         grammars_, is_recurrent_);
  Sequence& own = *made;
  sequences_.emplace(id, std::move(made));
  turns_.add(own.ticket());
  own.started = clock_();
  if (!own.request.images.empty()) {
    own.places = TokenPlaces(own.ids, *options_.images, own.request.images);
    std::ranges::copy_if(own.ids, std::back_inserter(own.text_ids),
                         [&](uint32_t token) { return token < options_.vocab; });
  }
  own.text.generation().prompt_tokens = own.ids.size();
  const GenerationParams& params = own.request.params;
  own.needs_logits = params.max_tokens == 0 || own.request.logits;
  own.reads_logits = params.logprobs || !can_take_lists(params.sampling);
  return id;
}

void Scheduler::cancel(RequestId id) {
  if (const auto found = sequences_.find(id); found != sequences_.end()) {
    found->second->is_cancelled = true;
  }
}

void Scheduler::cancel_all() {
  for (const auto& [id, sequence] : sequences_) sequence->is_cancelled = true;
}

void Scheduler::hold(RequestId id, bool is_held) {
  if (const auto found = sequences_.find(id); found != sequences_.end()) {
    found->second->is_held = is_held;
  }
}

bool Scheduler::is_long(const Sequence& sequence) const {
  return short_rows_ != 0 && sequence.ids.size() > short_rows_;
}

std::string Scheduler::tenant_of(const Sequence& sequence) const {
  const Request& request = sequence.request;
  // Keys of the two parts of a rotary table are of no use to each other, nor are ids of images of
  // two epochs.
  uint32_t epoch = options_.images == nullptr ? 0 : options_.images->epoch();
  if (!request.images.empty()) epoch = request.images.back()->epoch;
  return fmt::format("{}/{}/{}/{}", request.tenant, request.adapter, sequence.is_long ? "long" : "",
                     epoch);
}

std::optional<uint32_t> Scheduler::free_page() {
  if (pool_.free_pages() == 0) prefixes_.evict();
  return pool_.take();
}

Result<bool> Scheduler::reserve(Sequence& sequence, uint32_t positions) {
  if (pool_table_) {
    while (sequence.pages.size() < pages_for(positions)) {
      const std::optional<uint32_t> page = free_page();
      if (!page) return false;
      sequence.pages.push_back(*page);
      if (!sequence.has_tables) continue;
      const PageTable& table = tables_[*pool_table_];
      const uint64_t place = uint64_t{*sequence.slot} * table.pages + sequence.pages.size() - 1;
      TOK_TRY(program_->write_table(table.buffer, {&sequence.pages.back(), 1}, place));
    }
  }
  TOK_TRY(write_tables(sequence));
  return true;
}

void Scheduler::forget_prefixes() {
  prefixes_.clear();
  checkpoints_.clear();
  last_in_slot_ = {};
  written_ = 0;
}

bool Scheduler::take_pages_to_begin(Sequence& sequence) {
  if (!pool_table_) return true;
  const auto positions = std::min(uint32_t(sequence.ids.size()) + 1, options_.context);
  const uint32_t needed = pages_for(positions) - uint32_t(sequence.pages.size());
  while (pool_.free_pages() < needed) {
    if (!prefixes_.evict()) return false;
  }
  for (uint32_t i = 0; i < needed; ++i) sequence.pages.push_back(*pool_.take());
  return true;
}

std::vector<Scheduler::Sequence*> Scheduler::running() const {
  std::vector<Sequence*> out;
  std::ranges::copy_if(slots_, std::back_inserter(out), [](auto* one) { return one != nullptr; });
  std::ranges::sort(out, {}, &Sequence::id);
  return out;
}

Result<void> Scheduler::admit() {
  for (;;) {
    const auto free = std::ranges::find(slots_, nullptr);
    if (free == slots_.end()) return {};
    const std::optional<uint64_t> turn = turns_.next();
    if (!turn) return {};
    Sequence& next = *sequences_.at(RequestId(*turn));
    if (blocked_ == std::pair(next.id, pool_.changes())) return {};
    next.is_long = is_long(next);
    const bool shares = shares_prefixes_ && !next.scores_prompt();  // whose every token must run
    const uint32_t shared = shares ? share_prefix(next) : 0;
    if (!take_pages_to_begin(next)) {
      release(next);
      blocked_ = {next.id, pool_.changes()};
      return {};
    }
    TOK_TRY(give_slot(next, uint32_t(free - slots_.begin()), shared));
  }
}

Result<void> Scheduler::give_slot(Sequence& sequence, uint32_t slot, uint32_t shared) {
  turns_.start(sequence.ticket());
  sequence.slot = slot;
  slots_[slot] = &sequence;
  if (!sequence.admitted) sequence.admitted = clock_();
  if (options_.drafts != nullptr) options_.drafts->set_taken(slot, true);
  sequence.position = shared;
  if (single_slot_) begin_after(sequence, shared);
  if (sequence.text.generation().ids.empty()) {
    sequence.text.generation().cached_tokens = sequence.position;
  }
  stats_.cached_tokens += sequence.position;
  if (const auto number = std::exchange(sequence.checkpoint, std::nullopt)) {
    auto copies = checkpoint_copies(program_->plan(), slot, *number);
    for (BufferCopy& copy : copies) copy = copy.reversed();
    TOK_TRY(program_->submit(copies_alone(copies)));
  }
  return {};
}

Result<void> Scheduler::write_tables(Sequence& sequence) {
  if (std::exchange(sequence.has_tables, true)) return {};
  const uint64_t slot = *sequence.slot;
  for (const PageTable& table : tables_) {
    const std::vector<uint32_t> ring =
        table.ring > 0 ? equal_part(table, *sequence.slot) : std::vector<uint32_t>{};
    const std::vector<uint32_t>& pages = table.ring > 0 ? ring : sequence.pages;
    if (!pages.empty()) TOK_TRY(program_->write_table(table.buffer, pages, slot * table.pages));
  }
  return {};
}

void Scheduler::release(Sequence& sequence) {
  for (const uint32_t page : sequence.pages) pool_.drop(page);
  sequence.pages.clear();
  sequence.checkpoint.reset();
}

void Scheduler::forget_steps(Sequence& sequence) {
  settle_checkpoint(sequence);
  if (sequence.copied) checkpoints_.drop(sequence.copied->number);
  sequence.copied.reset();
  ++sequence.version;
  sequence.in_flight = 0;
  sequence.mask.clear();
  sequence.knows_occurred = false;
}

void Scheduler::take_slot(Sequence& sequence) {
  forget_steps(sequence);
  if (sequence.slot) {
    if (shares_prefixes_) {
      const std::string tenant = tenant_of(sequence);
      const auto run = std::span(sequence.ids).first(sequence.certain());
      prefixes_.add(tenant, run, sequence.pages);
      if (single_slot_)
        last_in_slot_ = {tenant, {run.begin(), run.end()}, sequence.steps, written_, true};
    }
    turns_.stop(sequence.ticket());
    slots_[*sequence.slot] = nullptr;
    if (options_.drafts != nullptr) options_.drafts->set_taken(*sequence.slot, false);
    sequence.slot.reset();
    sequence.has_tables = false;
  }
  release(sequence);
}

void Scheduler::start_again(Sequence& sequence) {
  take_slot(sequence);
  if (single_slot_) sequence.replay_tokens = std::max(sequence.replay_tokens, sequence.certain());
  sequence.position = 0;
}

void Scheduler::take_back_steps(Sequence& sequence) {
  forget_steps(sequence);
  sequence.position = uint32_t(sequence.ids.size()) - 1;
  if (is_recurrent_) start_again(sequence);
}

bool Scheduler::is_current(const Row& row) const {
  const auto found = sequences_.find(row.id);
  return found != sequences_.end() && found->second->version == row.version &&
         !found->second->is_finished;
}

Result<bool> Scheduler::reserve_before_others(Sequence& sequence, uint32_t positions) {
  for (;;) {
    TOK_TRY(const bool has_pages, reserve(sequence, positions));
    if (has_pages) return true;
    if (&preempt() == &sequence) return false;
  }
}

Scheduler::Sequence& Scheduler::preempt() {
  Sequence* victim = nullptr;
  for (Sequence* other : running()) {
    if (other->pages.empty()) continue;
    if (victim == nullptr || other->request.priority <= victim->request.priority) victim = other;
  }
  TOK_CHECK(victim != nullptr);
  ++stats_.preemptions;
  start_again(*victim);
  return *victim;
}

void Scheduler::finish(Sequence& sequence, std::optional<Error> error) {
  take_slot(sequence);
  turns_.remove(sequence.ticket());
  sequence.is_finished = has_finished_ = true;
  if (error) {
    if (sequence.request.done) sequence.request.done(Failure(*std::move(error)));
    return;
  }
  sequence.text.finish();
  Generation& out = sequence.text.generation();
  const double first = out.ids.empty() ? clock_() : sequence.first_token;
  out.prefill_seconds = first - sequence.started;
  out.decode_seconds = clock_() - first;
  if (observer_.finished && !sequence.request.logits) {
    observer_.finished(out, sequence.admitted.value_or(clock_()) - sequence.started,
                       sequence.request.repeats_prompt);
  }
  if (sequence.request.done) sequence.request.done(std::move(out));
}

void Scheduler::end_overdue() {
  const double now = clock_();
  for (const auto& [id, sequence] : sequences_) {
    if (sequence->is_finished) continue;
    if (!sequence->is_cancelled && !is_unwanted(*sequence, now)) continue;
    sequence->text.end_for(FinishReason::kCancelled);
    finish(*sequence);
  }
}

void Scheduler::remove_finished() {
  if (!std::exchange(has_finished_, false)) return;
  std::erase_if(sequences_, [](const auto& one) { return one.second->is_finished; });
}

void Scheduler::fail_all(const Error& error) {
  losses_ = 0;
  in_flight_.clear();
  for (const auto& [id, sequence] : sequences_) {
    if (!sequence->is_finished) finish(*sequence, error);
  }
  remove_finished();
}

void Scheduler::abandon(const Error& error) {
  in_flight_.clear();
  while (!sequences_.empty()) {
    const auto first = sequences_.extract(sequences_.begin());
    const Sequence& sequence = *first.mapped();
    if (!sequence.is_finished && sequence.request.done) sequence.request.done(Failure(error));
  }
  std::ranges::fill(slots_, nullptr);
  turns_ = {};
  blocked_.reset();
  prefixes_.forget();
  pool_.reset();
  forget_prefixes();
  if (options_.drafts != nullptr) options_.drafts->forget();
}

Result<void> Scheduler::recover(const Error& loss) {
  ++stats_.device_losses;
  if (++losses_ >= kMaxLosses) {
    return given_up(loss, losses_, "its requests are");
  }
  in_flight_.clear();
  if (options_.images != nullptr) options_.images->forget_device();
  for (Sequence* sequence : running()) start_again(*sequence);
  LastSequence lost = std::move(last_in_slot_);
  forget_prefixes();  // no page holds what it held
  last_in_slot_ = std::move(lost);
  last_in_slot_.is_there = false;
  TOK_TRY(program_->restore(loss));
  return options_.drafts == nullptr ? Result<void>() : options_.drafts->restore(loss);
}

Result<bool> Scheduler::step() {
  const auto attempt = [&]() -> Result<bool> {
    TOK_TRY(program_->poll());
    if (options_.drafts != nullptr) TOK_TRY(options_.drafts->program().poll());
    TOK_TRY(take_results());
    end_overdue();
    remove_finished();
    if (sequences_.empty() && in_flight_.empty()) return false;
    // Until nothing more can run: the device must not wait for the next call.
    for (bool submits = true; submits;) {
      const size_t before = in_flight_.size();
      TOK_TRY(submit_next());
      submits = in_flight_.size() != before;
    }
    const bool some_are_held =
        std::ranges::any_of(sequences_, [](const auto& one) { return one.second->is_held; });
    if (!some_are_held || !in_flight_.empty()) return true;
    TOK_TRY(submit_next());  // one that has just given back its pages may have them again
    return !in_flight_.empty();
  };
  if (!sequences_.empty() && program_->sequence() != epoch_) {
    const Error taken = {ErrorCode::kUsage,
                         "A session was started on the same model, whose requests it ended."};
    fail_all(taken);
    return Failure(taken);
  }
  Result<bool> continues = attempt();
  if (!continues && continues.error().code == ErrorCode::kDeviceLost) {
    const Result<void> recovered = recover(continues.error());
    continues = recovered ? Result<bool>(true) : Failure(recovered.error());
  }
  if (!continues) fail_all(continues.error());
  return continues;
}

Result<void> Scheduler::wait() {
  if (in_flight_.empty() || in_flight_.front()->has_arrived) return {};
  Program& program =
      in_flight_.front()->kind == StepKind::kDraft ? options_.drafts->program() : *program_;
  const Result<void> waited = program.wait_for_result();
  if (waited || waited.error().code == ErrorCode::kDeviceLost) return {};  // step() finds it
  fail_all(waited.error());
  return waited;
}

Result<void> Scheduler::run() {
  for (;;) {
    TOK_TRY(const bool continues, step());
    if (!continues) return {};
    TOK_TRY(wait());
  }
}

SchedulerStats Scheduler::stats() const {
  SchedulerStats now = stats_;
  now.running = uint32_t(running().size());
  now.waiting = uint32_t(sequences_.size()) - now.running;
  now.prefill_budget = budget_.tokens();
  now.free_pages = pool_.free_pages();
  now.cached_pages = prefixes_.pages();
  now.idle_pages = pool_.idle_pages();
  return now;
}

}  // namespace tokamak
