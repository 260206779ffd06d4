// Draft models: a second, smaller model beside an engine's own, on the same device, whose guesses
// that one verifies (generate/draft_model.h).
#pragma once
#include "engine/engine.h"

namespace tokamak {

/// Plans the draft model of `files` for what `compiled` was compiled for, and gives what it takes.
/// Errors: a model that does not generate text, one with recurrent states; where neither has a
/// tokenizer, another number of tokens.
Result<DraftMemory> plan_draft(const Engine::Compiled& compiled, const ModelFiles& files,
                               const DeviceInfo& device, const OpenOptions& options);

/// Whether every id that is a token of both models is the same token. `tokenizer`: of those files;
/// null: there is none. Errors: the first that differs.
Result<void> check_vocabulary(const ModelFiles& files, const Result<Tokenizer>* tokenizer);

/// Another engine's backend, as it is at the time.
class BorrowedBackend : public Backend {
 public:
  /// REQUIRES: `lender` outlives this.
  explicit BorrowedBackend(const std::unique_ptr<Backend>& lender) : lender_(&lender) {}

  const DeviceInfo& device() const override { return (*lender_)->device(); }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    return (*lender_)->compile(std::move(plan), constants, progress);
  }
  uint64_t device_bytes() const override { return (*lender_)->device_bytes(); }
  uint64_t free_bytes() const override { return (*lender_)->free_bytes(); }

 private:
  const std::unique_ptr<Backend>* lender_;
};

}  // namespace tokamak
