// Steps that come again, one token after another, as CUDA graphs: all launches of a step are one
// call then. What changes from step to step is in buffers, so that a graph is never changed.
#pragma once
#include <deque>

#include "backend/cuda/launches.h"

namespace tokamak::cuda {

/// The values that the launches of a step depend on.
struct StepShape {
  size_t phase = 0;
  BatchSize size;
  uint32_t repeat = 0;
  bool operator==(const StepShape&) const = default;
};

class Graphs {
 public:
  explicit Graphs(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {}
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;
  ~Graphs();

  /// Puts the launches of a step onto the stream: one by one the first time, as a graph from the
  /// second time on.
  Result<void> run(const StepShape& shape, std::span<const PreparedLaunch> launches);

 private:
  struct Entry {
    StepShape shape;
    GraphExec exec = nullptr;  // null: it came once
  };
  using Launches = std::span<const PreparedLaunch>;

  Result<void> one_by_one(const StepShape& shape, Launches launches);
  Result<void> forget_one();
  Result<GraphExec> make(const StepShape& shape, Launches launches);
  Result<void> add_launches(const StepShape& shape, Launches launches, Graph graph);
  Result<Graph> captured(const StepShape& shape, Launches launches);

  std::shared_ptr<CudaDevice> device_;
  std::deque<Entry> entries_;  // the last ones last
};

}  // namespace tokamak::cuda
