// The views of `tokamak inspect`: a model between files and device, without loading weights.
#pragma once
#include <string>

#include "engine/engine.h"
#include "engine/memory.h"

namespace tokamak {

enum class InspectView : uint8_t { kSummary, kGraph, kFused, kPlan, kWeights, kMemory };
enum class InspectForm : uint8_t { kTable, kText, kDot, kJson };

struct InspectRequest {
  InspectView view = InspectView::kSummary;
  InspectForm form = InspectForm::kTable;
  /// Bytes and FLOPs are those of a step of that many tokens after `depth` others. A plan's phases
  /// are shown with the most tokens they take.
  uint32_t tokens = 1, depth = 0;
  /// The layers of each device, where they have some each.
  std::vector<DevicePart> parts;
};

/// `compiled` is what Engine::compile made of `files` for `device` with `options`. kUsage when the
/// view has no such form.
Result<std::string> inspect(const ModelFiles& files, const Engine::Compiled& compiled,
                            const DeviceInfo& device, const OpenOptions& options,
                            const InspectRequest& request);

/// The same of a codec, whose plan that is: its summary, its plan and its memory. kUsage of another
/// view or form.
Result<std::string> inspect_codec(const ModelFiles& files, const Plan& plan,
                                  const DeviceInfo& device, const InspectRequest& request);

/// The type that a GGUF file declares: "Q4_K_M"; "" without one.
std::string_view quantization_label(const ModelFiles& files);

/// The type of stored weights, in a word: "Q4_K_M" where a GGUF file declares it, else the type of
/// most of them.
std::string quantization_name(const ModelFiles& files, const Engine::Compiled& compiled);

}  // namespace tokamak
