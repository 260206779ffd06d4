// The entry points of modules, launches and graphs.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fibers.h"
#include "state.h"

using namespace tokamak::cuda;
using namespace emulator;

namespace {

std::mutex g_mutex;  // one launch at a time, but where it waits for that of another thread
std::atomic<uint64_t> g_loaded_modules = 0;

struct LoadedModule {
  void* library;
  emulator::Lane entry;
  int file;  // open as long as the library is, which has its number as a name
};

/// The size of Bound in device.cuh.
struct BoundBuffers {
  unsigned char bytes[32 * sizeof(void*) + 32 * sizeof(uint32_t)];
};

struct RecordedLaunch {
  emulator::Lane entry;
  uint32_t grid[3];
  uint32_t lanes, shared_bytes;
  const void* bound;
  bool begins_early = false;          // while the one before it runs
  std::function<Status()> call = {};  // done instead, where there is one
};

struct RecordedGraph {
  std::vector<RecordedLaunch> launches;
  std::vector<std::unique_ptr<BoundBuffers>> bound;
};

// The graph that records what the thread puts onto its stream; null: that runs.
thread_local RecordedGraph* g_recorded = nullptr;
std::atomic<uint64_t> g_launched_graphs = 0;

void add_launch(RecordedGraph& graph, RecordedLaunch launch) {
  graph.bound.push_back(
      std::make_unique<BoundBuffers>(*static_cast<const BoundBuffers*>(launch.bound)));
  launch.bound = graph.bound.back().get();
  graph.launches.push_back(std::move(launch));
}

/// A workgroup and the memory that is its own.
struct Place {
  emulator::Workgroup workgroup;
  std::vector<std::max_align_t> shared;

  emulator::Work work(const RecordedLaunch& launch, std::array<uint32_t, 3> group) {
    shared.resize(launch.shared_bytes / sizeof(std::max_align_t) + 1);
    // A word that no lane has written is no number.
    std::memset(shared.data(), 0xff, shared.size() * sizeof(std::max_align_t));
    return {.lane = launch.entry,
            .bound = launch.bound,
            .memory = shared.data(),
            .lanes = launch.lanes,
            .group = group,
            .groups = std::to_array(launch.grid),
            .order = order()};
  }
};

// The workgroup that the thread runs, and the first one of a launch that begins early.
thread_local Place g_places[2];

/// One workgroup after the other. `place` has the first one, where the launch began early.
Status run(const RecordedLaunch& launch, Place& place = g_places[0]) {
  if (now() != kOk) return now();
  if (launch.call) return launch.call();
  if (++fault().launches == fault().launch) {
    fault().has_failed = true;
    return now();
  }
  const auto [x_count, y_count, z_count] = launch.grid;
  if (x_count * y_count * z_count == 0 || launch.lanes == 0 || launch.lanes > 1024) {
    return kInvalidValue;
  }
  bool is_begun = launch.begins_early;
  std::array<uint32_t, 3> group;
  for (group[2] = 0; group[2] < z_count; ++group[2]) {
    for (group[1] = 0; group[1] < y_count; ++group[1]) {
      for (group[0] = 0; group[0] < x_count; ++group[0]) {
        const bool has_ended = std::exchange(is_begun, false)
                                   ? place.workgroup.finish()
                                   : place.workgroup.run(place.work(launch, group));
        if (!has_ended) {
          fault().status = kLaunchFailed;
          fault().has_failed = true;
          return now();
        }
      }
    }
  }
  return kOk;
}

}  // namespace

namespace emulator {

Fault& fault() {
  static Fault own;
  return own;
}

bool wait_between_launches() {
  g_mutex.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(20));
  g_mutex.lock();
  return now() == kOk;
}

Order order() {
  const char* text = std::getenv("TOKAMAK_EMULATED_ORDER");
  const bool is_backward = text != nullptr && std::string_view(text) == "backward";
  return is_backward ? Order::kBackward : Order::kForward;
}

bool record(std::function<Status()> call) {
  if (g_recorded == nullptr) return false;
  g_recorded->launches.push_back({.call = std::move(call)});
  return true;
}

void read_fault() {
  if (fault().has_failed) return;
  fault() = {};
  const char* text = std::getenv("TOKAMAK_EMULATED_FAULT");
  int status = 0;
  if (text != nullptr && std::sscanf(text, "launch:%lu:%d", &fault().launch, &status) == 2) {
    fault().status = Status(status);
  }
}

}  // namespace emulator

