// The part of Scheduler that submits steps and takes their results.
#include "generate/phase_results.h"
#include "generate/scheduler_state.h"

namespace tokamak {
namespace {

/// Steps under way: the device has one to run while this program reads the other's results.
constexpr size_t kMaxUnderWay = 2;

uint32_t max_rows(const Plan& plan, PhaseKind kind) {
  uint32_t most = 0;
  for (const Phase& phase : plan.phases) {
    if (phase.kind == kind) most = std::max(most, phase.max_tokens);
  }
  return most;
}

}  // namespace

Result<void> Scheduler::submit_next() {
  if (under_way_.size() >= kMaxUnderWay) return {};
  admit();
  const auto any = [&](auto test) {
    return std::ranges::any_of(sequences_, [&](const auto& one) { return test(*one); });
  };
  const bool decodes = any([](const Sequence& one) { return one.is_ready(); });
  const bool prompts = any([](const Sequence& one) { return one.reads_prompt(); });
  if (prompts && !(decodes && did_prefill_)) return submit_prefill();
  if (decodes) return submit_decode();
  return prompts ? submit_prefill() : submit_ahead();
}

Result<void> Scheduler::submit(std::shared_ptr<UnderWay> step, StepRequest request) {
  request.done = [step, clock = clock_](Result<std::span<const float>> values) {
    step->has_arrived = true;
    step->arrived = clock();
    if (values) {
      step->values.assign(values->begin(), values->end());
    } else {
      step->error = std::move(values).error();
    }
  };
  step->submitted = clock_();
  under_way_.push_back(std::move(step));
  return program_->submit(request);
}

Result<void> Scheduler::submit(UnderWay step, std::vector<Slot> slots, std::vector<uint32_t> ids,
                               std::vector<uint32_t> outputs) {
  const Plan& plan = program_->plan();
  const Phase& phase = plan.phases[step.phase];
  StepRequest request{.phase = step.phase,
                      .slots = std::move(slots),
                      .tokens = ids,
                      .outputs = outputs,
                      .done = {}};
  request.continues = step.ahead > 0;
  if (step.kind == StepKind::kPrefill) {
    request.result_bytes = 4 * std::max<uint64_t>(step.rows.size() * options_.vocab, 1);
  } else {
    const uint64_t row = 4 * row_size(phase.result);
    const uint64_t kept = uint64_t(phase.result.shape[0]);
    request.result_first = step.ahead % kept * phase.max_tokens * row;
    request.result_bytes = step.rows.size() * row;
  }
  step.tokens = uint32_t(ids.size());
  ++stats_.steps;
  return submit(std::make_shared<UnderWay>(std::move(step)), std::move(request));
}

Result<void> Scheduler::submit_prefill() {
  const Plan& plan = program_->plan();
  const bool decodes = std::ranges::any_of(
      sequences_, [](const auto& one) { return one->slot && one->left() <= 1; });
  const uint32_t budget = decodes ? budget_.tokens() : plan.chunk();
  UnderWay step;
  std::vector<Slot> slots;
  std::vector<uint32_t> ids, outputs;
  for (const auto& sequence : sequences_) {
    if (!sequence->reads_prompt() || ids.size() == budget || slots.size() == plan.slots) continue;
    const auto count = std::min(sequence->left(), budget - uint32_t(ids.size()));
    const bool ends = count == sequence->left();
    if (ends && step.rows.size() == kMaxPromptOutputs) continue;
    // Who has rows in this step already keeps its pages.
    const uint32_t end = sequence->position + count;
    TOK_TRY(const bool has_pages,
            slots.empty() ? reserve_before_others(*sequence, end) : reserve(*sequence, end));
    if (!has_pages) break;
    slots.push_back({.count = count,
                     .position = sequence->position,
                     .length = uint32_t(sequence->ids.size()),
                     .index = *sequence->slot});
    const auto fed = std::span(sequence->ids).subspan(sequence->position, count);
    ids.insert(ids.end(), fed.begin(), fed.end());
    const Row row = {sequence.get(), sequence->id, sequence->version};
    step.members.push_back(row);
    if (ends) {
      step.rows.push_back(row);
      outputs.push_back(uint32_t(ids.size()) - 1);
    }
    sequence->position += count;
    ++sequence->under_way;
  }
  if (slots.empty()) return {};  // the only one has given back its pages
  if (outputs.empty()) outputs.push_back(uint32_t(ids.size()) - 1);
  step.phase = plan.phase_for(ids.size());
  if (ids.size() == 1) step.phase = plan.phase_at(step.phase, slots[0].position);
  did_prefill_ = true;
  ++stats_.prefill_steps;
  stats_.prefill_tokens += ids.size();
  return submit(std::move(step), std::move(slots), std::move(ids), std::move(outputs));
}

Result<void> Scheduler::submit_decode() {
  const Plan& plan = program_->plan();
  did_prefill_ = false;
  std::vector<Sequence*> chosen;
  bool is_greedy = true;
  const uint32_t most =
      std::min(max_rows(plan, PhaseKind::kSampled), max_rows(plan, PhaseKind::kGreedy));
  for (const auto& sequence : sequences_) {
    if (!sequence->is_ready() || chosen.size() == most) continue;
    if (is_long(*sequence) != sequence->is_long) {  // its keys are turned by the other part
      start_again(*sequence);
      continue;
    }
    TOK_TRY(const bool has_pages, reserve_before_others(*sequence, sequence->position + 1));
    if (!has_pages) continue;
    chosen.push_back(sequence.get());
    is_greedy = is_greedy && is_plain_greedy(sequence->request.params);
  }
  std::erase_if(chosen, [](const Sequence* one) { return !one->is_ready(); });  // preempted
  if (chosen.empty()) return {};
  UnderWay step;
  step.kind = is_greedy ? StepKind::kGreedy : StepKind::kSampled;
  step.phase = plan.phase_for(chosen.size(), is_greedy ? PhaseKind::kGreedy : PhaseKind::kSampled);
  std::vector<Slot> slots;
  std::vector<uint32_t> ids;
  for (Sequence* sequence : chosen) {
    SamplingRule rule =
        sampling_rule(sequence->request.params.sampling, sequence->sampler.random_state());
    rule.repetition_penalty = 1;  // the host applies it: the device is not told what has occurred
    slots.push_back({.position = sequence->position,
                     .length = uint32_t(sequence->ids.size()),
                     .index = *sequence->slot,
                     .rule = rule});
    ids.push_back(sequence->ids.back());
    step.rows.push_back({sequence, sequence->id, sequence->version});
    ++sequence->position;
    ++sequence->under_way;
  }
  step.members = step.rows;
  if (slots.size() == 1) step.phase = plan.phase_at(step.phase, slots[0].position);
  TOK_TRY(submit(std::move(step), std::move(slots), std::move(ids), {}));
  const std::shared_ptr<const UnderWay> submitted = under_way_.back();
  for (size_t row = 0; row < chosen.size(); ++row) {
    if (!is_greedy && (chosen[row]->reads_logits || chosen[row]->needs_logits)) {
      TOK_TRY(submit_logits(*submitted, row));
    }
  }
  return {};
}

uint32_t Scheduler::tokens_left(const Sequence& sequence) const {
  const uint32_t wanted = sequence.request.params.max_tokens;
  return wanted - std::min(wanted, uint32_t(sequence.text.generation().ids.size()));
}

bool Scheduler::may_run_ahead(const Sequence& sequence) const {
  const auto known = uint32_t(sequence.ids.size());
  const uint32_t next = sequence.position + 1;  // positions that are taken then
  if (tokens_left(sequence) <= sequence.under_way || next > options_.context) return false;
  if (short_rows_ != 0 && known <= short_rows_ && next + 1 > short_rows_) return false;
  if (is_plain_greedy(sequence.request.params)) return true;
  // What was guessed wrongly must be taken back, which recurrent states cannot.
  return !is_recurrent_ && !sequence.reads_logits && !sequence.needs_logits &&
         !sequence.request.params.grammar &&
         sequence.request.params.sampling.repetition_penalty == 1 &&
         can_guess(sequence.request.params.sampling);
}

Result<void> Scheduler::submit_ahead() {
  if (under_way_.empty()) return {};
  const UnderWay& last = *under_way_.back();
  if (last.kind != StepKind::kGreedy && last.kind != StepKind::kSampled) return {};
  const Plan& plan = program_->plan();
  for (const Row& row : last.rows) {
    const bool is_there = is_current(row) && row.sequence->under_way == 1;
    if (!is_there || !may_run_ahead(*row.sequence)) return {};
    const uint32_t position = row.sequence->position;
    if (last.rows.size() == 1 && plan.change_after(last.phase, position - 1) == position) {
      return {};  // another phase takes over
    }
    TOK_TRY(const bool has_pages, reserve(*row.sequence, position + 1));
    if (!has_pages) return {};
  }
  UnderWay step;
  step.kind = last.kind;
  step.phase = last.phase;
  step.rows = step.members = last.rows;
  step.ahead = last.ahead + 1;
  for (const Row& row : step.rows) {
    ++row.sequence->position;
    ++row.sequence->under_way;
  }
  return submit(std::move(step), {}, {}, {});
}

Result<void> Scheduler::submit_logits(const UnderWay& step, size_t row) {
  const Phase& phase = program_->plan().phases[step.phase];
  UnderWay own;
  own.kind = StepKind::kLogits;
  own.phase = step.phase;
  own.rows = own.members = {step.rows[row]};
  ++step.rows[row].sequence->under_way;
  StepRequest request{.phase = step.phase, .slots = {}, .tokens = {}, .done = {}};
  request.repeat = 0;
  request.continues = true;
  request.result = &list_step(phase).inputs.front();
  request.result_bytes = 4 * uint64_t{options_.vocab};
  request.result_first = row * request.result_bytes;
  return submit(std::make_shared<UnderWay>(std::move(own)), std::move(request));
}

void Scheduler::take_results() {
  while (!under_way_.empty() && under_way_.front()->has_arrived) {
    const std::shared_ptr<UnderWay> step = under_way_.front();
    under_way_.pop_front();
    losses_ = 0;
    take_step(*step);
  }
}

void Scheduler::take_step(UnderWay& step) {
  // The device began it when it had done the one before.
  const double seconds = step.arrived - std::max(step.submitted, last_arrival_);
  last_arrival_ = step.arrived;
  if (step.kind == StepKind::kPrefill) {
    budget_.read(step.tokens, seconds);
  } else if (step.kind != StepKind::kLogits) {
    budget_.decoded(seconds);
  }
  for (const Row& row : step.members) {
    if (is_current(row)) --row.sequence->under_way;
  }
  for (size_t i = 0; i < step.rows.size(); ++i) {
    if (!is_current(step.rows[i])) {
      ++stats_.discarded_tokens;
      continue;
    }
    if (step.error) {
      finish(*step.rows[i].sequence, *step.error);
    } else {
      take_row(step, i);
    }
  }
}

void Scheduler::take_row(UnderWay& step, size_t row) {
  Sequence& sequence = *step.rows[row].sequence;
  const std::span<const float> values = step.values;
  if (step.kind == StepKind::kPrefill || step.kind == StepKind::kLogits) {
    if (step.kind == StepKind::kPrefill && shares_prefixes_) {
      prefixes_.add(tenant_of(sequence), sequence.ids, sequence.pages);
    }
    take_logits(sequence, values.subspan(row * options_.vocab, options_.vocab));
    return;
  }
  const size_t size = row_size(program_->plan().phases[step.phase].result);
  const std::span<const float> own = values.subspan(row * size, size);
  const float chosen = own.back();
  if (step.kind == StepKind::kGreedy) {
    if (chosen >= 0 && chosen < float(options_.vocab)) {
      take_token(sequence, uint32_t(chosen), nullptr);
    } else {
      finish(sequence, Error{ErrorCode::kInvalidInput,
                             fmt::format("The logits after position {} have no finite largest "
                                         "value.",
                                         sequence.ids.size() - 1)});
    }
    return;
  }
  if (sequence.under_way > 0 && (sequence.reads_logits || sequence.needs_logits)) return;
  const std::span<const float> list = own.first(own.size() - 1);
  GrammarFilter* filter = sequence.text.filter();
  std::optional<uint32_t> id;
  if (filter == nullptr) {
    id = sequence.sampler.next_of_list(list, sequence.ids);
  } else {
    id = sequence.sampler.next_of_list(list, sequence.ids,
                                       [&](uint32_t other) { return filter->allows(other); });
    if (!filter->is_sure()) id.reset();
  }
  if (!id) {
    // The logits are gone where the device has run on: the token runs once more.
    sequence.needs_logits = true;
    return take_back_steps(sequence);
  }
  const uint64_t version = sequence.version;
  take_token(sequence, *id, nullptr);
  if (sequence.is_finished || sequence.version != version) return;
  if (sequence.under_way > 0 && float(*id) != chosen) {  // the device went on with another token
    take_back_steps(sequence);
  }
}

void Scheduler::take_logits(Sequence& sequence, std::span<const float> logits) {
  sequence.needs_logits = false;
  const GenerationParams& params = sequence.request.params;
  if (params.max_tokens == 0) return finish(sequence);
  std::span<const float> allowed = logits;
  if (GrammarFilter* filter = sequence.text.filter()) {
    const auto filtered = filter->allowed(logits);
    if (!filtered) return finish(sequence, filtered.error());
    allowed = *filtered;
  }
  const auto id =
      sequence.sampler.next(allowed, sequence.ids, sequence.text.generation().ids.size());
  if (!id) return finish(sequence, id.error());
  if (!params.logprobs) return take_token(sequence, *id, nullptr);
  const auto own = logprobs(logits, *id, params.top_logprobs);
  if (!own) return finish(sequence, own.error());
  take_token(sequence, *id, &*own);
}

void Scheduler::take_token(Sequence& sequence, uint32_t id, const Logprobs* logprobs) {
  ++stats_.decoded_tokens;
  if (sequence.text.generation().ids.empty()) sequence.first_token = clock_();
  sequence.ids.push_back(id);
  if (!sequence.text.take(id, logprobs)) return finish(sequence);
  if (sequence.ids.size() > options_.context) {
    sequence.text.end_for(FinishReason::kContextFull);
    finish(sequence);
  }
}

}  // namespace tokamak
