#include "generate/session.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace tokamak {
namespace {

/// Steps that the device runs ahead of the program, two groups of half as many.
constexpr uint32_t kStepsAhead = 16;
constexpr uint32_t kNoToken = UINT32_MAX;

/// Logical page -> page of the cache. Pages of a window recur: a new page takes the place of one
/// that has slid out of the window. All caches that are read through a table are of one size.
std::vector<uint32_t> page_table(const Plan& plan, BufferId table) {
  std::vector<uint32_t> pages(size_t(plan.at(table).tensor.shape[0]));
  uint32_t own_pages = uint32_t(pages.size());
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      const auto reads = [&](const Operand& in) { return in.buffer == table; };
      if (std::ranges::none_of(step.inputs, reads)) continue;
      const auto is_cache = [&](const Operand& operand) {
        return plan.at(operand.buffer).use == BufferUse::kState;
      };
      for (const std::vector<Operand>* operands : {&step.inputs, &step.outputs}) {
        const auto cache = std::ranges::find_if(*operands, is_cache);
        if (cache != operands->end()) own_pages = uint32_t(cache->shape[0]) / kPageTokens;
      }
    }
  }
  for (uint32_t i = 0; i < pages.size(); ++i) pages[i] = i % own_pages;
  return pages;
}

}  // namespace

Result<Session> Session::start(Program& program, uint32_t context, uint32_t vocab) {
  const Plan& plan = program.plan();
  Session session(program, context, vocab);
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (const auto* rope = std::get_if<RopeTable>(&plan.buffers[i].tensor.recipe)) {
      session.short_rows_ = std::max(session.short_rows_, rope->short_rows);
    }
    if (plan.buffers[i].use != BufferUse::kTable) continue;
    TOK_TRY(program.write_table(BufferId(i), page_table(plan, BufferId(i))));
  }
  session.plan_greedy(plan);
  return session;
}

void Session::plan_greedy(const Plan& plan) {
  greedy_phase_ = plan.phases.size();
  ahead_ = kStepsAhead;
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    for (const Step& step : plan.phases[i].steps) {
      if (std::holds_alternative<NextToken>(step.op)) greedy_phase_ = i;
      is_recurrent_ = is_recurrent_ || std::holds_alternative<ShortConv>(step.op) ||
                      std::holds_alternative<GatedDelta>(step.op);
    }
  }
  // A step writes into the cache of a window where the oldest position was: what is ahead must not
  // reach what the next position still sees.
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.use != BufferUse::kState || buffer.tensor.window == 0) continue;
    const uint32_t spare = uint32_t(buffer.tensor.shape[0]) - buffer.tensor.window;
    ahead_ = std::clamp(spare, 1u, ahead_);
  }
}

size_t Session::phase_for(size_t tokens) const {
  const std::vector<Phase>& phases = program_->plan().phases;
  size_t best = phases.size();
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].max_tokens < tokens || i == greedy_phase_) continue;
    if (best == phases.size() || phases[i].max_tokens < phases[best].max_tokens) best = i;
  }
  TOK_CHECK(best < phases.size());
  return best;
}

Result<void> Session::step(std::span<const uint32_t> tokens, bool read_back) {
  StepRequest request{.phase = phase_for(tokens.size()), .frame = {}, .tokens = tokens, .done = {}};
  request.frame.tokens = uint32_t(tokens.size());
  request.frame.position = position_;
  request.frame.length = length_;
  std::optional<Error> error;
  if (read_back) {
    request.done = [&](Result<std::span<const float>> result) {
      if (result) {
        logits_.insert(logits_.end(), result->begin(), result->end());
      } else {
        error = std::move(result).error();
      }
    };
  }
  TOK_TRY(program_->submit(request));
  position_ += uint32_t(tokens.size());
  if (read_back) TOK_TRY(program_->wait());
  if (error) return Failure(*std::move(error));
  return {};
}

Result<std::span<const float>> Session::feed(std::span<const uint32_t> tokens,
                                             const std::function<bool()>& cancelled) {
  if (tokens.empty()) return invalid_input("There are no tokens to run the model on.");
  for (const uint32_t id : tokens) {
    if (id >= vocab_) {
      return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", id, vocab_);
    }
  }
  if (tokens.size() > context_ - position_) {
    return invalid_input("{} tokens do not fit: {} of {} positions are taken (see --context).",
                         tokens.size(), position_, context_);
  }
  logits_.clear();
  const uint32_t before = position_, length = position_ + uint32_t(tokens.size());
  const bool was_long = length_ > short_rows_, is_long = length > short_rows_;
  length_ = length;
  ids_.resize(before);
  ids_.insert(ids_.end(), tokens.begin(), tokens.end());
  // The keys in the cache may be turned as in a sequence of the other kind.
  const bool is_turned = short_rows_ != 0 && was_long != is_long;
  if (before == 0 || (!is_turned && !is_spoilt_)) return run(tokens, 0, cancelled);
  position_ = 0;
  return run(ids_, before, cancelled);
}

