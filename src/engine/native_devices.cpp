// Opening devices: one by its name and number, or several as one.
#include <algorithm>
#include <charconv>

#include "backend/cuda/device.h"
#include "backend/group.h"
#include "backend/stages.h"
#include "backend/webgpu/adapters.h"
#include "base/environment.h"
#include "base/file_cache.h"
#include "base/system/folders.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/processor.h"
#include "graph/collective_ops.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/vector_sets.h"

namespace tokamak {
namespace {

/// The number that a variable of the environment has, from 1 to `most`; 0: it is not set.
Result<uint32_t> given_number(const char* name, uint32_t most, std::string_view what) {
  const std::string text = environment_variable(name);
  if (text.empty()) return 0u;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) {
    return fail(ErrorCode::kUsage, "{} is \"{}\", expected a number from 1 to {}: {}.", name, text,
                most, what);
  }
  return number;
}

Result<CudaLaunches> cuda_launches() {
  constexpr const char* kName = "TOKAMAK_CUDA_LAUNCHES";
  const std::string text = environment_variable(kName);
  if (text.empty()) return CudaLaunches::kDependent;
  const auto* found = std::ranges::find(kCudaLaunchesNames, text);
  if (found == std::end(kCudaLaunchesNames)) {
    return fail(ErrorCode::kUsage, "{} is \"{}\", expected eager, graph or dependent.", kName,
                text);
  }
  return CudaLaunches(found - std::begin(kCudaLaunchesNames));
}

Result<void> limit_processor() {
  constexpr const char* kName = "TOKAMAK_CPU";
  const std::string text = environment_variable(kName);
  if (text.empty()) return {};
  const std::vector<std::string_view> sets = vector_sets();
  if (std::ranges::find(sets, text) == sets.end()) {
    return fail(ErrorCode::kUsage,
                "{} is \"{}\", expected an instruction set of this processor: {}.", kName, text,
                fmt::join(sets, ", "));
  }
  limit_vectors(text);
  return {};
}

Result<std::unique_ptr<Backend>> open_cuda(const OpenOptions& options) {
  TOK_TRY(const CudaLaunches launches, cuda_launches());
  auto backend = open_cuda_backend({.device = options.device,
                                    .disabled = options.disabled_features(),
                                    .launches = launches,
                                    .cache_dir = cache_folder(kPipelineCache.folder)});
  if (backend || backend.error().code == ErrorCode::kUsage) return backend;
  return fail(ErrorCode::kDevice, "CUDA cannot be used. {}", backend.error().message);
}

/// Null where the machine has no device for CUDA, or cannot compile for it: kept kernels may do,
/// but that they do not is an error only for who asks for CUDA. What keeps one from being used is a
/// notice.
Result<std::unique_ptr<Backend>> open_cuda_where_it_is(const OpenOptions& options) {
  auto backend = open_cuda(options);
  if (!backend && backend.error().code == ErrorCode::kUsage) return backend;
  if (const auto compiler = cuda_compiler_text(); backend && !compiler) {
    backend = fail(ErrorCode::kDevice, "CUDA cannot be used. {}", compiler.error().message);
  }
  if (backend) return backend;
  const auto devices = list_cuda_devices();
  if (devices && !devices->empty() && options.notice) options.notice(backend.error().message);
  return nullptr;
}

Result<std::unique_ptr<Backend>> open_webgpu(const OpenOptions& options) {
  WebGpuOptions webgpu;
  webgpu.device = options.device;
  webgpu.default_limits = options.default_limits;
  webgpu.cache_dir = cache_folder(kPipelineCache.folder);
  TOK_TRY(webgpu.multiprocessors,
          given_number("TOKAMAK_MULTIPROCESSORS", 4096, "how many multiprocessors the device has"));
  TOK_TRY(webgpu.submit_dispatches,
          given_number("TOKAMAK_SUBMIT_DISPATCHES", 1'000'000, "most dispatches of a submission"));
  if (options.submit_dispatches != 0) webgpu.submit_dispatches = options.submit_dispatches;
  webgpu.disabled = options.disabled_features();
  return open_webgpu_backend(webgpu);
}

/// The options for each of `gpus` alone.
Result<std::vector<OpenOptions>> options_of_each(const OpenOptions& options) {
  const bool is_processor = options.backend.starts_with("cpu");
  std::vector<OpenOptions> each;
  for (const uint32_t gpu : options.gpus) {
    OpenOptions& own = each.emplace_back(options);
    own.gpus.clear();
    if (is_processor) continue;
    if (std::ranges::count(options.gpus, gpu) > 1) {
      return fail(ErrorCode::kUsage, "gpus name {} twice, expected different ones.", gpu);
    }
    own.backend = options.backend == "webgpu" ? "webgpu" : "cuda";
    own.device = gpu;
  }
  return each;
}

/// Whether the devices can be ranks: of CUDA, alike, with access to each other's memory; or parts
/// of the processor.
bool can_be_ranks(std::span<const std::unique_ptr<Backend>> devices, const OpenOptions& options) {
  const BackendKind kind = devices[0]->device().backend;
  if (kind == BackendKind::kWebGpu || !are_alike(devices)) return false;
  return kind == BackendKind::kCpu || check_cuda_links(options.gpus).has_value();
}

/// The devices of options.gpus as one.
Result<std::unique_ptr<Backend>> open_several(const OpenOptions& options) {
  const size_t count = options.gpus.size();
  if (count > kMaxRanks) {
    return fail(ErrorCode::kUsage, "gpus are {}, expected at most {}.", count, kMaxRanks);
  }
  if (options.device) {
    return fail(ErrorCode::kUsage, "device chooses one GPU and gpus several: only one of them.");
  }
  if (options.backend == "webgpu" && options.split == "ranks") {
    return unsupported(
        "split is \"ranks\", but WebGPU devices do not read each other's memory; expected layers.");
  }
  TOK_TRY(std::vector<OpenOptions> each, options_of_each(options));
  std::vector<std::unique_ptr<Backend>> devices;
  for (OpenOptions& own : each) {
    // Ranks compute at the same time, layers one after the other.
    if (own.threads == 0 && options.split != "layers") {
      own.threads = std::max(1u, usable_cores() / uint32_t(count));
    }
    TOK_TRY(devices.emplace_back(), open_backend(own));
  }
  const bool are_ranks =
      options.split == "auto" ? can_be_ranks(devices, options) : options.split == "ranks";
  if (are_ranks) return make_group(std::move(devices));
  std::vector<StageDevice> stages;
  for (std::unique_ptr<Backend>& device : devices) {
    OpenOptions own = options;
    own.free_memory = free_memory(*device);
    TOK_TRY(const std::optional<uint64_t> limit, memory_limit(own, device->device()));
    stages.push_back({std::move(device), limit.value_or(0)});
  }
  return make_stages(std::move(stages));
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options) {
  constexpr std::string_view kSplits[] = {"auto", "ranks", "layers"};
  if (std::ranges::find(kSplits, options.split) == std::end(kSplits)) {
    return fail(ErrorCode::kUsage, "split is \"{}\", expected auto, ranks or layers.",
                options.split);
  }
  TOK_TRY(limit_processor());
  if (options.gpus.size() > 1) return open_several(options);
  if (options.gpus.size() == 1) {
    OpenOptions own = options;
    own.device = std::exchange(own.gpus, {}).front();
    if (own.backend == "auto") own.backend = "cuda";
    return open_backend(own);
  }
  if (options.backend == "cpu" || options.backend == "cpu-reference") {
    if (!options.device) return make_processor_backend(options);
    return fail(ErrorCode::kUsage,
                "device is {}, which chooses among WebGPU or CUDA devices; the backend is {}.",
                *options.device, options.backend);
  }
  if (options.backend == "cuda") return open_cuda(options);
  if (options.backend != "auto" && options.backend != "webgpu") {
    return fail(ErrorCode::kUsage,
                "backend is \"{}\", expected auto, cuda, webgpu, cpu or cpu-reference.",
                options.backend);
  }
  const auto notice = [&](const std::string& text) {
    if (options.notice) options.notice(text);
  };
  if (options.backend == "auto" && !options.device) {
    TOK_TRY(std::unique_ptr<Backend> cuda, open_cuda_where_it_is(options));
    if (cuda != nullptr) return cuda;
    return open_webgpu_or_processor(options, [&] { return open_webgpu(options); });
  }
  auto backend = open_webgpu(options);
  if (backend && (*backend)->device().software) {
    // The command line leaves this out where nobody watches, by its first words.
    notice(fmt::format(
        "No GPU found: running on a software driver ({}), which is slow; the CPU is faster.",
        (*backend)->device().name));
  }
  return backend;
}

}  // namespace tokamak
