// The part of Scheduler that knows of grammars and penalties: what the device gets before it
// makes a list, and tokens that need no step to be known.
#include "generate/schedule/scheduler_state.h"
#include "generate/steps/phase_results.h"

namespace tokamak {
namespace {

/// Beside others that generate, a longer run is read as a prompt is: a step for all of it.
constexpr uint32_t kMaxSteppedRun = 4;

}  // namespace

void Scheduler::choose_steps_of_runs() {
  const bool is_alone = std::ranges::count(slots_, nullptr) + 1 >= std::ssize(slots_);
  for (Sequence* sequence : running()) {
    const bool has_run = sequence->has_run();
    sequence->steps_run = has_run && !is_alone && sequence->left() <= kMaxSteppedRun;
    // Its keys are turned by the other part of a rotary table, as in submit_decode().
    if (has_run && is_long(*sequence) != sequence->is_long) start_again(*sequence);
  }
}

bool Scheduler::take_run(Sequence& sequence) {
  GrammarFilter* filter = sequence.text.filter();
  if (filter == nullptr || !sequence.forced_logprobs.empty()) return true;
  const std::vector<uint32_t> run = filter->forced();
  stats_.forced_tokens += run.size();
  if (sequence.request.params.logprobs) {
    sequence.forced_logprobs.assign(run.begin(), run.end());
    return true;
  }
  sequence.run = uint32_t(run.size());
  return std::ranges::all_of(run, [&](uint32_t id) { return append_token(sequence, id, nullptr); });
}

Result<SamplingRule> Scheduler::rule_for(Sequence& sequence, const Phase& phase) {
  const GenerationParams& params = sequence.request.params;
  SamplingRule rule = sampling_rule(params.sampling, sequence.sampler.random_state());
  rule.repetition_penalty = 1;  // the host applies it
  sequence.is_masked = false;
  if (sequence.left() > 1 || sequence.wants_logits()) return rule;
  const auto words = size_t(token_words(options_.vocab));
  const uint64_t place = *sequence.slot * words;
  if (GrammarFilter* filter = sequence.text.filter()) {
    // A mask that has to be made is made while the device works, unless the list is of no use
    // without it.
    const bool waits = is_recurrent_ || !can_take_lists(params.sampling, true);
    if (!waits && !filter->has_mask()) return rule;
    const auto mask = filter->mask(options_.vocab);
    if (!mask) {
      sequence.needs_logits = true;  // which say the same, where somebody listens
      return rule;
    }
    if (!std::ranges::equal(sequence.mask, *mask)) {
      sequence.mask.assign(mask->begin(), mask->end());
      const BufferId allowed = list_step(phase).inputs.back().buffer;
      TOK_TRY(program_->write_table(allowed, sequence.mask, place));
    }
    sequence.is_masked = true;
    rule.masked = 1;
  } else if (params.sampling.repetition_penalty != 1 && can_guess(params.sampling)) {
    rule.repetition_penalty = float(params.sampling.repetition_penalty);
    if (std::exchange(sequence.knows_occurred, true)) return rule;
    std::vector<uint32_t> occurred(words);
    for (const uint32_t id : sequence.previous_ids()) add_token(std::span(occurred), id);
    TOK_TRY(program_->write_table(phase.steps.back().outputs[1].buffer, occurred, place));
  }
  return rule;
}

}  // namespace tokamak
