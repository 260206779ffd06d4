// The part of Scheduler that submits steps.
#include "generate/schedule/scheduler_state.h"
#include "generate/steps/image_step.h"
#include "generate/steps/phase_results.h"

namespace tokamak {
namespace {

/// Submissions in flight: the device has one to run while this program reads the other's results.
constexpr size_t kMaxInFlight = 2;
/// The device runs ahead by steps that take about as long as that. In a browser's tab results
/// arrive some milliseconds after they were made; a request that comes waits for those steps.
constexpr double kSecondsAhead = 0.008;
constexpr uint32_t kMaxStepsAhead = 32;
/// The limits with one slot, for which nobody waits: texts just arrive in larger pieces.
constexpr double kSecondsAheadAlone = 0.064;
constexpr uint32_t kMaxStepsAheadAlone = 16;

}  // namespace

Result<void> Scheduler::submit_next() {
  if (in_flight_.size() >= kMaxInFlight) return {};
  TOK_TRY(admit());
  choose_steps_of_runs();
  const std::vector<Sequence*> all = running();
  const bool decodes = std::ranges::any_of(all, &Sequence::is_ready);
  const bool prompts = std::ranges::any_of(all, &Sequence::reads_prompt);
  if (prompts && !(decodes && did_prefill_)) return submit_prefill();
  if (!decodes) return prompts ? submit_prefill() : submit_ahead();
  // Who is ready while others decode joins them after that: one step for all, not one for each.
  const bool others_decode =
      std::ranges::any_of(in_flight_, [](const auto& one) { return !one->reads(); });
  return others_decode ? Result<void>() : submit_decode();
}

decltype(StepRequest::done) Scheduler::expect(std::shared_ptr<InFlightStep> step) {
  step->submitted = clock_();
  in_flight_.push_back(step);
  return [step, clock = clock_](Result<std::span<const float>> values) {
    step->has_arrived = true;
    step->arrived = clock();
    if (values) {
      step->values.assign(values->begin(), values->end());
    } else {
      step->error = std::move(values).error();
    }
  };
}

Result<void> Scheduler::submit(std::shared_ptr<InFlightStep> step, StepRequest request) {
  request.done = expect(std::move(step));
  return program_->submit(request);
}

Result<void> Scheduler::submit(InFlightStep step, std::vector<Slot> slots,
                               std::vector<uint32_t> ids, std::vector<uint32_t> outputs,
                               std::span<const InputWrite> inputs,
                               std::span<const BufferCopy> copies) {
  const Plan& plan = program_->plan();
  const Phase& phase = plan.phases[step.phase];
  StepRequest request{.phase = step.phase,
                      .slots = std::move(slots),
                      .tokens = ids,
                      .outputs = outputs,
                      .inputs = inputs,
                      .done = {},
                      .copies = copies};
  request.continues = step.ahead > 0;
  if (step.kind == StepKind::kVerify) {
    request.result_bytes = 4 * step.rows.size() * row_size(phase.result);
  } else if (!step.chooses()) {
    request.result_bytes = 4 * std::max<uint64_t>(step.rows.size() * options_.vocab, 1);
  } else {
    const uint64_t row = 4 * row_size(phase.result);
    const uint64_t kept = uint64_t(phase.result.shape[0]);
    request.result_first = step.ahead % kept * phase.max_tokens * row;
    request.result_bytes = ((step.steps - 1) * phase.max_tokens + step.rows.size()) * row;
    request.repeat = step.steps;
  }
  step.tokens = uint32_t(ids.size());
  stats_.steps += step.steps;
  const auto shared = std::make_shared<InFlightStep>(std::move(step));
  request.cancelled = [this, shared] {
    return std::ranges::all_of(shared->members, [this, now = clock_()](const Row& row) {
      return !is_current(row) || is_unwanted(*row.sequence, now);
    });
  };
  return submit(shared, std::move(request));
}

bool Scheduler::is_unwanted(const Sequence& sequence, double now) {
  const Request& request = sequence.request;
  return (request.callbacks.cancelled && request.callbacks.cancelled()) ||
         (request.deadline && now >= *request.deadline);
}

uint32_t Scheduler::prefill_tokens() const {
  uint64_t reading = 0, decoding = 0;
  for (const Sequence* sequence : running()) {
    if (!sequence->is_held) ++(sequence->left() > 1 ? reading : decoding);
  }
  const uint64_t chunk = program_->plan().chunk();
  if (decoding == 0) return uint32_t(chunk);
  // Many who wait for their first token may keep a few waiting for their next.
  const uint64_t fair = budget_.tokens() * std::max(reading, decoding) / decoding;
  return uint32_t(std::min(fair, chunk));
}

Result<void> Scheduler::submit_prefill() {
  const Plan& plan = program_->plan();
  const uint32_t budget = prefill_tokens();
  const size_t most_outputs = std::min(plan.slots, plan.prompt_outputs);
  InFlightStep step;
  std::vector<Slot> slots;
  std::vector<uint32_t> ids, outputs;
  std::vector<Sequence*> at_checkpoints;
  bool has_image = false;
  for (Sequence* sequence : running()) {  // preempted ones read no prompt any more
    if (!sequence->reads_prompt() || ids.size() >= budget || slots.size() == plan.slots) continue;
    const uint32_t checkpoint = next_checkpoint(*sequence);
    const auto free = uint32_t(most_outputs - outputs.size());
    uint32_t count = step_tokens(*sequence, checkpoint, budget, uint32_t(ids.size()), has_image);
    const bool scores = sequence->scores_prompt();
    if (scores) count = std::min(count, free);
    if (count == 0) continue;  // its image has a step to itself, or others have all output rows
    const bool ends = count == sequence->left();
    if (ends && free == 0) continue;
    TOK_TRY(const bool is_encoded, encode_image(*sequence, count));
    if (!is_encoded) continue;
    // Who has rows in this step already keeps its pages.
    const uint32_t end = sequence->position + count;
    TOK_TRY(const bool has_pages,
            slots.empty() ? reserve_before_others(*sequence, end) : reserve(*sequence, end));
    if (!has_pages) break;
    slots.push_back({.count = count,
                     .position = sequence->position,
                     .length = uint32_t(sequence->ids.size()),
                     .index = *sequence->slot,
                     .rotary_shift = sequence->rotary_shift(),
                     .adapter = sequence->request.adapter});
    has_image = has_image || sequence->places.image(sequence->position, count) != nullptr;
    const auto fed = std::span(sequence->ids).subspan(sequence->position, count);
    ids.insert(ids.end(), fed.begin(), fed.end());
    Row row = {sequence, sequence->id, sequence->version};
    row.begin = sequence->position;
    step.members.push_back(row);
    if (sequence->position + count == checkpoint) at_checkpoints.push_back(sequence);
    for (uint32_t i = scores ? 0 : count - 1; i < count; ++i) {
      const bool is_last = ends && i + 1 == count;
      if (!scores && !is_last) continue;
      row.scored = is_last ? 0 : sequence->position + i + 1;
      step.rows.push_back(row);
      outputs.push_back(uint32_t(ids.size()) - count + i);
    }
    sequence->steps.add(sequence->position, count);
    advance(*sequence, count);
  }
  if (slots.empty()) return {};  // the only one has given back its pages
  if (outputs.empty()) outputs.push_back(uint32_t(ids.size()) - 1);
  step.phase = plan.phase_for(ids.size(), has_image ? PhaseKind::kImages : PhaseKind::kPrefill);
  if (ids.size() == 1) step.phase = plan.phase_at(step.phase, slots[0].position);
  did_prefill_ = true;
  ++stats_.prefill_steps;
  stats_.prefill_tokens += ids.size();
  std::optional<ImageStepInputs> own_inputs;
  std::vector<InputWrite> inputs;
  if (has_image) {
    own_inputs.emplace(plan, *options_.images);
    TOK_TRY(inputs, prepare_images(*own_inputs, slots));
  }
  TOK_TRY(submit(std::move(step), std::move(slots), std::move(ids), std::move(outputs), inputs));
  if (in_flight_.back()->error) return {};  // it was cancelled: its states are of no use
  for (const Sequence* sequence : at_checkpoints) TOK_TRY(add_checkpoint(*sequence));
  return {};
}

Result<void> Scheduler::submit_decode() {
  const Plan& plan = program_->plan();
  did_prefill_ = false;
  std::vector<Sequence*> chosen;
  bool is_greedy = true;
  const uint32_t most =
      std::min(max_rows(plan, PhaseKind::kSampled), max_rows(plan, PhaseKind::kGreedy));
  for (Sequence* sequence : running()) {
    if (!sequence->is_ready() || chosen.size() == most) continue;
    if (is_long(*sequence) != sequence->is_long) {  // its keys are turned by the other part
      start_again(*sequence);
      sequence->replay_tokens = 0;
      continue;
    }
    TOK_TRY(const bool has_pages, reserve_before_others(*sequence, sequence->position + 1));
    if (!has_pages) continue;
    chosen.push_back(sequence);
    is_greedy = is_greedy && (sequence->left() > 1 || (is_plain_greedy(sequence->request.params) &&
                                                       !sequence->wants_logits()));
  }
  std::erase_if(chosen, [](const Sequence* one) { return !one->is_ready(); });  // preempted
  if (chosen.empty()) return {};
  for (Sequence* sequence : chosen) {
    if (is_greedy || sequence->left() > 1 || sequence->lists.wants_list()) continue;
    sequence->lists.made_no_list();
    sequence->needs_logits = true;
  }
  TOK_TRY(const bool verifies, submit_verify(chosen));
  if (verifies) return {};
  if (chosen.size() == 1 && chosen[0]->left() == 1 && chosen[0]->wants_logits()) {
    return submit_for_logits(*chosen[0]);
  }
  InFlightStep step;
  step.kind = is_greedy ? StepKind::kGreedy : StepKind::kSampled;
  step.phase = plan.phase_for(chosen.size(), is_greedy ? PhaseKind::kGreedy : PhaseKind::kSampled);
  std::vector<Slot> slots;
  std::vector<uint32_t> ids;
  for (Sequence* sequence : chosen) {
    SamplingRule rule;
    if (!is_greedy) {
      TOK_TRY(rule, rule_for(*sequence, plan.phases[step.phase]));
    }
    slots.push_back({.position = sequence->position,
                     .length = uint32_t(sequence->ids.size()),
                     .index = *sequence->slot,
                     .rule = rule,
                     .rotary_shift = sequence->rotary_shift(),
                     .adapter = sequence->request.adapter});
    ids.push_back(sequence->ids[sequence->position]);
    step.rows.push_back({.sequence = sequence,
                         .id = sequence->id,
                         .version = sequence->version,
                         .is_known = sequence->left() > 1,
                         .begin = sequence->position});
  }
  step.members = step.rows;
  if (slots.size() == 1) step.phase = plan.phase_at(step.phase, slots[0].position);
  const std::vector<BufferCopy> copies = checkpoint_ahead(*chosen[0]);
  for (Sequence* sequence : chosen) advance(*sequence, 1);
  TOK_TRY(submit(std::move(step), std::move(slots), std::move(ids), {}, {}, copies));
  const std::shared_ptr<const InFlightStep> submitted = in_flight_.back();
  for (size_t row = 0; row < chosen.size(); ++row) {
    if (is_greedy || submitted->rows[row].is_known) continue;
    if (chosen[row]->wants_logits()) {
      TOK_TRY(submit_logits(*submitted, row));
    }
    chosen[row]->make_mask(options_.vocab);
  }
  return {};
}

uint32_t Scheduler::tokens_left(const Sequence& sequence) const {
  const uint32_t wanted = sequence.request.params.max_tokens;
  return wanted - std::min(wanted, uint32_t(sequence.text.generation().ids.size()));
}

uint32_t Scheduler::room_ahead(const Sequence& sequence) const {
  const bool is_greedy = is_plain_greedy(sequence.request.params);
  // A wrong guess must be taken back: recurrent states to a checkpoint.
  const bool can_go_back = !is_recurrent_ || (single_slot_ && uses_checkpoints_);
  const bool is_guessed = can_go_back && !sequence.wants_logits() &&
                          sequence.lists.allows_run_ahead() && !sequence.request.params.grammar &&
                          can_guess(sequence.request.params.sampling);
  if (sequence.is_held || (!is_greedy && !is_guessed)) return 0;
  const auto above = [](uint32_t most, uint32_t taken) { return most - std::min(most, taken); };
  uint32_t room = std::min(above(tokens_left(sequence), sequence.in_flight),
                           above(options_.context, sequence.position));
  if (short_rows_ != 0 && sequence.ids.size() <= short_rows_) {
    room = std::min(room, above(short_rows_, sequence.position + 1));
  }
  return room;
}

uint32_t Scheduler::max_steps_ahead() const {
  const double seconds = budget_.decode_seconds();
  const double most =
      seconds > 0 ? (single_slot_ ? kSecondsAheadAlone : kSecondsAhead) / seconds : 0;
  const auto steps = uint32_t(
      std::clamp<double>(most, kMaxInFlight, single_slot_ ? kMaxStepsAheadAlone : kMaxStepsAhead));
  // A step writes into a window's ring where the oldest position was: those ahead must not reach
  // what the next position still sees.
  return std::min(steps, window_spare_);
}

Result<void> Scheduler::submit_ahead() {
  if (in_flight_.empty() || !in_flight_.back()->chooses()) return {};
  const InFlightStep& last = *in_flight_.back();
  if (defer_for_verification(last)) return {};
  const Plan& plan = program_->plan();
  const auto kept = uint32_t(plan.phases[last.phase].result.shape[0]);
  InFlightStep step;
  step.kind = last.kind;
  step.phase = last.phase;
  step.rows = step.members = last.rows;
  step.ahead = last.ahead + last.steps;
  // Twice those before, so that the first token does not wait for many.
  step.steps = std::min(
      {2 * last.steps, max_steps_ahead() / uint32_t(kMaxInFlight), kept - step.ahead % kept});
  for (const Row& row : step.rows) {
    if (!is_current(row)) return {};
    step.steps = std::min(step.steps, room_ahead(*row.sequence));
  }
  if (step.rows.size() == 1) {
    const uint32_t position = step.rows[0].sequence->position;
    step.steps = std::min(step.steps, plan.change_after(last.phase, position - 1) - position);
  }
  for (const Row& row : step.rows) {
    Sequence& sequence = *row.sequence;
    TOK_TRY(const bool has_pages, reserve(sequence, sequence.position + step.steps));
    if (has_pages) continue;
    const auto held = uint32_t(sequence.pages.size()) * kPageTokens;
    step.steps = std::min(step.steps, held - std::min(held, sequence.position));
  }
  Sequence& first = *step.rows[0].sequence;
  if (single_slot_ && uses_checkpoints_) {  // which are made where a page begins
    step.steps = std::min(step.steps, kPageTokens - first.position % kPageTokens);
  }
  if (step.steps == 0) return {};
  step.grows = step.steps > last.steps;
  const std::vector<BufferCopy> copies = checkpoint_ahead(first);
  for (const Row& row : step.rows) advance(*row.sequence, step.steps, step.steps);
  return submit(std::move(step), {}, {}, {}, {}, copies);
}

void Scheduler::advance(Sequence& sequence, uint32_t count, uint32_t steps) {
  sequence.position += count;
  sequence.in_flight += steps;
  if (single_slot_) written_ = std::max(written_, sequence.position);
}

Result<void> Scheduler::submit_for_logits(Sequence& sequence) {
  const Plan& plan = program_->plan();
  const uint32_t position = sequence.position;
  InFlightStep step;
  step.kind = StepKind::kDecode;
  step.phase = plan.phase_at(plan.phase_for(1), position);
  Row row = {&sequence, sequence.id, sequence.version};
  row.begin = position;
  step.rows = step.members = {row};
  std::vector<Slot> slots = {{.position = position,
                              .length = uint32_t(sequence.ids.size()),
                              .index = *sequence.slot,
                              .rotary_shift = sequence.rotary_shift(),
                              .adapter = sequence.request.adapter}};
  const std::vector<BufferCopy> copies = checkpoint_ahead(sequence);
  advance(sequence, 1);
  return submit(std::move(step), std::move(slots), {sequence.ids.back()}, {0}, {}, copies);
}

Result<void> Scheduler::submit_logits(const InFlightStep& step, size_t row) {
  const Phase& phase = program_->plan().phases[step.phase];
  InFlightStep own;
  own.kind = StepKind::kLogits;
  own.phase = step.phase;
  own.rows = own.members = {step.rows[row]};
  ++step.rows[row].sequence->in_flight;
  StepRequest request{.phase = step.phase, .slots = {}, .tokens = {}, .done = {}};
  request.repeat = 0;
  request.continues = true;
  request.result = &list_step(phase).inputs.front();
  request.result_bytes = 4 * uint64_t{options_.vocab};
  request.result_first = row * request.result_bytes;
  return submit(std::make_shared<InFlightStep>(std::move(own)), std::move(request));
}

}  // namespace tokamak
