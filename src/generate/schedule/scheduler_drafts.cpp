// The part of Scheduler that asks a draft model. What that has not seen of a sequence it reads in
// steps of its own, beside those of others, where it is long; then it guesses what follows, in one
// submission for all sequences, and the step that verifies can be made when the guesses are here.
#include "generate/schedule/scheduler_state.h"

namespace tokamak {
namespace {

/// The number of tokens that are read on the way to a draft.
constexpr uint32_t kReadOnTheWay = 16;

}  // namespace

bool Scheduler::has_model_drafts(std::span<Sequence* const> sequences) const {
  return options_.speculation.asks_model && std::ranges::any_of(sequences, [](const Sequence* one) {
           return one->drafter.was_asked(one->ids.size());
         });
}

DraftChance Scheduler::model_chance(Sequence& sequence, uint32_t room, bool is_made) {
  Drafter& drafter = sequence.drafter;
  drafter.settle(sequence.ids, speculation_);
  DraftChance chance{.rate = drafter.model_rate(speculation_)};
  if (is_made) {
    if (!drafter.was_asked(sequence.ids.size())) return chance;
    chance.lag = sequence.in_flight;
    chance.tokens = std::min(uint32_t(drafter.draft().size()), chance.lag + room);
    return chance;
  }
  const DraftModel::Text text{*sequence.slot, sequence.ids, sequence.request.tenant};
  // All of a step run as far as the one that drafts most. Ids of images are none that it knows.
  const uint32_t most = speculation_.draft_tokens();
  if (!sequence.request.images.empty() || !options_.drafts->has_room(text, most)) return chance;
  chance.tokens = std::min(room, most);
  chance.unread = options_.drafts->unread(text);
  chance.left = tokens_left(sequence);
  return chance;
}

Result<void> Scheduler::submit_draft(std::span<Sequence* const> chosen,
                                     std::span<const DraftChance> chances, uint32_t most) {
  const auto is_far = [](const DraftChance& one) {
    return one.tokens > 0 && one.unread > kReadOnTheWay;
  };
  const bool reads = std::ranges::any_of(chances, is_far);
  const auto step = std::make_shared<InFlightStep>();
  step->kind = StepKind::kDraft;
  std::vector<DraftModel::Text> texts;
  uint32_t tokens = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chances[i].tokens == 0 || is_far(chances[i]) != reads) continue;
    Sequence& sequence = *chosen[i];
    texts.push_back({*sequence.slot, sequence.ids, sequence.request.tenant});
    tokens = std::max(tokens, std::min(chances[i].tokens, most));
    step->rows.push_back({&sequence, sequence.id, sequence.version});
    ++sequence.in_flight;
  }
  step->members = step->rows;
  if (reads) {
    TOK_TRY(step->tokens, options_.drafts->read(texts, prefill_tokens(), expect(step)));
    return {};
  }
  speculation_.decided(true);
  TOK_TRY(step->drafting, options_.drafts->draft(texts, tokens, expect(step)));
  return {};
}

void Scheduler::take_draft(const InFlightStep& step, size_t row) {
  if (step.drafting.tokens == 0) return;
  Sequence& sequence = *step.rows[row].sequence;
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < step.drafting.tokens; ++i) {
    const float id = step.values[i * step.drafting.stride + row];
    // Below 0 where no logit is finite: a draft model may be wrong, but not stop anybody.
    if (!(id >= 0 && id < float(options_.drafts->vocab()))) break;
    ids.push_back(uint32_t(id));
  }
  options_.drafts->drafted(*sequence.slot, ids);
  sequence.drafter.take(std::move(ids), sequence.ids.size(), options_.vocab);
}

}  // namespace tokamak
