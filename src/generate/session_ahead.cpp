// The part of Session in which the device chooses tokens and runs ahead of the program.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "generate/phase_results.h"
#include "generate/session.h"

namespace tokamak {

/// Steps on their way: the rows of a group arrive together.
struct Session::Ahead {
  std::vector<float> rows;  // of the steps that nobody has taken yet
  std::optional<Error> error;
  uint32_t submitted = 0;
};

/// What is left to do of a call that lets the device choose.
struct Session::AheadLoop {
  size_t phase;
  uint32_t id, count;
  const std::function<SamplingStart()>& start;
  /// Takes a row, and the token at its end; says whether to go on with that.
  const std::function<Result<bool>(std::span<const float> row, uint32_t token)>& next;
};

Result<void> Session::submit_ahead(const AheadLoop& loop, uint32_t count,
                                   const std::shared_ptr<Ahead>& own) {
  const Plan& plan = program_->plan();
  const uint32_t position = position_ + own->submitted;
  count = std::min(count, plan.change_after(loop.phase, position) - position);
  StepRequest request{
      .phase = plan.phase_at(loop.phase, position), .slots = {}, .tokens = {}, .done = {}};
  request.repeat = count;
  request.continues = own->submitted > 0;
  if (!request.continues) {
    request.tokens = {&loop.id, 1};
    const SamplingStart start = loop.start();
    request.slots = {{.position = position_,
                      .length = position_ + 1,
                      .rule = start.rule,
                      .rotary_shift = places_.shift(position_),
                      .adapter = adapter_}};
    if (start.rule.repetition_penalty != 1) TOK_TRY(write_occurred(start.previous_ids));
  }
  const uint32_t first = own->submitted;
  const size_t row = row_size(plan.phases[request.phase].result);
  // Results of a device that is lost may come when nobody waits for them any more.
  request.done = [own, first, count, row](Result<std::span<const float>> kept) {
    if (!kept) {
      own->error = std::move(kept).error();
      return;
    }
    for (size_t i = first; i < first + count; ++i) {
      const auto one = kept->subspan(i * row % kept->size(), row);
      own->rows.insert(own->rows.end(), one.begin(), one.end());
    }
  };
  std::vector<BufferCopy> copies;
  if (loop.count > 1) copies = copies_at(position);
  request.copies = copies;
  own->submitted += count;
  return submit(request);
}

Result<void> Session::write_occurred(std::span<const uint32_t> ids) {
  std::vector<uint32_t> words(size_t(occurred_words(vocab_)));
  for (const uint32_t id : ids) set_occurred(words, id);
  return write_table(occurred_, words);
}

Result<uint32_t> Session::token_named(float number) const {
  if (number == -1) return kNoToken;
  if (number >= 0 && number < float(vocab_) && number == std::floor(number)) {
    return uint32_t(number);
  }
  return fail(ErrorCode::kDevice,
              "The device gives {} as a token after position {}, expected a whole number below {}, "
              "or -1 for none.",
              number, ids_.size() - 1, vocab_);
}

Result<void> Session::check_list(std::span<const float> list) const {
  for (size_t i = 1; i < list.size(); i += 2) TOK_TRY(token_named(list[i]));
  return {};
}

Result<void> Session::run_ahead(AheadLoop& loop) {
  const auto own = std::make_shared<Ahead>();
  Ahead& ahead = *own;
  const uint32_t count = loop.count;
  const Operand& result = program_->plan().phases[loop.phase].result;
  const size_t row = row_size(result);
  const uint32_t most = std::min(ahead_, uint32_t(result.shape[0]));
  uint32_t taken = 0;
  bool goes_on = true;
  Result<void> status;
  ids_.resize(position_);
  ids_.push_back(loop.id);
  while (goes_on && status) {
    // Two groups under way: the device works on one while this program reads the other.
    while (status && ahead.submitted < count && ahead.submitted - taken < most) {
      const uint32_t group = std::clamp(most / 2, 1u, 1 + taken);
      const uint32_t room = std::min(count - ahead.submitted, most - (ahead.submitted - taken));
      status = submit_ahead(loop, std::min(group, room), own);
    }
    if (status) status = program_->wait_for_result();
    if (status && ahead.error) status = Failure(*ahead.error);
    std::span<const float> arrived = ahead.rows;
    for (; status && goes_on && !arrived.empty(); arrived = arrived.subspan(row)) {
      const auto kept = arrived.first(row);
      ++taken;
      const Result<uint32_t> token = token_named(kept.back());
      const Result<bool> verdict = token ? loop.next(kept, *token) : Failure(token.error());
      if (!verdict) {
        status = Failure(verdict.error());
        break;
      }
      loop.id = *token;
      ids_.push_back(*token);
      goes_on = *verdict && taken < count;
    }
    ahead.rows.clear();
  }
  const Result<void> drained = program_->wait();
  if (status) status = drained;
  // What is lost after the last token is for the next call to find.
  if (is_lost(status) && !goes_on) status = {};
  loop.count -= taken;
  written_ = std::max(written_, position_ + ahead.submitted);
  const uint32_t fed = is_lost(status) ? taken : std::max(taken, 1u);
  position_ += fed;
  steps_.insert(steps_.end(), fed, 1);
  length_ = position_;
  ids_.resize(position_);
  is_corrupted_ = is_recurrent_ && ahead.submitted > taken;
  holds_logits_ = ahead.submitted == taken;
  forget_copies_after(position_);
  if (!status) copied_ = {};
  return status;
}

uint32_t Session::greedy_room() const {
  return greedy_phase_ == program_->plan().phases.size() ? 0 : room_for_steps();
}

Result<void> Session::greedy(uint32_t id, uint32_t count,
                             const std::function<bool(uint32_t)>& next) {
  TOK_TRY(check_turn());
  TOK_CHECK(count > 0 && count <= greedy_room());
  TOK_TRY(check_id(id));
  const auto take = [&](std::span<const float>, uint32_t token) -> Result<bool> {
    if (token != kNoToken) return next(token);
    return invalid_input("The logits after position {} have no finite largest value.",
                         ids_.size() - 1);
  };
  AheadLoop loop{greedy_phase_, id, count, [] { return SamplingStart(); }, take};
  return outlive_device([&] { return run_ahead(loop); }, {});
}

uint32_t Session::sampling_room() const {
  return gives_list() ? room_for_steps() : 0;
}

Result<void> Session::sample(
    uint32_t id, uint32_t count, const std::function<SamplingStart()>& start,
    const std::function<bool(std::span<const float> list, uint32_t token)>& next) {
  TOK_TRY(check_turn());
  TOK_CHECK(count > 0 && count <= sampling_room());
  TOK_TRY(check_id(id));
  const auto take = [&](std::span<const float> row, uint32_t token) -> Result<bool> {
    const std::span<const float> list = row.first(row.size() - 1);
    TOK_TRY(check_list(list));
    return next(list, token) && token != kNoToken;
  };
  AheadLoop loop{list_phase_, id, count, start, take};
  return outlive_device([&] { return run_ahead(loop); }, {});
}

}  // namespace tokamak
