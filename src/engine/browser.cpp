// The parts that an engine needs from the browser. Files come from the page: source_files.h.
#include "backend/webgpu/adapters.h"
#include "engine/processor.h"

namespace tokamak {
namespace {

Result<std::unique_ptr<Backend>> open_webgpu(const OpenOptions& options) {
  WebGpuOptions webgpu;
  webgpu.default_limits = options.default_limits;
  webgpu.submit_dispatches = options.submit_dispatches;
  webgpu.disabled = options.disabled_features();
  return open_webgpu_backend(webgpu);
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options) {
  if (options.backend == "cpu" || options.backend == "cpu-reference") {
    return make_processor_backend(options);
  }
  if (options.backend == "webgpu") return open_webgpu(options);
  if (options.backend == "auto") {
    return open_webgpu_or_processor(options, [&] { return open_webgpu(options); });
  }
  return fail(ErrorCode::kUsage, "backend is \"{}\", expected auto, webgpu, cpu or cpu-reference.",
              options.backend);
}

}  // namespace tokamak
