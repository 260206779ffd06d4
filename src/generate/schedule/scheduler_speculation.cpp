// The part of Scheduler that verifies drafts: a sequence runs its last token and those that are
// guessed to follow in one step, and draws after each as it would have without. What it draws is
// taken as long as it is what was guessed, so that the tokens are those without, for the same
// randomness. What was written of wrong guesses is overwritten by what comes in their place.
#include "generate/schedule/scheduler_state.h"
#include "generate/steps/phase_results.h"

namespace tokamak {

uint32_t Scheduler::draft_room(const Sequence& sequence) const {
  const auto above = [](uint32_t most, uint32_t taken) { return most - std::min(most, taken); };
  // The last token that is wanted is drawn, not drafted.
  uint32_t room = std::min({above(tokens_left(sequence), sequence.in_flight + 1),
                            above(options_.context, sequence.position + 1), window_spare_});
  if (short_rows_ != 0 && !sequence.is_long) {
    room = std::min(room, above(short_rows_, sequence.position + 1));
  }
  return room;
}

std::vector<DraftChance> Scheduler::draft_chances(std::span<Sequence* const> sequences) {
  std::vector<DraftChance> chances;
  const bool is_made = has_model_drafts(sequences);
  for (Sequence* sequence : sequences) {
    DraftChance& chance = chances.emplace_back();
    // All logits of every row would have to be read, of wrong guesses, too.
    const bool is_dear = sequence->reads_logits && options_.speculation.adapts;
    // A grammar's runs are known without a guess, and its choices need a mask for every row.
    if (sequence->text.filter() != nullptr) continue;
    const uint32_t room = draft_room(*sequence);
    if (is_dear || sequence->needs_logits || room == 0) continue;
    if (options_.speculation.asks_model) {
      chance = model_chance(*sequence, room, is_made);
      continue;
    }
    chance.lag = sequence->in_flight;
    const uint32_t most = chance.lag + std::min(room, speculation_.draft_tokens());
    const Draft& draft =
        sequence->drafter.propose(sequence->ids, most, options_.vocab, speculation_);
    chance.tokens = uint32_t(draft.ids.size());
    chance.rate = sequence->drafter.rate(speculation_);
  }
  return chances;
}

bool Scheduler::defer_for_verification(const InFlightStep& last) {
  if (verify_rows_ == 0 || last.rows.size() > verify_rows_) return false;
  // The same as before until something has come or gone, however often step() is called.
  const uint64_t now = stats_.steps + stats_.decoded_tokens;
  if (std::exchange(decided_at_, now) == now) return defer_;
  std::vector<Sequence*> sequences;
  for (const Row& row : last.rows) {
    if (!is_current(row)) return defer_ = false;
    sequences.push_back(row.sequence);
  }
  const bool is_made = !options_.speculation.asks_model || has_model_drafts(sequences);
  defer_ = speculation_.most_drafted(draft_chances(sequences), verify_rows_, is_made) > 0;
  if (!defer_) speculation_.decided(false);
  return defer_;
}

Result<bool> Scheduler::submit_verify(std::span<Sequence* const> chosen) {
  if (verify_rows_ == 0 || chosen.size() > verify_rows_) return false;
  if (std::ranges::any_of(chosen, [](const Sequence* one) { return one->left() > 1; }))
    return false;
  const std::vector<DraftChance> chances = draft_chances(chosen);
  const bool asks_model = options_.speculation.asks_model;
  const bool is_made = !asks_model || has_model_drafts(chosen);
  const uint32_t most = speculation_.most_drafted(chances, verify_rows_, is_made);
  // Who asks a model has decided so when the draft was not made yet.
  if (most == 0 || !asks_model) speculation_.decided(most > 0);
  if (most == 0) return false;
  if (!is_made) {
    TOK_TRY(submit_draft(chosen, chances, most));
    return true;
  }
  InFlightStep step;
  step.kind = StepKind::kVerify;
  std::vector<Slot> slots;
  std::vector<uint32_t> ids;
  for (size_t i = 0; i < chosen.size(); ++i) {
    Sequence& sequence = *chosen[i];
    uint32_t count = std::min(chances[i].tokens, most);
    TOK_TRY(const bool has_pages, reserve(sequence, sequence.position + 1 + count));
    if (!has_pages) {
      const auto held = uint32_t(sequence.pages.size()) * kPageTokens;
      count = held - sequence.position - 1;
    }
    SamplingRule rule =
        sampling_rule(sequence.request.params.sampling, sequence.sampler.random_state());
    rule.repetition_penalty = 1;  // the host applies it
    sequence.is_masked = false;
    slots.push_back({.count = 1 + count,
                     .position = sequence.position,
                     .length = uint32_t(sequence.ids.size()),
                     .index = *sequence.slot,
                     .rule = rule,
                     .rotary_shift = sequence.rotary_shift(),
                     .adapter = sequence.request.adapter});
    const std::span<const uint32_t> drafted =
        count > 0 ? sequence.drafter.draft().first(count) : std::span<const uint32_t>();
    Row row = {&sequence, sequence.id, sequence.version};
    step.members.push_back(row);
    ids.push_back(sequence.ids.back());
    for (const uint32_t id : drafted) {
      row.guess = id;
      step.rows.push_back(row);
      ids.push_back(id);
    }
    row.guess.reset();
    step.rows.push_back(row);
    advance(sequence, 1 + count);
    stats_.drafts += count > 0 ? 1 : 0;
    stats_.drafted_tokens += count;
  }
  step.phase = program_->plan().phase_for(ids.size(), PhaseKind::kVerify);
  TOK_TRY(submit(std::move(step), std::move(slots), std::move(ids), {}));
  const std::shared_ptr<const InFlightStep> submitted = in_flight_.back();
  for (size_t row = 0; row < submitted->rows.size(); ++row) {
    const bool wants_logits = submitted->rows[row].sequence->wants_logits();
    if (wants_logits) TOK_TRY(submit_logits(*submitted, row));
  }
  return true;
}

}  // namespace tokamak
