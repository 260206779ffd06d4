#include "backend/cuda/library.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "backend/cuda/visible.h"
#include "base/environment.h"
#include "base/system/drivers.h"
#include "base/system/dynamic_library.h"

namespace tokamak::cuda {
namespace {

namespace fs = std::filesystem;

/// The first version that has all functions that the backend calls.
constexpr int kOldestDriver = 12000;
/// Launches that depend on each other in part have edges with ports since then.
constexpr int kEdgeDriver = 12030;

/// cuGetProcAddress_v2: the plain names stand for other versions of the functions from header to
/// header; this one is asked for those of kOldestDriver.
using FindFunction = Status (*)(const char* name, void** function, int version, uint64_t flags,
                                int* why);

template <typename F>
F as_function(void* address) {
  return reinterpret_cast<F>(address);
}

Failure missing(std::string_view library, std::string_view function) {
  return unsupported("{} has no {}: it is too old, or damaged.", library, function);
}

class DriverFunctions {
 public:
  explicit DriverFunctions(FindFunction of) : find_(of) {}

  template <typename F>
  void take(F& function, const char* name) {
    function = as_function<F>(address_of(name, kOldestDriver));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  /// Null when the driver is older.
  template <typename F>
  void take_if_there(F& function, const char* name, int version) {
    function = as_function<F>(address_of(name, version));
  }
  const char* missing() const { return missing_; }

 private:
  void* address_of(const char* name, int version) const {
    void* address = nullptr;
    int why = 0;
    return find_(name, &address, version, 0, &why) == Status::kSuccess ? address : nullptr;
  }

  FindFunction find_;
  const char* missing_ = nullptr;
};

const char* find_all(DriverFunctions functions, DriverApi& api) {
  functions.take(api.init, "cuInit");
  functions.take(api.driver_version, "cuDriverGetVersion");
  functions.take(api.error_name, "cuGetErrorName");
  functions.take(api.error_string, "cuGetErrorString");
  functions.take(api.device_count, "cuDeviceGetCount");
  functions.take(api.device_get, "cuDeviceGet");
  functions.take(api.device_name, "cuDeviceGetName");
  functions.take(api.device_attribute, "cuDeviceGetAttribute");
  functions.take(api.device_uuid, "cuDeviceGetUuid");
  functions.take(api.device_address, "cuDeviceGetPCIBusId");
  functions.take(api.device_bytes, "cuDeviceTotalMem");
  functions.take(api.context_retain, "cuDevicePrimaryCtxRetain");
  functions.take(api.context_release, "cuDevicePrimaryCtxRelease");
  functions.take(api.context_reset, "cuDevicePrimaryCtxReset");
  functions.take(api.context_set, "cuCtxSetCurrent");
  functions.take(api.peers_possible, "cuDeviceCanAccessPeer");
  functions.take(api.peers_enable, "cuCtxEnablePeerAccess");
  functions.take(api.memory_info, "cuMemGetInfo");
  functions.take(api.memory_alloc, "cuMemAlloc");
  functions.take(api.memory_free, "cuMemFree");
  functions.take(api.host_alloc, "cuMemHostAlloc");
  functions.take(api.host_free, "cuMemFreeHost");
  functions.take(api.copy_to_host, "cuMemcpyDtoH");
  functions.take(api.copy_to_device_async, "cuMemcpyHtoDAsync");
  functions.take(api.copy_to_host_async, "cuMemcpyDtoHAsync");
  functions.take(api.copy_async, "cuMemcpyDtoDAsync");
  functions.take(api.fill_async, "cuMemsetD8Async");
  functions.take(api.stream_create, "cuStreamCreate");
  functions.take(api.stream_destroy, "cuStreamDestroy");
  functions.take(api.stream_synchronize, "cuStreamSynchronize");
  functions.take(api.capture_begin, "cuStreamBeginCapture");
  functions.take(api.capture_end, "cuStreamEndCapture");
  functions.take(api.event_create, "cuEventCreate");
  functions.take(api.event_destroy, "cuEventDestroy");
  functions.take(api.event_record, "cuEventRecord");
  functions.take(api.event_query, "cuEventQuery");
  functions.take(api.event_synchronize, "cuEventSynchronize");
  functions.take(api.event_elapsed, "cuEventElapsedTime");
  functions.take(api.module_load, "cuModuleLoadData");
  functions.take(api.module_unload, "cuModuleUnload");
  functions.take(api.module_function, "cuModuleGetFunction");
  functions.take(api.module_global, "cuModuleGetGlobal");
  functions.take(api.launch, "cuLaunchKernel");
  functions.take(api.graph_create, "cuGraphCreate");
  functions.take(api.graph_add_kernel, "cuGraphAddKernelNode");
  functions.take_if_there(api.graph_add_dependencies, "cuGraphAddDependencies", kEdgeDriver);
  functions.take(api.graph_destroy, "cuGraphDestroy");
  functions.take(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  functions.take(api.graph_launch, "cuGraphLaunch");
  functions.take(api.graph_exec_destroy, "cuGraphExecDestroy");
  return functions.missing();
}

Result<Driver> find_driver() {
  const char* const driver_name = graphics_drivers().cuda;
  if (driver_name == nullptr) {
    return unsupported("CUDA is for Linux alone; WebGPU runs on NVIDIA's cards, too.");
  }
  const std::string library_name = driver_name;
  // By the loader alone: a toolkit has a library of this name that does nothing.
  auto library = DynamicLibrary::open(library_name);
  if (!library) {
    return unsupported("{} is not there. The NVIDIA driver brings it; a container needs --gpus.",
                       library_name);
  }
  library->keep();
  const auto version = as_function<Status (*)(int*)>(library->find("cuDriverGetVersion"));
  Driver driver;
  if (version == nullptr || version(&driver.version) != Status::kSuccess) {
    return missing(library_name, "cuDriverGetVersion");
  }
  if (driver.version < kOldestDriver) {
    return unsupported("Driver {} is too old, {} (R525) is the oldest that works.",
                       version_text(driver.version), version_text(kOldestDriver));
  }
  const auto find = as_function<FindFunction>(library->find("cuGetProcAddress_v2"));
  if (find == nullptr) return missing(library_name, "cuGetProcAddress_v2");
  if (const char* name = find_all(DriverFunctions(find), driver.api))
    return missing(library_name, name);
  return driver;
}

Result<Driver> begin_driver() {
  TOK_TRY(const Driver driver, driver_library());
  const Status status = driver.api.init(0);
  if (status == Status::kNoDevice) {
    return unsupported("{}", no_device_text(visible_devices(), installed_gpus()));
  }
  TOK_TRY(checked(driver, status, "cuInit"));
  return driver;
}

/// Folders that hold CUDA's libraries where the loader does not know them, "" first: as the loader
/// looks. `package` is the one of Python that has the library.
std::vector<std::string> library_folders(const std::string& package) {
  std::vector<std::string> folders = {""};
  const std::string given = environment_variable("TOKAMAK_CUDA_LIBRARIES");
  if (!given.empty()) folders.insert(folders.begin(), given + "/");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = environment_variable(name);
    if (!home.empty()) folders.push_back(home + "/lib64/");
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    if (!entry.path().filename().string().starts_with("cuda")) continue;
    for (const char* lib : {"/lib64/", "/lib/"}) folders.push_back(entry.path().string() + lib);
  }
  const std::string python = environment_variable("VIRTUAL_ENV");
  if (python.empty()) return folders;
  for (const auto& entry : fs::directory_iterator(python + "/lib", error)) {
    for (const std::string& own : {std::string("cu13"), package}) {
      folders.push_back(entry.path().string() + "/site-packages/nvidia/" + own + "/lib/");
    }
  }
  return folders;
}

Result<void> read(const DynamicLibrary& library, Compiler& compiler) {
  LibraryFunctions find(library);
  CompilerApi& api = compiler.api;
  find(api.version, "nvrtcVersion");
  find(api.architecture_count, "nvrtcGetNumSupportedArchs");
  find(api.architectures, "nvrtcGetSupportedArchs");
  find(api.error_string, "nvrtcGetErrorString");
  find(api.create, "nvrtcCreateProgram");
  find(api.destroy, "nvrtcDestroyProgram");
  find(api.compile, "nvrtcCompileProgram");
  find(api.log_size, "nvrtcGetProgramLogSize");
  find(api.log, "nvrtcGetProgramLog");
  find(api.cubin_size, "nvrtcGetCUBINSize");
  find(api.cubin, "nvrtcGetCUBIN");
  find(api.ptx_size, "nvrtcGetPTXSize");
  find(api.ptx, "nvrtcGetPTX");
  if (find.missing() != nullptr) return missing(compiler.path, find.missing());
  int count = 0;
  api.version(&compiler.major, &compiler.minor);
  api.architecture_count(&count);
  compiler.architectures.resize(size_t(count));
  if (count > 0) api.architectures(compiler.architectures.data());
  return {};
}

Result<void> read(const DynamicLibrary& library, ProductLibrary& products) {
  LibraryFunctions find(library);
  ProductApi& api = products.api;
  find(api.version, "cublasLtGetVersion");
  find(api.create, "cublasLtCreate");
  find(api.destroy, "cublasLtDestroy");
  find(api.kind_create, "cublasLtMatmulDescCreate");
  find(api.kind_set, "cublasLtMatmulDescSetAttribute");
  find(api.kind_destroy, "cublasLtMatmulDescDestroy");
  find(api.layout_create, "cublasLtMatrixLayoutCreate");
  find(api.layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(api.preference_create, "cublasLtMatmulPreferenceCreate");
  find(api.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(api.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(api.choose, "cublasLtMatmulAlgoGetHeuristic");
  find(api.multiply, "cublasLtMatmul");
  if (find.missing() != nullptr) return missing(products.path, find.missing());
  products.version = int(api.version());
  return {};
}

/// The newest that fits the driver: those of its own major version and older ones. `stem` is that
/// of the file's name, `package` Python's that has it.
template <typename Library>
Result<Library> open_newest(const std::string& stem, const std::string& package) {
  const int most_major = driver_library() ? driver_library()->version / 1000 : 1000;
  std::optional<Error> why;
  for (const int major : {13, 12}) {
    if (major > most_major) continue;
    const std::string name = fmt::format("{}.so.{}", stem, major);
    for (const std::string& folder : library_folders(package)) {
      auto library = DynamicLibrary::open(folder + name);
      if (!library) continue;
      library->keep();
      Library own;
      own.path = folder + name;
      const Result<void> done = read(*library, own);
      if (done) return own;
      why = done.error();
    }
  }
  if (why) return Failure(*why);
  std::string dashed = package;
  std::ranges::replace(dashed, '_', '-');
  return unsupported(
      "{}. They are part of the CUDA toolkit and of the Python package nvidia-{}; "
      "TOKAMAK_CUDA_LIBRARIES may name their folder.",
      most_major < 13
          ? fmt::format("{0}.so.12 is not there, and the driver is too old for {0}.so.13", stem)
          : fmt::format("Neither {0}.so.13 nor {0}.so.12 is there", stem),
      dashed);
}

}  // namespace

const Result<Driver>& driver_library() {
  static const Result<Driver> found = find_driver();
  return found;
}

const Result<Driver>& driver() {
  static const Result<Driver> begun = begin_driver();
  return begun;
}

const Result<Compiler>& compiler() {
  static const Result<Compiler> found = open_newest<Compiler>("libnvrtc", "cuda_nvrtc");
  return found;
}

const Result<ProductLibrary>& product_library() {
  static const Result<ProductLibrary> found = open_newest<ProductLibrary>("libcublasLt", "cublas");
  return found;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<void> checked(const Driver& driver, Status status, std::string_view what) {
  if (status == Status::kSuccess) return {};
  const char *name = nullptr, *text = nullptr;
  driver.api.error_name(status, &name);
  driver.api.error_string(status, &text);
  const ErrorCode code =
      status == Status::kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kDevice;
  return fail(code, "{}: {} ({}).", what, text == nullptr ? "unknown error" : text,
              name == nullptr ? fmt::format("error {}", int(status)) : std::string(name));
}

}  // namespace tokamak::cuda
