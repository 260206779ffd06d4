// Memory that runs out while a model is loaded is an error that says what needs how much, and
// whatever is smaller can be loaded right after it, on the same device.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "backend/webgpu/adapters.h"
#include "golden/reference.h"

namespace {

/// What is left of the memory of devices.
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
/// the process's address space.
class Scarcity {
 public:
  Scarcity(bool on_device, uint64_t room) {
    ::getrlimit(RLIMIT_AS, &before_);
    if (on_device) {
      device_room = room;
    } else {
      const rlimit scarce{mapped_bytes() + room, before_.rlim_max};
      EXPECT_EQ(::setrlimit(RLIMIT_AS, &scarce), 0);
    }
  }
  ~Scarcity() {
    device_room = UINT64_MAX;
    ::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  rlimit before_ = {};
};

struct Memory : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  std::shared_ptr<WebGpuDevice> device;  // null: the CPU

  void SetUp() override {
    require_device(setup);
    if (IsSkipped() || setup.options.backend == "cpu") return;
    auto opened = open_webgpu_device({});
    ASSERT_TRUE(opened) << opened.error().message;
    device = *std::move(opened);
  }

  Result<std::unique_ptr<Engine>> load(uint32_t context) {
    TOK_TRY(ModelFiles files, read_model_files(model_folder("llama_tied_rope3")));
    files.description.config.set("max_position_embeddings", kManyPositions);
    OpenOptions options = setup.options;
    options.context = context;
    return Engine::load(std::move(files),
                        device == nullptr ? make_cpu_backend() : make_webgpu_backend(device),
                        options, steady_clock());
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
    const Scarcity scarcity(device != nullptr, 160 * kMiB);
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

INSTANTIATE_TEST_SUITE_P(Devices, Memory, testing::Values(setups()[0], setups()[1]),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
