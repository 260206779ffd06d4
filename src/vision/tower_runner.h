// TowerRunner: a vision tower on a device, for one image at a time.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "compile/part.h"
#include "image/patches.h"
#include "model/vision.h"
#include "vision/patch_places.h"

namespace tokamak {

class TowerRunner {
 public:
  /// The plan for that device, before anything is loaded.
  static Result<CompiledPart> compile(const VisionTower& tower, const DeviceInfo& device,
                                      const PartOptions& options);

  /// Compiles that plan of the tower for the backend's device and loads the weights.
  static Result<std::unique_ptr<TowerRunner>> open(const VisionTower& tower, Plan plan,
                                                   Backend& backend,
                                                   const ConstantReader& constants);

  /// The text model's rows for an image: [patches / side², hidden], blocks from left to right and
  /// from top to bottom; after them as many for each layer that adds some.
  Result<std::vector<float>> run(const Patches& patches);

  const Plan& plan() const { return program_->plan(); }

 private:
  TowerRunner() = default;

  /// The rows of a stage. `inputs` are written before it runs.
  Result<std::vector<float>> run_stage(size_t stage, const PatchGrid& grid,
                                       std::span<const InputWrite> inputs);

  size_t stages_ = 1;
  uint32_t side_ = 1, window_ = 0, head_dim_ = 0;
  uint32_t before_ = 0;  // rows before those of the patches
  std::optional<GridAngles> angles_;
  PatchPositions positions_are_ = PatchPositions::kSquare;
  std::vector<float> table_;          // of positions
  uint32_t width_ = 0;                // of its rows
  std::optional<PatchGrid> written_;  // whose positions and angles the device has
  std::unique_ptr<Program> program_;
};

}  // namespace tokamak
