#include "backend/cuda/graphs.h"

#include <algorithm>

namespace tokamak::cuda {
namespace {

/// Shapes that are kept: those of one model's decoding, with some sequences that come and go.
constexpr size_t kMaxEntries = 32;
/// Workgroups that begin early crowd on the multiprocessors that are free first. Products of more
/// rows, whose workgroups last long, lose more by it than launches gain: 10 % with 64 rows, 25 % of
/// a prompt of 512 (H100).
constexpr uint32_t kMaxDependentRows = 1;

/// A graph while it is being built.
struct Building {
  const DriverApi& api;
  Graph graph = nullptr;
  ~Building() {
    if (graph != nullptr) api.graph_destroy(graph);
  }
};

}  // namespace

Graphs::~Graphs() {
  if (!device_->enter()) return;
  for (const Entry& entry : entries_) {
    if (entry.exec != nullptr) device_->api().graph_exec_destroy(entry.exec);
  }
}

Result<void> Graphs::one_by_one(const StepShape& shape, Launches launches) {
  for (uint32_t i = 0; i < shape.repeat; ++i) TOK_TRY(launch(*device_, launches, shape.size));
  return {};
}

Result<void> Graphs::run(const StepShape& shape, Launches launches) {
  if (device_->launches() == CudaLaunches::kEager) return one_by_one(shape, launches);
  const auto found = std::ranges::find(entries_, shape, &Entry::shape);
  if (found == entries_.end()) {
    if (entries_.size() == kMaxEntries) {
      TOK_TRY(forget_one());
    }
    entries_.push_back({shape});
    return one_by_one(shape, launches);
  }
  Entry own = *found;
  if (own.exec == nullptr) {
    TOK_TRY(own.exec, make(shape, launches));
  }
  entries_.erase(found);
  entries_.push_back(own);
  return device_->check(device_->api().graph_launch(own.exec, device_->stream()),
                        "A step cannot be launched");
}

/// The oldest that came once, since prompts have as many sizes as texts have lengths; else the
/// oldest.
Result<void> Graphs::forget_one() {
  auto found = std::ranges::find(entries_, GraphExec(nullptr), &Entry::exec);
  if (found == entries_.end()) found = entries_.begin();
  const Entry forgotten = *found;
  entries_.erase(found);
  if (forgotten.exec == nullptr) return {};
  // It may still run.
  TOK_TRY(device_->check(device_->api().stream_synchronize(device_->stream()),
                         "The device has failed"));
  device_->api().graph_exec_destroy(forgotten.exec);
  return {};
}

Result<GraphExec> Graphs::make(const StepShape& shape, Launches launches) {
  const DriverApi& api = device_->api();
  Building building{api};
  const auto calls_library = [](const PreparedLaunch& one) { return one.call.library != nullptr; };
  if (std::ranges::any_of(launches, calls_library)) {
    TOK_TRY(building.graph, captured(shape, launches));
  } else {
    TOK_TRY(device_->check(api.graph_create(&building.graph, 0), "No graph"));
    TOK_TRY(add_launches(shape, launches, building.graph));
  }
  GraphExec exec = nullptr;
  TOK_TRY(device_->check(api.graph_instantiate(&exec, building.graph, 0), "A graph is refused"));
  return exec;
}

/// Node by node: edges may be programmatic.
Result<void> Graphs::add_launches(const StepShape& shape, Launches launches, Graph graph) {
  const DriverApi& api = device_->api();
  const bool is_dependent =
      device_->launches() == CudaLaunches::kDependent && shape.size.rows <= kMaxDependentRows;
  const GraphEdge edge = {.from_port = kPortProgrammatic, .type = kEdgeProgrammatic};
  GraphNode last = nullptr;
  for (uint32_t i = 0; i < shape.repeat; ++i) {
    for (const PreparedLaunch& own : launches) {
      const Workgroups groups = workgroups_of(own, shape.size);
      Bound bound = own.bound;
      void* parameters[] = {&bound};  // copied by the call
      const KernelNodeParameters node = {.function = own.kernel.function,
                                         .grid_x = groups.x,
                                         .grid_y = groups.y,
                                         .grid_z = groups.z,
                                         .block_x = own.kernel.lanes,
                                         .block_y = 1,
                                         .block_z = 1,
                                         .shared_bytes = own.kernel.shared_bytes,
                                         .parameters = parameters};
      const GraphNode before = last;
      const size_t count = before == nullptr || is_dependent ? 0 : 1;
      TOK_TRY(device_->check(api.graph_add_kernel(&last, graph, &before, count, &node),
                             "A graph takes no kernel"));
      if (before == nullptr || !is_dependent) continue;
      TOK_TRY(device_->check(api.graph_add_dependencies(graph, &before, &last, &edge, 1),
                             "A graph takes no edge"));
    }
  }
  return {};
}

/// The library's kernels are its own: what it puts onto the stream is recorded. All of its
/// algorithms are chosen, since the step has run before.
Result<Graph> Graphs::captured(const StepShape& shape, Launches launches) {
  const DriverApi& api = device_->api();
  TOK_TRY(device_->check(api.capture_begin(device_->stream(), kCaptureRelaxed), "No recording"));
  const Result<void> recorded = one_by_one(shape, launches);
  Graph graph = nullptr;
  const Status ended = api.capture_end(device_->stream(), &graph);
  if (recorded && ended == Status::kSuccess) return graph;
  if (graph != nullptr) api.graph_destroy(graph);
  TOK_TRY(recorded);
  TOK_TRY(device_->check(ended, "A step cannot be recorded"));
  return graph;
}

}  // namespace tokamak::cuda
