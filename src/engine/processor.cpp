#include "engine/processor.h"

#include <algorithm>

#include "backend/webgpu/adapters.h"

namespace tokamak {

std::unique_ptr<Backend> make_processor_backend(const OpenOptions& options) {
  std::unique_ptr<Backend> vectors;
  if (options.backend != "cpu-reference") {
    vectors = make_vector_backend(options.threads, options.disabled_features());
  }
  return vectors != nullptr ? std::move(vectors) : make_cpu_backend();
}

Result<std::unique_ptr<Backend>> open_webgpu_or_processor(
    const OpenOptions& options,
    const std::function<Result<std::unique_ptr<Backend>>()>& open_webgpu) {
  const auto devices = list_webgpu_devices();
  std::string problem;
  if (devices && !std::ranges::all_of(*devices, &DeviceInfo::software)) {
    auto backend = open_webgpu();
    if (backend || backend.error().code == ErrorCode::kUsage) return backend;
    problem = " " + backend.error().message;
  }
  std::unique_ptr<Backend> processor = make_processor_backend(options);
  if (options.notice) {
    // The command line leaves this out where nobody watches, by its first words.
    const DeviceInfo& device = processor->device();
    options.notice(fmt::format("No GPU found: running on the processor ({}; {}){}.{}", device.name,
                               device.driver, device.software ? ", which is slow" : "", problem));
  }
  return processor;
}

}  // namespace tokamak
