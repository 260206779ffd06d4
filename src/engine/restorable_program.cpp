#include "engine/restorable_program.h"

namespace tokamak {

Result<void> RestorableProgram::restore(const Error& loss) {
  if (program_) plan_ = program_->plan();
  loss_ = loss;
  program_.reset();  // its memory is needed again
  TOK_TRY(program_, make_(plan_, loss));
  plan_ = {};
  return {};
}

Result<void> RestorableProgram::write_table(BufferId buffer, std::span<const uint32_t> values,
                                            uint64_t first) {
  return program_ ? program_->write_table(buffer, values, first) : Failure(loss_);
}

Result<void> RestorableProgram::submit(const StepRequest& request) {
  return program_ ? program_->submit(request) : Failure(loss_);
}

Result<void> RestorableProgram::poll() {
  return program_ ? program_->poll() : Failure(loss_);
}

Result<void> RestorableProgram::wait_for_result() {
  return program_ ? program_->wait_for_result() : Failure(loss_);
}

Result<void> RestorableProgram::limit_batches(uint32_t most) {
  return program_ ? program_->limit_batches(most) : Failure(loss_);
}

Result<void> RestorableProgram::wait() {
  return program_ ? program_->wait() : Failure(loss_);
}

Result<std::vector<double>> RestorableProgram::time_launches(const StepRequest& request) {
  if (!program_) return Failure(loss_);
  return program_->time_launches(request);
}

}  // namespace tokamak
