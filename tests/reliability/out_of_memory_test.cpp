// Memory that runs out while a model is loaded is an error that says what needs how much, and
// whatever is smaller can be loaded right after it, on the same device.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "backend/cuda/device.h"
#include "backend/webgpu/adapters.h"
#include "golden/reference.h"

namespace {

/// The memory that is left of devices.
uint64_t device_room = UINT64_MAX;

}  // namespace

// The linker gives every call of wgpuDeviceCreateBuffer to the first of these. Dawn itself plays
// the device that has no memory: the error takes the way of a real one.
extern "C" WGPUBuffer __real_wgpuDeviceCreateBuffer(WGPUDevice, const WGPUBufferDescriptor*);
extern "C" WGPUBuffer __wrap_wgpuDeviceCreateBuffer(WGPUDevice device,
                                                    const WGPUBufferDescriptor* wanted) {
  if (wanted->size <= device_room) {
    if (device_room != UINT64_MAX) device_room -= wanted->size;
    return __real_wgpuDeviceCreateBuffer(device, wanted);
  }
  WGPUDawnFakeBufferOOMForTesting none = {.chain = {.sType = WGPUSType_DawnFakeBufferOOMForTesting},
                                          .fakeOOMAtDevice = 1};
  WGPUBufferDescriptor refused = *wanted;
  refused.nextInChain = &none.chain;
  return __real_wgpuDeviceCreateBuffer(device, &refused);
}

namespace tokamak::golden {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
/// 64 MiB of cosines and sines; keys and values of two layers in f32: 256 MiB.
constexpr uint32_t kManyPositions = 256 * 1024;

uint64_t mapped_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * uint64_t(::sysconf(_SC_PAGESIZE));
}

/// While it lives, no more than `room` bytes can be had on top of what is taken: on a device, or of
/// the process's address space. Of the emulated CUDA device nothing is taken.
class Scarcity {
 public:
  Scarcity(const std::string& backend, uint64_t room) {
    ::getrlimit(RLIMIT_AS, &before_);
    if (backend == "webgpu") {
      device_room = room;
    } else if (backend == "cuda") {
      ::setenv(kEmulatedMemory, std::to_string(room).c_str(), 1);
    } else {
      const rlimit scarce{mapped_bytes() + room, before_.rlim_max};
      EXPECT_EQ(::setrlimit(RLIMIT_AS, &scarce), 0);
    }
  }
  ~Scarcity() {
    device_room = UINT64_MAX;
    ::unsetenv(kEmulatedMemory);
    ::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  static constexpr const char* kEmulatedMemory = "TOKAMAK_EMULATED_MEMORY";
  rlimit before_ = {};
};

struct Memory : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  std::shared_ptr<WebGpuDevice> device;  // null: another backend

  void SetUp() override {
    require_device(setup);
    if (IsSkipped() || setup.options.backend != "webgpu") return;
    auto opened = open_webgpu_device({});
    ASSERT_TRUE(opened) << opened.error().message;
    device = *std::move(opened);
  }

  Result<std::unique_ptr<Backend>> open_device() {
    if (device != nullptr) return make_webgpu_backend(device);
    return open_backend(setup.options);
  }

  Result<std::unique_ptr<Engine>> load(uint32_t context) {
    TOK_TRY(ModelFiles files, read_model_files(model_folder("llama_tied_rope3")));
    files.description.config.set("max_position_embeddings", kManyPositions);
    OpenOptions options = setup.options;
    options.context = context;
    TOK_TRY(std::unique_ptr<Backend> backend, open_device());
    return Engine::load(std::move(files), std::move(backend), options, steady_clock());
  }
};

TEST_P(Memory, ThatRunsOutAtLoadIsAnErrorWithSizes) {
  const std::vector<uint32_t> ids = {5, 100, 7, 400, 9};
  std::vector<float> expected;
  {
    const auto engine = load(256);
    ASSERT_TRUE(engine) << engine.error().message;
    expected = logits_of(**engine, ids);
  }
  {
    const Scarcity scarcity(setup.options.backend, 160 * kMiB);
    const auto engine = load(kManyPositions);
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, ErrorCode::kOutOfMemory);
    const std::string& message = engine.error().message;
    for (const char* part : {"does not fit into the memory of", "256.00 MiB of KV cache and states",
                             "262144 positions", "A smaller context", "134217728 bytes"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
    }
    if (device != nullptr) {
      EXPECT_EQ(device->bytes(), 0u);
    }
  }
  const auto smaller = load(256);
  ASSERT_TRUE(smaller) << smaller.error().message;
  EXPECT_EQ(logits_of(**smaller, ids), expected);
}

TEST_P(Memory, OfAnAbsurdSizeIsAnError) {
  const auto engine = load(UINT32_MAX);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUsage) << engine.error().message;
}

/// A GPU of CUDA has as much memory as it has; the emulator as much as a test says.
std::vector<DeviceSetup> memory_setups() {
  std::vector<DeviceSetup> all = {setup_named("cpu_fast"), setup_named("webgpu_f32")};
  const auto cuda = list_cuda_devices();
  if (!cuda || cuda->empty() || !cuda->front().info.name.starts_with("emulated")) return all;
  DeviceSetup emulated = setup_named("webgpu_f32");
  emulated.name = "cuda_f32";
  emulated.options.backend = "cuda";
  all.push_back(emulated);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Devices, Memory, testing::ValuesIn(memory_setups()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