uint32_t Session::greedy_room() const {
  const uint32_t left = context_ - position_;
  if (greedy_phase_ == program_->plan().phases.size() || is_spoilt_) return 0;
  if (position_ > short_rows_ || short_rows_ == 0) return left;
  return std::min(left, short_rows_ - position_);
}

/// Steps on their way: the ids they chose arrive together.
struct Session::Ahead {
  std::vector<uint32_t> ids;
  std::optional<Error> error;
  uint32_t submitted = 0;
};

Result<void> Session::submit_greedy(uint32_t id, uint32_t count,
                                    const std::shared_ptr<Ahead>& own) {
  Ahead& ahead = *own;
  StepRequest request{.phase = greedy_phase_, .frame = {}, .tokens = {}, .done = {}};
  request.repeat = count;
  request.continues = ahead.submitted > 0;
  if (!request.continues) {
    request.tokens = {&id, 1};
    request.frame = {.tokens = 1, .position = position_, .length = position_ + 1};
  }
  const uint32_t first = ahead.submitted;
  // Results of a device that is lost may come when nobody waits for them any more.
  request.done = [own, first, count](Result<std::span<const float>> chosen) {
    if (!chosen) {
      own->error = std::move(chosen).error();
      return;
    }
    for (uint32_t i = first; i < first + count; ++i) {
      const float chosen_id = (*chosen)[i % chosen->size()];
      own->ids.push_back(chosen_id < 0 ? kNoToken : uint32_t(chosen_id));
    }
  };
  ahead.submitted += count;
  return program_->submit(request);
}

Result<void> Session::greedy(uint32_t id, uint32_t count,
                             const std::function<bool(uint32_t)>& next) {
  TOK_CHECK(count > 0 && count <= greedy_room());
  if (id >= vocab_) {
    return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", id, vocab_);
  }
  const auto own = std::make_shared<Ahead>();
  Ahead& ahead = *own;
  uint32_t taken = 0;
  bool goes_on = true;
  Result<void> status;
  ids_.resize(position_);
  ids_.push_back(id);
  while (goes_on && status) {
    // Two groups under way: the device works on one while this program reads the other.
    while (status && ahead.submitted < count && ahead.submitted - taken < ahead_) {
      const uint32_t group = std::clamp(ahead_ / 2, 1u, 1 + taken);
      const uint32_t room = std::min(count - ahead.submitted, ahead_ - (ahead.submitted - taken));
      status = submit_greedy(id, std::min(group, room), own);
    }
    if (status) status = program_->wait_for_result();
    if (status && ahead.error) status = Failure(*ahead.error);
    while (status && goes_on && taken < ahead.ids.size()) {
      const uint32_t chosen = ahead.ids[taken++];
      if (chosen == kNoToken) {
        status = invalid_input("The logits behind position {} have no finite largest value.",
                               position_ + taken - 1);
        break;
      }
      ids_.push_back(chosen);
      goes_on = next(chosen) && taken < count;
    }
  }
  const Result<void> drained = program_->wait();
  if (status) status = drained;
  position_ += std::max(taken, 1u);
  length_ = position_;
  ids_.resize(position_);
  is_spoilt_ = is_recurrent_ && ahead.submitted > taken;
  return status;
}

Result<std::span<const float>> Session::run(std::span<const uint32_t> tokens, size_t wanted_from,
                                            const std::function<bool()>& cancelled) {
  const std::vector<Phase>& phases = program_->plan().phases;
  size_t chunk = 1;
  for (const Phase& phase : phases) chunk = std::max<size_t>(chunk, phase.max_tokens);
  const bool all = phases[phase_for(chunk)].result.shape[0] == kTokens;
  for (size_t at = 0; at < tokens.size(); at += chunk) {
    if (cancelled && cancelled()) return fail(ErrorCode::kCancelled, "Generation was cancelled.");
    const size_t count = std::min(chunk, tokens.size() - at);
    const bool last = at + count == tokens.size();
    TOK_TRY(step(tokens.subspan(at, count), all || last));
  }
  is_spoilt_ = false;
  const size_t unwanted = all ? wanted_from * vocab_ : 0;
  return std::span<const float>(logits_).subspan(unwanted);
}

}  // namespace tokamak
