#include "engine/warm_up.h"

#include <vector>

#include "backend/one_sequence.h"
#include "engine/engine.h"
#include "engine/image_encoder.h"

namespace tokamak {
namespace {

Result<void> run_once(Program& program, size_t phase) {
  constexpr uint32_t kToken[] = {0}, kOutput[] = {0};
  const Phase& own = program.plan().phases[phase];
  StepRequest request{.phase = phase,
                      .slots = {{.position = own.from_position, .length = own.from_position + 1}},
                      .tokens = kToken,
                      .done = {}};
  if (!chooses(own.kind)) request.outputs = kOutput;
  request.result_bytes = sizeof(float);
  TOK_TRY(run_and_read(program, std::move(request)));
  return {};
}

}  // namespace

Result<void> run_every_phase(Program& program, const WarmUpProgress& progress) {
  std::vector<size_t> phases;
  for (size_t i = 0; i < program.plan().phases.size(); ++i) {
    if (program.plan().phases[i].kind != PhaseKind::kSound) phases.push_back(i);
  }
  for (size_t i = 0; i < phases.size(); ++i) {
    if (progress && !progress(i, phases.size())) return loading_cancelled();
    TOK_TRY(run_once(program, phases[i]));
  }
  return {};
}

Result<void> Engine::warm_up(const WarmUpProgress& progress) {
  if (device().backend == BackendKind::kCpu) return {};
  const double start = clock_();
  bool is_reported = false;
  const auto told = [&](size_t done, size_t total) {
    constexpr double kLong = 2;
    if (notice_ && !is_reported && clock_() - start > kLong) {
      is_reported = true;
      notice_(
          fmt::format("The driver compiles kernels when they first run: {} of {} kinds of "
                      "steps so far. Later starts are quicker.",
                      done, total));
    }
    return !progress || progress(done, total);
  };
  TOK_TRY(run_every_phase(*program_, told));
  if (draft_ != nullptr) TOK_TRY(run_every_phase(*draft_->program_, told));
  if (image_encoder_ != nullptr) TOK_TRY(image_encoder_->warm_up());
  return {};
}

}  // namespace tokamak
