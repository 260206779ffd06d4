// CodecRunner: a codec's decoder on a device.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "compile/part.h"
#include "model/codec.h"

namespace tokamak {

class CodecRunner {
 public:
  /// The plan for that device, before anything is loaded.
  static Result<CompiledPart> compile(const CodecModel& model, const DeviceInfo& device,
                                      const PartOptions& options);

  /// Compiles that plan of the model for the backend's device and loads the weights. REQUIRES: the
  /// model outlives the runner.
  static Result<std::unique_ptr<CodecRunner>> open(const CodecModel& model, Plan plan,
                                                   Backend& backend,
                                                   const ConstantReader& constants);

  /// The samples, from -1 to 1, of all frames but the first `context`, which are what comes before
  /// them: with model.context_frames() of these, or all that there are, they are the samples of the
  /// whole sequence. Codes [frames, groups]; any number of frames. Errors: a code that is none.
  /// REQUIRES: whole frames, at least `context`.
  Result<std::vector<float>> decode(std::span<const uint32_t> codes, uint32_t context);

  const Plan& plan() const { return program_->plan(); }

 private:
  explicit CodecRunner(const CodecModel& model) : model_(model) {}
  /// Appends the samples of the frames from `first` on, before `end`.
  Result<void> step(std::span<const float> latents, uint64_t first, uint64_t end,
                    std::vector<float>& samples);

  const CodecModel& model_;
  uint32_t max_frames_ = 1;  // of a step, beside those before them
  std::unique_ptr<Program> program_;
};

}  // namespace tokamak
