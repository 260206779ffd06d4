// The part of Scheduler that takes the results of steps.
#include "generate/phase_results.h"
#include "generate/scheduler_state.h"

namespace tokamak {

void Scheduler::take_results() {
  while (!under_way_.empty() && under_way_.front()->has_arrived) {
    const std::shared_ptr<UnderWay> step = under_way_.front();
    under_way_.pop_front();
    losses_ = 0;
    take_all(*step);
  }
}

void Scheduler::take_all(const UnderWay& step) {
  // The device began it when it had done the one before.
  const double seconds = step.arrived - std::max(step.submitted, last_arrival_);
  last_arrival_ = step.arrived;
  const bool is_prefill = step.kind == StepKind::kPrefill;
  if (observer_.step && step.kind != StepKind::kLogits) {
    const auto tokens = is_prefill ? step.tokens : uint32_t(step.rows.size());
    for (uint32_t i = 0; i < step.steps; ++i)
      observer_.step(tokens, seconds / step.steps, is_prefill);
  }
  if (is_prefill) {
    budget_.read(step.tokens, seconds);
  } else if (step.decodes()) {
    budget_.decoded(seconds / step.steps);
  }
  for (uint32_t i = 0; i < step.steps; ++i) take_step(step, i);
}

void Scheduler::take_step(const UnderWay& step, uint32_t number) {
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
      take_row(step, number, i);
    }
  }
}

void Scheduler::take_row(const UnderWay& step, uint32_t number, size_t row) {
  Sequence& sequence = *step.rows[row].sequence;
  const std::span<const float> values = step.values;
  if (step.kind == StepKind::kPrefill || step.kind == StepKind::kLogits) {
    if (step.kind == StepKind::kPrefill && shares_prefixes_) {
      prefixes_.add(tenant_of(sequence), sequence.ids, sequence.pages);
    }
    take_logits(sequence, values.subspan(row * options_.vocab, options_.vocab));
    return;
  }
  const Phase& phase = program_->plan().phases[step.phase];
  const size_t size = row_size(phase.result);
  const std::span<const float> own = values.subspan((number * phase.max_tokens + row) * size, size);
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
    id = sequence.sampler.next_of_list(list, sequence.previous_ids());
  } else {
    id = sequence.sampler.next_of_list(list, sequence.previous_ids(),
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
  const auto id = sequence.sampler.next(allowed, sequence.previous_ids(),
                                        sequence.text.generation().ids.size());
  if (!id) return finish(sequence, id.error());
  if (!params.logprobs) return take_token(sequence, *id, nullptr);
  const auto own = logprobs(logits, *id, params.top_logprobs);
  if (!own) return finish(sequence, own.error());
  take_token(sequence, *id, &*own);
}

void Scheduler::take_token(Sequence& sequence, uint32_t id, const Logprobs* logprobs) {
  ++stats_.decoded_tokens;
  const double now = clock_();
  const bool is_first = sequence.text.generation().ids.empty();
  if (is_first) sequence.first_token = now;
  if (observer_.token) {
    observer_.token(now - (is_first ? sequence.started : sequence.last_token), is_first);
  }
  sequence.last_token = now;
  sequence.add_id(id);
  if (!sequence.text.take(id, logprobs)) return finish(sequence);
  if (sequence.ids.size() > options_.context) {
    sequence.text.end_for(FinishReason::kContextFull);
    finish(sequence);
  }
}

}  // namespace tokamak
