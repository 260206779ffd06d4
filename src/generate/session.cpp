#include "generate/session.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/scoped_flag.h"
#include "generate/call_errors.h"
#include "generate/image_step.h"
#include "generate/page_tables.h"
#include "generate/phase_results.h"

namespace tokamak {
namespace {

/// Steps that the device runs ahead of the program.
constexpr uint32_t kStepsAhead = 16;
/// Chunks of a prompt that may be unfinished when the next is submitted: enough that the device
/// never waits for this program, few enough that a call can be cancelled.
constexpr uint32_t kChunksAhead = 2;

Failure was_cancelled() {
  return fail(ErrorCode::kCancelled, "Generation was cancelled.");
}

}  // namespace

Result<Session> Session::start(Program& program, uint32_t context, uint32_t vocab, bool all_rows,
                               ImageRows* images) {
  const Plan& plan = program.plan();
  Session session(program, context, vocab, all_rows, images);
  session.sequence_ = program.begin_sequence();
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (const auto* rope = std::get_if<RopeTable>(&plan.buffers[i].tensor.recipe)) {
      session.short_rows_ = std::max(session.short_rows_, rope->short_rows);
    }
  }
  session.find_sampling_phases(plan);
  TOK_TRY(session.outlive_device([&] { return session.write_tables(); }, {}));
  return session;
}

Result<void> Session::write_tables() {
  if (images_ != nullptr) images_->forget_device();
  for (const PageTable& table : page_tables(program_->plan())) {
    TOK_TRY(write_table(table.buffer, equal_part(table, 0)));
  }
  return {};
}

Result<void> Session::check_turn() const {
  if (program_->sequence() != sequence_) {
    return fail(ErrorCode::kUsage,
                "This session has ended: another one was started on the same model, which holds "
                "the tokens of one at a time. Use the newest, or open the model once more.");
  }
  if (!is_running_) return {};
  return fail(ErrorCode::kUsage,
              "This session is in the middle of a call: a callback must not call it again.");
}

Result<void> Session::submit(const StepRequest& request) {
  if (program_->sequence() != sequence_) return check_turn();
  return program_->submit(request);
}

Result<void> Session::write_table(BufferId buffer, std::span<const uint32_t> values) {
  if (program_->sequence() != sequence_) return check_turn();
  return program_->write_table(buffer, values);
}

void Session::find_sampling_phases(const Plan& plan) {
  greedy_phase_ = list_phase_ = plan.phases.size();
  ahead_ = kStepsAhead;
  if (vocab_ > kMaxExactVocab) return;
  greedy_phase_ = plan.phase_for(1, PhaseKind::kGreedy);
  list_phase_ = plan.phase_for(1, PhaseKind::kSampled);
  if (list_phase_ < plan.phases.size())
    occurred_ = plan.phases[list_phase_].steps.back().outputs[1].buffer;
  is_recurrent_ = !state_copies(plan, 0, 0).empty();
  // A step writes into the cache of a window where the oldest position was: what is ahead must not
  // reach what the next position still sees.
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.use != BufferUse::kState || buffer.tensor.window == 0) continue;
    const uint32_t spare = uint32_t(buffer.tensor.shape[0]) - buffer.tensor.window;
    ahead_ = std::clamp(spare, 1u, ahead_);
  }
}

bool Session::is_lost(const Result<void>& status) {
  return !status && status.error().code == ErrorCode::kDeviceLost;
}

Result<void> Session::check_id(uint32_t id) const {
  if (id < vocab_ || (images_ != nullptr && images_->find(id) != nullptr)) return {};
  return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", id, vocab_);
}

Result<void> Session::token_step(std::span<const uint32_t> tokens, bool read_back) {
  const bool has_image = places_.image(position_, uint32_t(tokens.size())) != nullptr;
  if (has_image) return image_step(tokens, read_back);
  const size_t phase = program_->plan().phase_for(tokens.size());
  TOK_CHECK(phase < program_->plan().phases.size());
  return step(one_step(phase, tokens), read_back);
}

Result<void> Session::image_step(std::span<const uint32_t> tokens, bool read_back) {
  const Plan& plan = program_->plan();
  const auto count = uint32_t(tokens.size());
  const size_t phase = plan.phase_for(count, PhaseKind::kImages);
  TOK_CHECK(phase < plan.phases.size());
  TOK_TRY(images_->upload(*program_, *places_.image(position_, count)));
  ImageStepInputs own(plan, *images_);
  own.add(places_, position_, count);
  const std::vector<InputWrite> inputs = own.writes();
  StepRequest request = one_step(phase, tokens);
  request.inputs = inputs;
  return step(std::move(request), read_back);
}

