#include "backend/cuda/device.h"

#include <algorithm>
#include <iterator>

#include "base/background_task.h"

namespace tokamak {
namespace cuda {
namespace {

/// The size that all drivers allow without being asked, and that WebGPU grants on the same devices:
/// launches are sized by it.
constexpr uint32_t kWorkgroupBytes = 49152;
/// device.cuh's Bound has room for as many, and one for the batch.
constexpr uint32_t kMaxBuffers = 31;
constexpr int kOldestArchitecture = 75;
/// The first with the matrix products that device.cuh is written in.
constexpr int kMatrixArchitecture = 80;
/// The first with bf16, whose products cuBLASLt has.
constexpr int kLibraryArchitecture = 80;
/// The first where a launch can begin while the one before ends.
constexpr int kDependentArchitecture = 90;

/// The errors after which no call of the process on this device succeeds: illegal addresses and
/// instructions, failed launches, errors of memory and of the hardware, unknown ones.
bool poisons(Status status) {
  const int code = int(status);
  return code == 214 || code == 220 || (code >= 700 && code <= 719 && code != 701) || code == 999;
}

Result<int> attribute(const Driver& driver, Device device, Attribute which) {
  int value = 0;
  TOK_TRY(checked(driver, driver.api.device_attribute(&value, which, device),
                  "The device does not describe itself"));
  return value;
}

Result<int> architecture_of(const Driver& driver, Device device) {
  TOK_TRY(const int major, attribute(driver, device, Attribute::kMajor));
  TOK_TRY(const int minor, attribute(driver, device, Attribute::kMinor));
  return 10 * major + minor;
}

Result<DeviceInfo> described(const Driver& driver, Device device) {
  char name[256] = {};
  TOK_TRY(checked(driver, driver.api.device_name(name, int(sizeof name) - 1, device),
                  "The device has no name"));
  TOK_TRY(const int multiprocessors, attribute(driver, device, Attribute::kMultiprocessors));
  TOK_TRY(const int cache_bytes, attribute(driver, device, Attribute::kCacheBytes));
  TOK_TRY(const int lanes, attribute(driver, device, Attribute::kWarpSize));
  TOK_TRY(const int architecture, architecture_of(driver, device));
  DeviceInfo info;
  info.backend = BackendKind::kCuda;
  info.name = name;
  info.driver = fmt::format("CUDA {}, sm_{}", version_text(driver.version), architecture);
  info.features = kFeatureF16 | kFeatureSubgroups | kFeatureDot4;
  if (architecture >= kMatrixArchitecture) {
    info.features |= kFeatureSubgroupMatrix | kFeatureMatrixElements;
  }
  if (architecture >= kLibraryArchitecture && product_library()) info.features |= kFeatureLibrary;
  info.subgroup_min = info.subgroup_max = uint32_t(lanes);
  info.limits = {.workgroup_threads = 1024,
                 .workgroup_bytes = kWorkgroupBytes,
                 .storage_buffers = kMaxBuffers,
                 .grid_dimension = 65535,
                 .binding_bytes = uint64_t{1} << 40,  // any number
                 .buffer_bytes = uint64_t{1} << 40};
  info.size = {.multiprocessors = uint32_t(multiprocessors),
               .cache_bytes = uint64_t(cache_bytes),
               .source = "the CUDA driver"};
  return info;
}

/// "GPU-1fb21a0c-...", as nvidia-smi -L has it.
std::string uuid_text(const DeviceUuid& uuid, bool is_slice) {
  std::string text = is_slice ? "MIG" : "GPU";
  for (size_t i = 0; i < std::size(uuid.bytes); ++i) {
    const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", begins_group ? "-" : "", uuid.bytes[i]);
  }
  return text;
}

Result<CudaDeviceEntry> entry_of(const Driver& driver, Device device) {
  CudaDeviceEntry entry;
  TOK_TRY(entry.info, described(driver, device));
  const bool is_slice = entry.info.name.find(" MIG ") != std::string::npos;
  DeviceUuid uuid;
  char address[32] = {};
  size_t bytes = 0;
  TOK_TRY(checked(driver, driver.api.device_uuid(&uuid, device), "The device has no UUID"));
  TOK_TRY(checked(driver, driver.api.device_address(address, int(sizeof address) - 1, device),
                  "The device has no address"));
  TOK_TRY(checked(driver, driver.api.device_bytes(&bytes, device), "The device has no memory"));
  entry.place = {uuid_text(uuid, is_slice), address, bytes, is_slice};
  return entry;
}

/// The devices, a bit for each, whose context some error has poisoned since it was made.
std::atomic<uint64_t> g_lost = 0;

uint64_t bit_of(Device device) {
  return uint64_t{1} << (device % 64);
}

/// Errors: `reader` cannot read the memory of `owner`.
Result<void> check_link(const Driver& driver, Device reader, Device owner) {
  int possible = 0;
  TOK_TRY(checked(driver, driver.api.peers_possible(&possible, reader, owner),
                  "The devices' link is not described"));
  if (possible != 0) return {};
  return unsupported(
      "CUDA devices {} and {} cannot read each other's memory, as they must to run a model "
      "together: they have no NVLink, and no peer access over PCIe (`nvidia-smi topo -p2p r` shows "
      "why).",
      reader, owner);
}

}  // namespace

Result<std::shared_ptr<CudaDevice>> CudaDevice::open(const CudaOptions& options) {
  if (!driver_library()) return Failure(driver_library().error());
  // They are large: the loader brings them while the driver begins and makes its context.
  BackgroundTask libraries([] {
    compiler();
    product_library();
  });
  const Result<Driver>& found = cuda::driver();
  if (!found) return Failure(found.error());
  const Driver& driver = *found;
  int count = 0;
  TOK_TRY(checked(driver, driver.api.device_count(&count), "The devices cannot be counted"));
  if (count == 0) return unsupported("{}", no_device_text(visible_devices(), installed_gpus()));
  const uint32_t number = options.device.value_or(0);
  if (number >= uint32_t(count)) {
    return fail(ErrorCode::kUsage, "{}",
                no_such_device_text(number, uint32_t(count), visible_devices()));
  }
  std::shared_ptr<CudaDevice> own(new CudaDevice(driver));
  TOK_TRY(checked(driver, driver.api.device_get(&own->device_, int(number)), "No device"));
  TOK_TRY(own->architecture_, architecture_of(driver, own->device_));
  const bool has_dependent =
      own->architecture_ >= kDependentArchitecture && driver.api.graph_add_dependencies != nullptr;
  own->launches_ =
      has_dependent ? options.launches : std::min(options.launches, CudaLaunches::kGraph);
  if (own->architecture_ < kOldestArchitecture) {
    return unsupported("CUDA device {} is sm_{}; the oldest GPUs that work are sm_{} (Turing).",
                       number, own->architecture_, kOldestArchitecture);
  }
  if ((g_lost.fetch_and(~bit_of(own->device_)) & bit_of(own->device_)) != 0) {
    TOK_TRY(checked(driver, driver.api.context_reset(own->device_), "The device does not recover"));
  }
  const Status opened = driver.api.context_retain(&own->context_, own->device_);
  if (opened == Status::kDeviceUnavailable) {
    return unsupported(
        "CUDA device {} lets no other program in: it is in use, and its compute mode is exclusive "
        "or prohibited. `nvidia-smi -q -d COMPUTE` shows the mode, nvidia-smi who uses it.",
        number);
  }
  TOK_TRY(checked(driver, opened, "The device cannot be opened"));
  TOK_TRY(own->enter());
  TOK_TRY(own->check(driver.api.stream_create(&own->stream_, kStreamNonBlocking), "No stream"));
  libraries.wait();
  TOK_TRY(own->info_, described(driver, own->device_));
  own->info_.features &= ~options.disabled;
  if (!options.cache_dir.empty()) own->cache_ = open_pipeline_cache(options.cache_dir);
  return own;
}

CudaDevice::~CudaDevice() {
  // Whatever belonged to a lost context is gone with it, or will be.
  if (context_ == nullptr || !enter()) return;
  if (stream_ != nullptr) driver_.api.stream_destroy(stream_);
  driver_.api.context_release(device_);
}

Result<void> CudaDevice::enter() {
  {
    const std::lock_guard lock(mutex_);
    if (loss_) return Failure(*loss_);
  }
  return check(driver_.api.context_set(context_), "The device's context is gone");
}

Result<void> CudaDevice::reach(const CudaDevice& other) {
  TOK_TRY(check_link(driver_, device_, other.device_));
  const Status enabled = driver_.api.peers_enable(other.context_, 0);
  if (enabled == Status::kPeersAlready) return {};
  return check(enabled, "A device cannot read another one's memory");
}

Result<void> CudaDevice::check(Status status, std::string_view what) {
  if (status == Status::kSuccess) return {};
  const std::lock_guard lock(mutex_);
  if (loss_) return Failure(*loss_);
  Result<void> failed = checked(driver_, status, what);
  if (!poisons(status)) return failed;
  loss_ = Error{ErrorCode::kDeviceLost, failed.error().message};
  g_lost |= bit_of(device_);
  return Failure(*loss_);
}

}  // namespace cuda

Result<std::vector<CudaDeviceEntry>> list_cuda_devices() {
  const Result<cuda::Driver>& driver = cuda::driver();
  if (!driver) return Failure(driver.error());
  int count = 0;
  TOK_TRY(cuda::checked(*driver, driver->api.device_count(&count), "The devices are not counted"));
  std::vector<CudaDeviceEntry> all;
  for (int number = 0; number < count; ++number) {
    cuda::Device device = 0;
    TOK_TRY(cuda::checked(*driver, driver->api.device_get(&device, number), "No device"));
    TOK_TRY(CudaDeviceEntry entry, cuda::entry_of(*driver, device));
    all.push_back(std::move(entry));
  }
  return all;
}

Result<void> check_cuda_links(std::span<const uint32_t> devices) {
  const Result<cuda::Driver>& driver = cuda::driver();
  if (!driver) return Failure(driver.error());
  for (const uint32_t reader : devices) {
    for (const uint32_t owner : devices) {
      if (reader != owner) TOK_TRY(cuda::check_link(*driver, int(reader), int(owner)));
    }
  }
  return {};
}

Result<std::string> cuda_compiler_text() {
  const Result<cuda::Compiler>& compiler = cuda::compiler();
  if (!compiler) return Failure(compiler.error());
  const Result<cuda::ProductLibrary>& products = cuda::product_library();
  const std::string library = products
                                  ? fmt::format("cuBLASLt {}.{} ({})", products->version / 10000,
                                                products->version % 10000 / 100, products->path)
                                  : "no cuBLASLt: prompts are read by Tokamak's own products";
  return fmt::format("NVRTC {}.{} ({}), {}", compiler->major, compiler->minor, compiler->path,
                     library);
}

}  // namespace tokamak
