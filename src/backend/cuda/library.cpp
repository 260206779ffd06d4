#include "backend/cuda/library.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/environment.h"

namespace tokamak::cuda {
namespace {

namespace fs = std::filesystem;

/// What the backend asks of the driver exists since then.
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
  functions.take(api.context_retain, "cuDevicePrimaryCtxRetain");
  functions.take(api.context_release, "cuDevicePrimaryCtxRelease");
  functions.take(api.context_reset, "cuDevicePrimaryCtxReset");
  functions.take(api.context_set, "cuCtxSetCurrent");
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

Result<Driver> open_driver() {
  constexpr const char* kLibrary = "libcuda.so.1";
  // By the loader alone: a toolkit has a library of this name that does nothing.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return unsupported("{} is not there. The NVIDIA driver brings it; a container needs --gpus.",
                       kLibrary);
  }
  const auto version = as_function<Status (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  Driver driver;
  if (version == nullptr || version(&driver.version) != Status::kSuccess) {
    return missing(kLibrary, "cuDriverGetVersion");
  }
  if (driver.version < kOldestDriver) {
    return unsupported("Driver {} is too old, {} (R525) is the oldest that works.",
                       version_text(driver.version), version_text(kOldestDriver));
  }
  const auto find = as_function<FindFunction>(dlsym(library, "cuGetProcAddress_v2"));
  if (find == nullptr) return missing(kLibrary, "cuGetProcAddress_v2");
  if (const char* name = find_all(DriverFunctions(find), driver.api))
    return missing(kLibrary, name);
  const Status status = driver.api.init(0);
  if (status == Status::kNoDevice) return unsupported("The NVIDIA driver has no GPU.");
  TOK_TRY(checked(driver, status, "cuInit"));
  return driver;
}

/// Folders that hold NVRTC where the loader does not know it, "" first: as the loader looks.
std::vector<std::string> compiler_folders() {
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
    for (const char* package : {"cu13/lib/", "cuda_nvrtc/lib/"}) {
      folders.push_back(entry.path().string() + "/site-packages/nvidia/" + package);
    }
  }
  return folders;
}

/// `why` becomes what is wrong with the library, where it is one.
bool read_compiler(void* library, Compiler& compiler, std::string& why) {
  const char* missing_name = nullptr;
  const auto find = [&]<typename F>(F& function, const char* name) {
    function = as_function<F>(dlsym(library, name));
    if (function == nullptr && missing_name == nullptr) missing_name = name;
  };
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
  if (missing_name != nullptr) {
    why = missing(compiler.path, missing_name).error().message;
    return false;
  }
  int count = 0;
  api.version(&compiler.major, &compiler.minor);
  api.architecture_count(&count);
  compiler.architectures.resize(size_t(count));
  if (count > 0) api.architectures(compiler.architectures.data());
  return true;
}

/// The newest whose cubins the driver runs: those of its own major version and of older ones.
Result<Compiler> open_compiler(int most_major) {
  std::string why;
  for (const int major : {13, 12}) {
    if (major > most_major) continue;
    const std::string name = fmt::format("libnvrtc.so.{}", major);
    for (const std::string& folder : compiler_folders()) {
      void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) continue;
      Compiler compiler;
      compiler.path = folder + name;
      if (read_compiler(library, compiler, why)) return compiler;
    }
  }
  if (!why.empty()) return unsupported("{}", why);
  return unsupported(
      "{}. They are part of the CUDA toolkit and of the Python package nvidia-cuda-nvrtc; "
      "TOKAMAK_CUDA_LIBRARIES may name their folder.",
      most_major < 13 ? "libnvrtc.so.12 is not there, and the driver is too old for libnvrtc.so.13"
                      : "Neither libnvrtc.so.13 nor libnvrtc.so.12 is there");
}

}  // namespace

const Result<Driver>& driver() {
  static const Result<Driver> found = open_driver();
  return found;
}

const Result<Compiler>& compiler() {
  static const Result<Compiler> found = open_compiler(driver() ? driver()->version / 1000 : 1000);
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