StepRequest Session::one_step(size_t phase, std::span<const uint32_t> tokens) const {
  StepRequest request{.phase = program_->plan().phase_at(phase, position_),
                      .slots = {{.count = uint32_t(tokens.size()),
                                 .position = position_,
                                 .length = length_,
                                 .rotary_shift = places_.shift(position_),
                                 .adapter = adapter_}},
                      .tokens = tokens,
                      .done = {}};
  return request;
}

Result<void> Session::step(StepRequest request, bool read_back) {
  if (read_back) {
    request.done = [own = arrived_](Result<std::span<const float>> result) {
      if (result) {
        own->logits.insert(own->logits.end(), result->begin(), result->end());
      } else {
        own->error = std::move(result).error();
      }
    };
  }
  TOK_TRY(submit(request));
  if (request.repeat > 0) {
    const auto count = uint32_t(request.tokens.size());
    position_ += count;
    written_ = std::max(written_, position_);
    steps_.push_back(count);
  }
  if (!read_back) return {};
  Result<void> status = program_->wait();
  if (status && arrived_->error) status = Failure(*arrived_->error);
  // What comes later must not be taken for a result of another step.
  if (!status) arrived_ = std::make_shared<Arrived>();
  return status;
}

Result<std::span<const float>> Session::feed(std::span<const uint32_t> tokens,
                                             const std::function<bool()>& cancelled) {
  TOK_TRY(check_turn());
  if (tokens.empty()) return invalid_input("There are no tokens to run the model on.");
  for (const uint32_t id : tokens) TOK_TRY(check_id(id));
  if (tokens.size() > context_ - position_) {
    if (position_ == 0) {
      return invalid_input("The prompt has {} tokens, but the context has {} positions.",
                           tokens.size(), context_);
    }
    return invalid_input("{} more tokens do not fit: {} of the context's {} positions are taken.",
                         tokens.size(), position_, context_);
  }
  const uint32_t before = position_, length = position_ + uint32_t(tokens.size());
  const bool was_long = length_ > short_rows_, is_long = length > short_rows_;
  length_ = length;
  ids_.resize(before);
  ids_.insert(ids_.end(), tokens.begin(), tokens.end());
  places_ = TokenPlaces(ids_, images_);
  // The keys in the cache may be turned as in a sequence of the other kind.
  const bool again = short_rows_ != 0 && was_long != is_long;
  if (before == 0 || again) {
    position_ = written_ = 0;
    steps_.clear();
    forget_copies_after(0);
  }
  const std::span<const uint32_t> fed = again ? std::span<const uint32_t>(ids_) : tokens;
  TOK_TRY(outlive_device([&] { return run(fed, cancelled); }, cancelled));
  const size_t unwanted = again && all_rows_ ? size_t(before) * vocab_ : 0;
  return std::span<const float>(arrived_->logits).subspan(unwanted);
}

Result<void> Session::outlive_device(const std::function<Result<void>()>& attempt,
                                     const std::function<bool()>& cancelled) {
  const ScopedFlag running(is_running_);
  Result<void> status = is_corrupted_ ? replay(cancelled) : Result<void>{};
  if (status) status = attempt();
  for (uint32_t losses = 1; is_lost(status); ++losses) {
    if (losses == kMaxLosses) {
      return given_up(status.error(), losses, "this call is");
    }
    TOK_TRY(program_->restore(status.error()));
    copied_ = {};
    status = write_tables();
    if (status) status = replay(cancelled);
    if (status) status = attempt();
  }
  return status;
}

std::optional<size_t> Session::newest_copy(uint32_t position) const {
  std::optional<size_t> newest;
  for (size_t i = 0; i < copied_.size(); ++i) {
    if (copied_[i] && *copied_[i] <= position && (!newest || copied_[*newest] < copied_[i])) {
      newest = i;
    }
  }
  return newest;
}

void Session::forget_copies_after(uint32_t position) {
  for (std::optional<uint32_t>& copied : copied_) {
    if (copied > position) copied.reset();
  }
}

std::vector<BufferCopy> Session::copies_at(uint32_t position) {
  if (!is_recurrent_) return {};
  const std::optional<size_t> newest = newest_copy(position);
  if (newest && position - *copied_[*newest] < kStepsAhead) return {};
  // The device is less than kStepsAhead in front of the program, so that what the newest one is
  // from will not be taken back.
  const size_t which = newest ? (*newest + 1) % copied_.size() : 0;
  copied_[which] = position;
  return state_copies(program_->plan(), 0, uint32_t(which));
}

Result<void> Session::put_back_states(std::span<const uint32_t> steps, uint32_t position) {
  const std::optional<size_t> newest = newest_copy(position);
  if (!newest) return {};
  std::vector<BufferCopy> copies = state_copies(program_->plan(), 0, uint32_t(*newest));
  for (BufferCopy& copy : copies) copy = copy.reversed();
  TOK_TRY(submit(copies_alone(copies)));
  while (position_ < *copied_[*newest]) {
    const uint32_t count = steps[steps_.size()];
    steps_.push_back(count);
    position_ += count;
  }
  return {};
}

