// The parts that an engine needs from the browser. Files come from the page: source_files.h.
#include "backend/webgpu/adapters.h"
#include "engine/engine.h"

namespace tokamak {

Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options) {
  if (options.backend == "cpu" || options.backend == "cpu-reference") return make_cpu_backend();
  if (options.backend != "auto" && options.backend != "webgpu") {
    return fail(ErrorCode::kUsage, "backend is \"{}\", expected auto, webgpu or cpu.",
                options.backend);
  }
  WebGpuOptions webgpu;
  webgpu.default_limits = options.default_limits;
  webgpu.submit_dispatches = options.submit_dispatches;
  webgpu.disabled = options.disabled_features();
  return open_webgpu_backend(webgpu);
}

}  // namespace tokamak
