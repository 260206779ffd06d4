// The part of Scheduler that takes the results of steps.
#include <cmath>

#include "generate/phase_results.h"
#include "generate/scheduler_state.h"

namespace tokamak {

namespace {

/// The token that a device means by `number`; none by -1. Errors: what names no token.
Result<std::optional<uint32_t>> token_named(float number, uint32_t vocab, size_t position) {
  if (number == -1) return std::nullopt;
  if (number >= 0 && number < float(vocab) && number == std::floor(number)) {
    return std::optional(uint32_t(number));
  }
  return fail(ErrorCode::kDevice,
              "The device gives {} as a token after position {}, expected a whole number below {}, "
              "or -1 for none.",
              number, position, vocab);
}

}  // namespace

Result<void> Scheduler::take_results() {
  while (!under_way_.empty() && under_way_.front()->has_arrived) {
    const std::shared_ptr<UnderWay> step = under_way_.front();
    under_way_.pop_front();
    losses_ = 0;
    TOK_TRY(take_all(*step));
  }
  return {};
}

Result<void> Scheduler::take_all(const UnderWay& step) {
  // The device began it when it had done the one before.
  const double seconds = step.arrived - std::max(step.submitted, last_arrival_);
  last_arrival_ = step.arrived;
  const bool is_prefill = step.kind == StepKind::kPrefill;
  if (observer_.steps && step.kind != StepKind::kLogits) {
    const auto tokens = is_prefill ? step.tokens : uint32_t(step.rows.size());
    observer_.steps({.steps = step.steps,
                     .tokens = tokens,
                     .seconds = seconds,
                     .end = step.arrived,
                     .is_prefill = is_prefill});
  }
  if (is_prefill) {
    budget_.read(step.tokens, seconds);
  } else if (step.kind != StepKind::kLogits) {
    budget_.decoded(seconds / step.steps);
  }
  for (uint32_t i = 0; i < step.steps; ++i) TOK_TRY(take_step(step, i));
  return {};
}

Result<void> Scheduler::take_step(const UnderWay& step, uint32_t number) {
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
      TOK_TRY(take_row(step, number, i));
    }
  }
  return {};
}

Result<void> Scheduler::take_row(const UnderWay& step, uint32_t number, size_t row) {
  Sequence& sequence = *step.rows[row].sequence;
  const std::span<const float> values = step.values;
  if (!step.chooses()) {
    if (step.kind == StepKind::kPrefill && shares_prefixes_) {
      prefixes_.add(tenant_of(sequence), sequence.ids, sequence.pages);
    }
    take_logits(sequence, values.subspan(row * options_.vocab, options_.vocab));
    return {};
  }
  const Phase& phase = program_->plan().phases[step.phase];
  const size_t size = row_size(phase.result);
  const std::span<const float> own = values.subspan((number * phase.max_tokens + row) * size, size);
  const std::span<const float> list = own.first(own.size() - 1);
  const size_t position = sequence.ids.size() - 1;
  auto chosen = token_named(own.back(), options_.vocab, position);
  for (size_t i = 1; chosen && i < list.size(); i += 2) {
    const auto listed = token_named(list[i], options_.vocab, position);
    if (!listed) chosen = Failure(listed.error());
  }
  if (!chosen) {
    finish(sequence, chosen.error());
  } else if (step.kind == StepKind::kSampled) {
    return take_list(step, number, row, list, *chosen);
  } else if (*chosen) {
    take_token(sequence, **chosen, nullptr);
  } else {
    finish(sequence, Error{ErrorCode::kInvalidInput,
                           fmt::format("The logits after position {} have no finite largest value.",
                                       position)});
  }
  return {};
}

Result<void> Scheduler::take_list(const UnderWay& step, uint32_t number, size_t row,
                                  std::span<const float> list, std::optional<uint32_t> chosen) {
  Sequence& sequence = *step.rows[row].sequence;
  if (sequence.under_way > 0 && sequence.wants_logits()) return {};
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
    sequence.lists.was_not_enough();
    sequence.needs_logits = true;
    const bool is_last =
        number + 1 == step.steps && std::ranges::all_of(under_way_, [](const auto& one) {
          return one->kind == StepKind::kLogits;
        });
    if (is_last) return submit_logits(step, row);
    take_back_steps(sequence);  // the logits are gone: the token runs once more
    return {};
  }
  sequence.lists.was_enough();
  ++stats_.listed_tokens;
  const uint64_t version = sequence.version;
  take_token(sequence, *id, nullptr);
  if (sequence.is_finished || sequence.version != version) return {};
  if (sequence.under_way > 0 && id != chosen) {  // the device went on with another token
    take_back_steps(sequence);
  }
  return {};
}

void Scheduler::take_logits(Sequence& sequence, std::span<const float> logits) {
  sequence.needs_logits = false;
  const GenerationParams& params = sequence.request.params;
  if (sequence.request.logits && sequence.text.generation().ids.empty()) {
    sequence.request.logits(logits);
  }
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
