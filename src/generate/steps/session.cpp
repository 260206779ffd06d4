#include "generate/steps/session.h"

#include <algorithm>

#include "base/check.h"
#include "base/scoped_flag.h"
#include "generate/pages/page_tables.h"
#include "generate/steps/call_errors.h"
#include "generate/steps/image_step.h"

namespace tokamak {
namespace {

/// Chunks of a prompt that may be unfinished when the next is submitted: enough that the device
/// never waits for this program, few enough that a call can be cancelled.
constexpr uint32_t kChunksAhead = 2;
/// The same of steps of one token that run again.
constexpr uint32_t kStepsAhead = 16;

}  // namespace

Result<Session> Session::start(Program& program, uint32_t context, uint32_t vocab, bool all_rows,
                               ImageRows* images) {
  Session session(program, context, vocab, all_rows, images);
  session.sequence_ = program.begin_sequence();
  session.short_rows_ = short_rotary_rows(program.plan());
  TOK_TRY(session.outlive_device([&] { return session.write_tables(); }, {}));
  return session;
}

Result<void> Session::write_tables() {
  if (images_ != nullptr) images_->forget_device();
  for (const PageTable& table : page_tables(program_->plan())) {
    TOK_TRY(program_->write_table(table.buffer, equal_part(table, 0)));
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

bool Session::is_lost(const Result<void>& status) {
  return !status && status.error().code == ErrorCode::kDeviceLost;
}

Result<void> Session::check_id(uint32_t id) const {
  if (id < vocab_ || (images_ != nullptr && images_->find(id) != nullptr)) return {};
  return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", id, vocab_);
}

Result<void> Session::step(std::span<const uint32_t> tokens, bool read_back) {
  // `cancelled` may have started another one.
  if (program_->sequence() != sequence_) return check_turn();
  const Plan& plan = program_->plan();
  const auto count = uint32_t(tokens.size());
  const auto image = places_.image(position_, count);
  const size_t phase =
      plan.phase_for(count, image != nullptr ? PhaseKind::kImages : PhaseKind::kPrefill);
  TOK_CHECK(phase < plan.phases.size());
  StepRequest request{.phase = plan.phase_at(phase, position_),
                      .slots = {{.count = count,
                                 .position = position_,
                                 .length = length_,
                                 .rotary_shift = places_.shift(position_),
                                 .adapter = adapter_}},
                      .tokens = tokens,
                      .done = {}};
  std::optional<ImageStepInputs> own_inputs;
  std::vector<InputWrite> inputs;
  if (image != nullptr) {
    TOK_TRY(images_->upload(*program_, *image));
    own_inputs.emplace(plan, *images_);
    own_inputs->add(places_, position_, count);
    inputs = own_inputs->writes();
    request.inputs = inputs;
  }
  if (read_back) {
    request.done = [own = arrived_](Result<std::span<const float>> result) {
      if (result) {
        own->logits.insert(own->logits.end(), result->begin(), result->end());
      } else {
        own->error = std::move(result).error();
      }
    };
  }
  TOK_TRY(program_->submit(request));
  steps_.add(position_, count);
  position_ += count;
  if (!read_back) return {};
  Result<void> status = program_->wait();
  if (status && arrived_->error) status = Failure(*arrived_->error);
  // A later answer must not be taken for a result of another step.
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
  const bool reruns = short_rows_ != 0 && was_long != is_long;
  if (reruns) {
    position_ = 0;
    steps_ = {};
  }
  const std::span<const uint32_t> fed = reruns ? std::span<const uint32_t>(ids_) : tokens;
  TOK_TRY(outlive_device([&] { return run(fed, cancelled); }, cancelled));
  const size_t unwanted = reruns && all_rows_ ? size_t(before) * vocab_ : 0;
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
    status = write_tables();
    if (status) status = replay(cancelled);
    if (status) status = attempt();
  }
  return status;
}

Result<void> Session::replay(const std::function<bool()>& cancelled) {
  const uint32_t end = std::exchange(position_, 0);
  Result<void> status;
  while (status && position_ < end) {
    const uint32_t count = steps_.rest_of_step(position_);
    if (cancelled && cancelled()) status = call_was_cancelled();
    if (status) status = step(std::span(ids_).subspan(position_, count), false);
    if (status) status = program_->limit_batches(count == 1 ? kStepsAhead : kChunksAhead);
  }
  position_ = end;
  is_corrupted_ = !status && !is_lost(status);
  return status;
}

Result<void> Session::run(std::span<const uint32_t> tokens,
                          const std::function<bool()>& cancelled) {
  const size_t chunk = program_->plan().chunk();
  const uint32_t position = position_;
  arrived_->logits.clear();
  Result<void> status;
  for (size_t at = 0, count = 0; status && at < tokens.size(); at += count) {
    if (cancelled && cancelled()) return call_was_cancelled();
    const size_t left = tokens.size() - at;
    count = places_.step_tokens(position_, uint32_t(std::min(chunk, left)), uint32_t(chunk));
    count = std::min(count, left);
    const bool last = at + count == tokens.size();
    status = step(tokens.subspan(at, count), all_rows_ || last);
    if (status && !last) status = program_->limit_batches(kChunksAhead);
  }
  if (is_lost(status)) {
    position_ = position;
    steps_.cut(position);
  }
  return status;
}

}  // namespace tokamak