Result<void> Session::replay(const std::function<bool()>& cancelled) {
  const std::vector<uint32_t> steps = std::exchange(steps_, {});
  const uint32_t position = std::exchange(position_, 0);
  Result<void> status = put_back_states(steps, position);
  for (const uint32_t count : std::span(steps).subspan(steps_.size())) {
    if (status && cancelled && cancelled()) status = was_cancelled();
    const std::span<const uint32_t> tokens = std::span(ids_).subspan(position_, count);
    if (status) status = token_step(tokens, false);
    if (status) status = program_->limit_batches(count == 1 ? kStepsAhead : kChunksAhead);
    if (!status) break;
  }
  steps_ = steps;
  position_ = position;
  is_corrupted_ = !status && !is_lost(status);
  return status;
}

bool Session::gives_list() const {
  return list_phase_ != program_->plan().phases.size() && room_for_steps() > 0;
}

uint32_t Session::room_for_steps() const {
  const uint32_t left = context_ - position_;
  if (position_ > short_rows_ || short_rows_ == 0) return left;
  // A long prompt that was cancelled has left keys of the other kind.
  if (length_ > short_rows_) return 0;
  return std::min(left, short_rows_ - position_);
}

Result<void> Session::or_as_before(const std::function<Result<void>()>& attempt) {
  const uint32_t position = position_;
  const size_t steps = steps_.size();
  arrived_->logits.clear();
  const Result<void> status = attempt();
  if (is_lost(status)) {
    position_ = position;
    steps_.resize(steps);
  }
  return status;
}

Result<void> Session::run(std::span<const uint32_t> tokens,
                          const std::function<bool()>& cancelled) {
  const size_t chunk = program_->plan().chunk();
  const Result<void> status = or_as_before([&]() -> Result<void> {
    for (size_t at = 0, count = 0; at < tokens.size(); at += count) {
      if (cancelled && cancelled()) return was_cancelled();
      const size_t left = tokens.size() - at;
      count = places_.step_tokens(position_, uint32_t(std::min(chunk, left)), uint32_t(chunk));
      count = std::min(count, left);
      const bool last = at + count == tokens.size();
      TOK_TRY(token_step(tokens.subspan(at, count), all_rows_ || last));
      if (!last) TOK_TRY(program_->limit_batches(kChunksAhead));
    }
    return {};
  });
  return status;
}

const Step& Session::own_list_step() const {
  const Plan& plan = program_->plan();
  return list_step(plan.phases[plan.phase_at(list_phase_, position_)]);
}

Result<std::span<const float>> Session::feed_for_list(uint32_t id, float inverse_temperature) {
  TOK_TRY(check_turn());
  TOK_CHECK(gives_list());
  TOK_TRY(check_id(id));
  ids_.resize(position_);
  ids_.push_back(id);
  length_ = position_ + 1;
  const auto attempt = [&] {
    return or_as_before([&] {
      StepRequest request = one_step(list_phase_, {&id, 1});
      request.slots[0].rule.inverse_temperature = inverse_temperature;
      request.result = &own_list_step().outputs.front();
      return step(std::move(request), true);
    });
  };
  TOK_TRY(outlive_device(attempt, {}));
  TOK_TRY(check_list(arrived_->logits));
  holds_logits_ = true;
  return std::span<const float>(arrived_->logits);
}

Result<std::span<const float>> Session::logits_after_list() {
  TOK_TRY(check_turn());
  TOK_CHECK(position_ > 0 && position_ == ids_.size() && steps_.back() == 1);
  // Where the device has run ahead, or is lost before they are read, the token runs again after
  // all others.
  --position_;
  steps_.pop_back();
  bool is_there = holds_logits_;
  const auto attempt = [&] {
    return or_as_before([&]() -> Result<void> {
      if (!std::exchange(is_there, false)) {
        return token_step({&ids_.back(), 1}, true);
      }
      StepRequest request = one_step(list_phase_, {});
      request.repeat = 0;
      request.continues = true;
      request.result = &own_list_step().inputs.front();
      TOK_TRY(step(std::move(request), true));
      ++position_;
      steps_.push_back(1);
      return {};
    });
  };
  const Result<void> status = outlive_device(attempt, {});
  if (!status) {  // the states may have taken in the token that is no longer part of the sequence
    is_corrupted_ = is_recurrent_;
    forget_copies_after(position_);
    return Failure(status.error());
  }
  return std::span<const float>(arrived_->logits);
}

}  // namespace tokamak
