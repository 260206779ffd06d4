#include "engine/restorable_program.h"

namespace tokamak {

void RestorableProgram::forget(const Error& loss) {
  if (program_) plan_ = program_->plan();
  loss_ = loss;
  program_.reset();
}

Result<void> RestorableProgram::make_again(const Error& loss) {
  forget(loss);  // its memory is needed again
  TOK_TRY(program_, make_(plan_, loss));
  plan_ = {};
  return {};
}

Result<void> RestorableProgram::restore(const Error& loss) {
  if (std::exchange(loss_unreported_, false) && program_) return {};
  return make_again(loss);
}

Result<void> RestorableProgram::restore_silently(const Error& loss) {
  loss_unreported_ = true;
  return make_again(loss);
}

Result<Program*> RestorableProgram::usable() const {
  if (!program_ || loss_unreported_) return Failure(loss_);
  return program_.get();
}

Result<void> RestorableProgram::write_table(BufferId buffer, std::span<const uint32_t> values,
                                            uint64_t first) {
  TOK_TRY(Program* const program, usable());
  return program->write_table(buffer, values, first);
}

Result<void> RestorableProgram::submit(const StepRequest& request) {
  TOK_TRY(Program* const program, usable());
  return program->submit(request);
}

Result<void> RestorableProgram::poll() {
  TOK_TRY(Program* const program, usable());
  return program->poll();
}

Result<void> RestorableProgram::wait_for_result() {
  TOK_TRY(Program* const program, usable());
  return program->wait_for_result();
}

Result<void> RestorableProgram::limit_batches(uint32_t most) {
  TOK_TRY(Program* const program, usable());
  return program->limit_batches(most);
}

Result<void> RestorableProgram::wait() {
  TOK_TRY(Program* const program, usable());
  return program->wait();
}

Result<std::vector<double>> RestorableProgram::time_launches(const StepRequest& request) {
  TOK_TRY(Program* const program, usable());
  return program->time_launches(request);
}

Result<std::vector<std::vector<double>>> RestorableProgram::time_ranks(const StepRequest& request) {
  TOK_TRY(Program* const program, usable());
  return program->time_ranks(request);
}

}  // namespace tokamak
