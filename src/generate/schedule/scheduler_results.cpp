// The part of Scheduler that takes the results of steps.
#include <cmath>

#include "generate/schedule/scheduler_state.h"
#include "generate/steps/phase_results.h"

namespace tokamak {
namespace {

constexpr uint32_t kNoToken = UINT32_MAX;

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
  while (!in_flight_.empty() && in_flight_.front()->has_arrived) {
    const std::shared_ptr<InFlightStep> step = in_flight_.front();
    in_flight_.pop_front();
    losses_ = 0;
    TOK_TRY(take_all(*step));
  }
  return {};
}

Result<void> Scheduler::take_all(const InFlightStep& step) {
  if (!step.error) take_times(step);  // those of a step that ended early mean nothing
  for (uint32_t i = 0; i < step.steps; ++i) TOK_TRY(take_step(step, i));
  return {};
}

void Scheduler::take_times(const InFlightStep& step) {
  // The device began it when it had done the one before.
  const double began = std::max(step.submitted, last_arrival_), seconds = step.arrived - began;
  last_arrival_ = step.arrived;
  if (step.kind == StepKind::kDraft) {
    if (step.drafting.tokens > 0) speculation_.drafted(step.drafting.tokens, clock_() - began);
    if (step.drafting.tokens == 0) speculation_.read(step.tokens, seconds);
    return;
  }
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
  } else if (step.kind != StepKind::kLogits && step.kind != StepKind::kVerify) {
    budget_.decoded(seconds / step.steps);
  }
  if (!speculation_.is_on()) return;
  const auto rows = uint32_t(step.rows.size());
  if (step.kind == StepKind::kVerify) {
    speculation_.verified(rows, clock_() - began);
  } else if (step.chooses()) {
    if (step.ahead > 0) {
      // Until they are as many as shall be in flight the device waits between them.
      if (!step.grows) speculation_.decoded(rows, step.steps, seconds / step.steps);
      return;
    }
    // The first of several that run ahead has the way to the host, too, which all of them share: it
    // takes what one does that verifies nothing.
    speculation_.verified(rows, clock_() - began);
    const bool runs_ahead = std::ranges::all_of(step.rows, [this](const Row& row) {
      return is_current(row) && room_ahead(*row.sequence) > 0;
    });
    if (!runs_ahead) speculation_.decoded(rows, 1, clock_() - began);
  }
}