extern "C" {

/// `image` is a shared library; see compiler.cpp.
Status cuModuleLoadData(Module* module, const void* image) {
  constexpr auto kInvalidImage = Status(200);
  const auto* header = static_cast<const Elf64_Ehdr*>(image);
  static int refused = 0;
  const char* to_refuse = std::getenv("TOKAMAK_EMULATED_REFUSED");
  if (to_refuse == nullptr) refused = 0;
  if (to_refuse != nullptr && refused++ < std::atoi(to_refuse)) return kInvalidImage;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return kInvalidImage;
  const size_t size = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
  const int file = memfd_create("kernel", MFD_CLOEXEC);
  const bool is_whole = write(file, image, size) == ssize_t(size);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* library = is_whole ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  const void* version = library == nullptr ? nullptr : dlsym(library, "emulator_version");
  if (version == nullptr || *static_cast<const uint64_t*>(version) != emulator::version()) {
    if (library != nullptr) dlclose(library);
    close(file);
    return kInvalidImage;
  }
  const std::lock_guard lock(g_mutex);
  auto** machine = static_cast<emulator::Machine**>(dlsym(library, "machine"));
  *machine = &emulator::machine();
  const auto entry = reinterpret_cast<emulator::Lane>(dlsym(library, "entry"));
  *module = reinterpret_cast<Module>(new LoadedModule{library, entry, file});
  ++g_loaded_modules;
  return kOk;
}
/// For tests: how many modules were loaded, and graphs launched, since the program began.
uint64_t emulated_loaded_modules() {
  return g_loaded_modules;
}
uint64_t emulated_launched_graphs() {
  return g_launched_graphs;
}
Status cuModuleUnload(Module module) {
  auto* own = reinterpret_cast<LoadedModule*>(module);
  dlclose(own->library);
  close(own->file);
  delete own;
  return kOk;
}
Status cuModuleGetFunction(Function* function, Module module, const char*) {
  *function = reinterpret_cast<Function>(reinterpret_cast<LoadedModule*>(module)->entry);
  return kOk;
}
Status cuModuleGetGlobal(DevicePointer* address, size_t* bytes, Module module, const char* name) {
  void* found = dlsym(reinterpret_cast<LoadedModule*>(module)->library, name);
  *address = reinterpret_cast<DevicePointer>(found);
  *bytes = 2 * sizeof(uint32_t);
  return found == nullptr ? Status(500) : kOk;  // CUDA_ERROR_NOT_FOUND
}

Status cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned lanes, unsigned, unsigned, unsigned shared_bytes, Stream,
                      void** parameters, void**) {
  const std::lock_guard lock(g_mutex);
  RecordedLaunch own = {reinterpret_cast<emulator::Lane>(function),
                        {grid_x, grid_y, grid_z},
                        lanes,
                        shared_bytes,
                        parameters[0]};
  if (g_recorded == nullptr) return run(own);
  add_launch(*g_recorded, std::move(own));
  return now();
}

Status cuStreamBeginCapture(Stream, int) {
  if (g_recorded != nullptr) return Status(900);  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  g_recorded = new RecordedGraph;
  return now();
}
Status cuStreamEndCapture(Stream, Graph* graph) {
  *graph = reinterpret_cast<Graph>(std::exchange(g_recorded, nullptr));
  return *graph == nullptr ? Status(901) : now();  // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
}

Status cuGraphCreate(Graph* graph, unsigned) {
  *graph = reinterpret_cast<Graph>(new RecordedGraph);
  return now();
}
Status cuGraphAddKernelNode(GraphNode* node, Graph graph, const GraphNode* before, size_t count,
                            const KernelNodeParameters* parameters) {
  RecordedGraph& own = *reinterpret_cast<RecordedGraph*>(graph);
  // A chain: each node waits for the one before it, as this call says or the next one.
  if (count > 1 || (count == 1 && size_t(*before) != own.launches.size())) return kInvalidValue;
  add_launch(own, {reinterpret_cast<emulator::Lane>(parameters->function),
                   {parameters->grid_x, parameters->grid_y, parameters->grid_z},
                   parameters->block_x,
                   parameters->shared_bytes,
                   parameters->parameters[0]});
  *node = reinterpret_cast<GraphNode>(own.launches.size());
  return now();
}
Status cuGraphAddDependencies(Graph graph, const GraphNode* from, const GraphNode* to,
                              const GraphEdge* edge, size_t count) {
  RecordedGraph& own = *reinterpret_cast<RecordedGraph*>(graph);
  const size_t node = size_t(*to);
  if (count != 1 || node != own.launches.size() || size_t(*from) + 1 != node) return kInvalidValue;
  if (edge->type != kEdgeProgrammatic || edge->from_port != kPortProgrammatic) return kInvalidValue;
  own.launches.back().begins_early = true;
  return now();
}
Status cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long) {
  auto own = std::make_unique<RecordedGraph>();
  std::swap(*own, *reinterpret_cast<RecordedGraph*>(graph));
  *exec = reinterpret_cast<GraphExec>(own.release());
  return now();
}
Status cuGraphDestroy(Graph graph) {
  delete reinterpret_cast<RecordedGraph*>(graph);
  return kOk;
}
Status cuGraphExecDestroy(GraphExec exec) {
  delete reinterpret_cast<RecordedGraph*>(exec);
  return kOk;
}
Status cuGraphLaunch(GraphExec exec, Stream) {
  const std::lock_guard lock(g_mutex);
  ++g_launched_graphs;
  const auto& launches = reinterpret_cast<RecordedGraph*>(exec)->launches;
  for (size_t i = 0; i < launches.size(); ++i) {
    Place& next = g_places[(i + 1) % 2];
    if (i + 1 < launches.size() && launches[i + 1].begins_early) {
      next.workgroup.begin_early(next.work(launches[i + 1], {}));
    }
    if (const Status status = run(launches[i], g_places[i % 2]); status != kOk) return status;
  }
  return now();
}

}  // extern "C"
