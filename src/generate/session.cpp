#include "generate/session.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace tokamak {
namespace {

/// Logical page -> page of the cache. Pages of a window recur: a new page takes the place of one
/// that has slid out of the window. All caches that are read through a table are of one size.
std::vector<uint32_t> page_table(const Plan& plan, BufferId table) {
  std::vector<uint32_t> pages(size_t(plan.at(table).tensor.shape[0]));
  uint32_t own_pages = uint32_t(pages.size());
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      if (!std::holds_alternative<Attention>(step.op) || step.inputs[2].buffer != table) continue;
      own_pages = uint32_t(step.inputs[1].shape[0]) / kPageTokens;
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
  return session;
}

size_t Session::phase_for(size_t tokens) const {
  const std::vector<Phase>& phases = program_->plan().phases;
  size_t best = phases.size();
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].max_tokens < tokens) continue;
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
  if (before > short_rows_ || short_rows_ == 0) return run(tokens, 0, cancelled);
  early_ids_.resize(before);
  early_ids_.insert(early_ids_.end(), tokens.begin(), tokens.end());
  if (before == 0 || was_long == is_long) return run(tokens, 0, cancelled);
  // The keys in the cache are turned as in a sequence of the other kind.
  position_ = 0;
  return run(early_ids_, before, cancelled);
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
  const size_t unwanted = all ? wanted_from * vocab_ : 0;
  return std::span<const float>(logits_).subspan(unwanted);
}

}  // namespace tokamak
