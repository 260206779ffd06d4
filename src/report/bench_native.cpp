// Benchmarks of a native program: opening the model and the device, peak memory of the process.
#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "report/bench.h"
#include "report/model_title.h"

namespace tokamak {
namespace {

/// Models up to this size are compared with the CPU reference unless told otherwise.
constexpr uint64_t kCheckBytes = uint64_t{64} << 20;
// Relative to the largest logit: the tolerances of the model goldens.
constexpr double kErrorLimit = 2e-3, kErrorLimitF16 = 2e-2;

uint64_t peak_host_bytes() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return uint64_t(usage.ru_maxrss) * 1024;
}

/// "2025-01-31T23:59:59Z"
std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  char text[32] = "";
  if (gmtime_r(&now, &parts) == nullptr) return text;
  std::strftime(text, sizeof text, "%FT%TZ", &parts);
  return text;
}

bool uses_f16(const Plan& plan) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer& buffer) {
    return buffer.use == BufferUse::kState && buffer.tensor.dtype == DType::kF16;
  });
}

/// The same short run, with the same tokens, on the reference with a cache of f32.
Result<void> compare(Engine& engine, const OpenOptions& open, BenchReport& report) {
  std::vector<uint32_t> ids;
  TOK_TRY(const std::vector<float> found, short_run(engine, ids));
  OpenOptions reference;
  reference.model = engine.files().name;
  reference.backend = "cpu";
  reference.kv = "f32";
  reference.context = open.context;
  reference.quantize = open.quantize;
  reference.chunk = 16;
  TOK_TRY(const std::unique_ptr<Engine> cpu, Engine::open(reference));
  TOK_TRY(const std::vector<float> expected, short_run(*cpu, ids));
  report.error = relative_error(found, expected);
  report.error_limit = uses_f16(engine.compiled().plan) ? kErrorLimitF16 : kErrorLimit;
  return {};
}

}  // namespace

Result<BenchReport> bench(const OpenOptions& open, const BenchOptions& options) {
  const Clock clock = steady_clock();
  const std::string date = now_in_utc();
  BenchReport report;
  {
    TOK_TRY(const std::unique_ptr<Engine> engine, Engine::open(open));
    TOK_TRY(report, bench_engine(*engine, options, clock));
    report.date = date;
    report.version = TOKAMAK_VERSION;
    report.commit = TOKAMAK_COMMIT;
    report.title = model_title(engine->files(), open.model);
    report.short_name = short_model_name(engine->files(), open.model);
    report.host_peak_bytes = peak_host_bytes();
    const bool small = report.memory.constants < kCheckBytes;
    if (report.device.backend != BackendKind::kCpu && options.check.value_or(small)) {
      if (options.progress) options.progress("comparing with the CPU reference");
      TOK_TRY(compare(*engine, open, report));
    }
  }
  if (!options.bounds) return report;
  // On its own, so that its large buffers count in nobody's memory.
  if (options.progress) options.progress("measuring the bandwidth");
  TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(open));
  TOK_TRY(report.bandwidth, measure_bandwidth(*backend, clock));
  TOK_TRY(report.launch_seconds, measure_launch(*backend, clock));
  return report;
}

}  // namespace tokamak