Result<void> Scheduler::take_step(const InFlightStep& step, uint32_t number) {
  if (step.error && step.error->code == ErrorCode::kCancelled) {
    for (const Row& row : step.members) give_up_step(row);
    return {};
  }
  for (const Row& row : step.members) {
    if (is_current(row)) --row.sequence->in_flight;
  }
  for (size_t i = 0; i < step.rows.size(); ++i) {
    if (!is_current(step.rows[i])) {
      const bool is_guessed = step.kind == StepKind::kVerify || step.kind == StepKind::kDraft;
      stats_.discarded_tokens += is_guessed ? 0 : 1;
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

void Scheduler::give_up_step(const Row& row) {
  if (!is_current(row)) return;
  Sequence& sequence = *row.sequence;
  sequence.position = std::min(sequence.position, row.begin);  // the rest was not computed
  sequence.text.end_for(FinishReason::kCancelled);
  finish(sequence);
}

Result<void> Scheduler::take_row(const InFlightStep& step, uint32_t number, size_t row) {
  if (step.kind == StepKind::kDraft) {
    take_draft(step, row);
    return {};
  }
  Sequence& sequence = *step.rows[row].sequence;
  const std::span<const float> values = step.values;
  const bool is_verified = step.kind == StepKind::kVerify;
  if (step.rows[row].scored > 0) {
    score(sequence, step.rows[row].scored, values.subspan(row * options_.vocab, options_.vocab));
    return {};
  }
  if (!step.chooses() && !is_verified) {
    if (step.kind == StepKind::kPrefill && shares_prefixes_) {
      prefixes_.add(tenant_of(sequence), sequence.ids, sequence.pages);
    }
    take_logits(sequence, values.subspan(row * options_.vocab, options_.vocab),
                step.rows[row].guess);
    return {};
  }
  if (step.rows[row].is_known) return {};
  const Phase& phase = program_->plan().phases[step.phase];
  const size_t size = row_size(phase.result);
  const std::span<const float> own = values.subspan((number * phase.max_tokens + row) * size, size);
  const std::span<const float> list = is_verified ? own : own.first(own.size() - 1);
  const size_t position = sequence.ids.size() - 1;
  Result<std::optional<uint32_t>> chosen = step.rows[row].guess;
  if (!is_verified) chosen = token_named(own.back(), options_.vocab, position);
  for (size_t i = 1; chosen && i < list.size(); i += 2) {
    const auto listed = token_named(list[i], options_.vocab, position);
    if (!listed) chosen = Failure(listed.error());
  }
  if (!chosen) {
    finish(sequence, chosen.error());
  } else if (step.kind == StepKind::kSampled || is_verified) {
    return take_list(step, number, row, list, *chosen);
  } else if (*chosen) {
    take_token(sequence, **chosen, nullptr, std::nullopt);
  } else {
    finish(sequence, Error{ErrorCode::kInvalidInput,
                           fmt::format("The logits after position {} have no finite largest value.",
                                       position)});
  }
  return {};
}

Result<void> Scheduler::take_list(const InFlightStep& step, uint32_t number, size_t row,
                                  std::span<const float> list, std::optional<uint32_t> chosen) {
  Sequence& sequence = *step.rows[row].sequence;
  if (sequence.in_flight > 0 && sequence.wants_logits()) return {};
  GrammarFilter* filter = sequence.is_masked ? nullptr : sequence.text.filter();
  const uint64_t generated = sequence.text.generation().ids.size();
  std::optional<uint32_t> id;
  if (filter == nullptr) {
    id = sequence.sampler.next_of_list(list, sequence.previous_ids(), generated);
  } else {
    id = sequence.sampler.next_of_list(list, sequence.previous_ids(), generated,
                                       [&](uint32_t other) { return filter->allows(other); });
    if (!filter->is_sure()) id.reset();
  }
  if (!id) {
    // A list of all tokens was made in the place of a mask's.
    if (filter == nullptr) sequence.lists.was_not_enough();
    sequence.needs_logits = true;
    const bool is_last = step.kind == StepKind::kSampled && number + 1 == step.steps &&
                         std::ranges::all_of(in_flight_, [](const auto& one) {
                           return one->kind == StepKind::kLogits;
                         });
    if (is_last) return submit_logits(step, row);
    take_back_steps(sequence);  // the logits are gone: the token runs once more
    return {};
  }
  sequence.lists.was_enough();
  ++stats_.listed_tokens;
  const bool is_verified = step.kind == StepKind::kVerify;
  if (id != chosen || is_verified) sequence.knows_occurred = false;
  stats_.accepted_tokens += step.rows[row].guess == *id ? 1 : 0;
  const bool continues = is_verified ? chosen.has_value() : sequence.in_flight > 0;
  take_token(sequence, *id, nullptr,
             continues ? std::optional(chosen.value_or(kNoToken)) : std::nullopt);
  return {};
}

void Scheduler::take_logits(Sequence& sequence, std::span<const float> logits,
                            std::optional<uint32_t> guess) {
  sequence.needs_logits = false;
  const GenerationParams& params = sequence.request.params;
  if (sequence.request.logits && sequence.text.generation().ids.empty()) {
    sequence.request.logits(logits);
  }
  if (params.max_tokens == 0) return finish(sequence);
  const bool begins = sequence.text.generation().ids.empty();
  if (begins && (!take_run(sequence) || sequence.left() > 0)) return;
  if (!sequence.forced_logprobs.empty()) {
    const uint32_t id = sequence.forced_logprobs.front();
    sequence.forced_logprobs.pop_front();
    const auto own = logprobs(logits, id, params.top_logprobs);
    return own ? take_token(sequence, id, &*own, std::nullopt) : finish(sequence, own.error());
  }
  std::span<const float> allowed = logits;
  if (GrammarFilter* filter = sequence.text.filter()) {
    const auto filtered = filter->allowed(logits);
    if (!filtered) return finish(sequence, filtered.error());
    allowed = *filtered;
  }
  const auto id = sequence.sampler.next(allowed, sequence.previous_ids(),
                                        sequence.text.generation().ids.size());
  if (!id) return finish(sequence, id.error());
  stats_.accepted_tokens += guess == *id ? 1 : 0;
  if (!params.logprobs) return take_token(sequence, *id, nullptr, guess);
  const auto own = logprobs(logits, *id, params.top_logprobs);
  if (!own) return finish(sequence, own.error());
  take_token(sequence, *id, &*own, guess);
}

void Scheduler::score(Sequence& sequence, uint32_t token, std::span<const float> logits) {
  const GenerationParams& params = sequence.request.params;
  auto own = logprobs(logits, sequence.request.prompt[token], params.top_logprobs);
  if (!own) return finish(sequence, own.error());
  if (sequence.request.prompt_logits) sequence.request.prompt_logits(token - 1, logits);
  std::vector<Logprobs>& known = sequence.text.generation().prompt_logprobs;
  known.resize(token - 1);  // those after it are of a run that was given up
  known.push_back(*std::move(own));
  const auto& callback = sequence.request.callbacks.prompt_logprobs;
  if (!sequence.scores_prompt() && callback) callback(known);
}

void Scheduler::take_token(Sequence& sequence, uint32_t id, const Logprobs* logprobs,
                           std::optional<uint32_t> guess) {
  if (!append_token(sequence, id, logprobs)) return;
  if (guess && *guess != id) take_back_steps(sequence);
  take_run(sequence);
}

bool Scheduler::append_token(Sequence& sequence, uint32_t id, const Logprobs* logprobs) {
  ++stats_.decoded_tokens;
  const double now = clock_();
  const bool is_first = sequence.text.generation().ids.empty();
  if (is_first) sequence.first_token = now;
  if (observer_.token) {
    observer_.token(now - (is_first ? sequence.started : sequence.last_token), is_first);
  }
  sequence.last_token = now;
  sequence.add_id(id);
  bool continues = sequence.text.take(id, logprobs);
  if (continues && sequence.ids.size() > options_.context) {
    sequence.text.end_for(FinishReason::kContextFull);
    continues = false;
  }
  if (!continues) finish(sequence);
  return continues;
}

}  // namespace tokamak
