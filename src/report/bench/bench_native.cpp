// Benchmarks of a native program: opening the model and the device, peak memory of the process.
#include <algorithm>
#include <ctime>

#include "backend/cuda/links.h"
#include "base/system/calendar.h"
#include "base/system/machine.h"
#include "report/bench/bench_work.h"
#include "report/inspect/inspect.h"
#include "report/inspect/inspect_views.h"
#include "report/inspect/model_title.h"

namespace tokamak {
namespace {

/// Models up to this size are compared with the CPU reference unless an option differs.
constexpr uint64_t kCheckBytes = uint64_t{64} << 20;
// Relative to the largest logit: the tolerances of the model goldens.
constexpr double kErrorLimit = 2e-3, kErrorLimitF16 = 2e-2;

/// "2025-01-31T23:59:59Z"
std::string now_in_utc() {
  char text[32] = "";
  if (const auto parts = utc_time(std::time(nullptr))) {
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &*parts);
  }
  return text;
}

bool uses_f16(const Plan& plan) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer& buffer) {
    return buffer.use == BufferUse::kState && buffer.tensor.dtype == DType::kF16;
  });
}

/// The options of the reference, in f32: of the first device where several are compared with one.
OpenOptions reference_of(const std::string& model, const OpenOptions& open,
                         const BenchOptions& options) {
  OpenOptions reference;
  reference.model = model;
  reference.backend = options.reference == "cpu" ? "cpu-reference" : options.reference;
  reference.kv = "f32";
  reference.context = open.context;
  reference.quantize = open.quantize;
  reference.image_pixels = open.image_pixels;
  const bool has_gpus = options.reference == (open.backend == "webgpu" ? "webgpu" : "cuda");
  if (has_gpus && !open.gpus.empty()) reference.gpus = {open.gpus.front()};
  return reference;
}

/// Whether results are to be compared. A reference is no measure of itself, but one device is of
/// several.
bool is_compared(const BenchReport& report, const OpenOptions& open, const BenchOptions& options) {
  const bool small = report.memory.constants < kCheckBytes;
  const bool is_itself = backend_name(report.device.backend) == options.reference &&
                         (report.device.features & kFeatureVectors) == 0 && open.gpus.size() < 2;
  return !is_itself && options.check.value_or(small);
}

void announce_comparison(const BenchOptions& options) {
  if (options.progress) options.progress("comparing with the reference: " + options.reference);
}

/// The same short run, with the same tokens, on the reference.
Result<void> compare(Engine& engine, const OpenOptions& open, const BenchOptions& options,
                     BenchReport& report) {
  std::vector<uint32_t> ids;
  TOK_TRY(const std::vector<float> found, short_run(engine, ids));
  OpenOptions asked = reference_of(engine.files().name, open, options);
  asked.chunk = 16;
  TOK_TRY(const std::unique_ptr<Engine> reference, Engine::open(asked));
  TOK_TRY(const std::vector<float> expected, short_run(*reference, ids));
  report.error = relative_error(found, expected);
  report.error_limit = uses_f16(engine.compiled().main.plan) ? kErrorLimitF16 : kErrorLimit;
  report.reference = reference->device().backend;
  return {};
}

/// Runs the small piece of work twice, and on the reference, by what opens it there.
Result<void> check_work(BenchReport& report, const OpenOptions& open, const BenchOptions& options,
                        bool has_f16, const std::function<Result<WorkResults>()>& here,
                        const std::function<Result<WorkResults>(BackendKind&)>& there) {
  TOK_TRY(const WorkResults once, here());
  TOK_TRY(const WorkResults repeated, here());
  report.greedy_repeats = once == repeated;
  report.logits_finite = are_finite(once);
  if (!is_compared(report, open, options)) return {};
  announce_comparison(options);
  TOK_TRY(const WorkResults expected, there(report.reference));
  report.error = relative_error(once, expected);
  const bool has_matrix =
      (report.device.features & (kFeatureSubgroupMatrix | kFeatureLibrary)) != 0;
  report.error_limit = has_f16 || has_matrix ? kErrorLimitF16 : kErrorLimit;
  return {};
}

Result<BenchReport> bench_work(Engine& engine, const OpenOptions& open, const BenchOptions& options,
                               const Clock& clock) {
  const Engine::Compiled& compiled = engine.compiled();
  BenchReport report = described(engine);
  TOK_TRY(report.work, time_work(engine, options, clock));
  report.device_peak_bytes = engine.backend().device_bytes();
  const auto there = [&](BackendKind& kind) -> Result<WorkResults> {
    TOK_TRY(const std::unique_ptr<Engine> reference,
            Engine::open(reference_of(engine.files().name, open, options)));
    kind = reference->device().backend;
    return work_results(*reference, options);
  };
  TOK_TRY(check_work(
      report, open, options, uses_f16(compiled.main.plan),
      [&] { return work_results(engine, options); }, there));
  return report;
}

Result<BenchReport> bench_codec(const ModelFiles& files, const OpenOptions& open,
                                const BenchOptions& options, const Clock& clock) {
  const double start = clock();
  TOK_TRY(const std::unique_ptr<Codec> codec, Codec::open(open));
  BenchReport report;
  report.model = codec->path();
  report.architecture = "codec";
  report.device = codec->backend().device();
  report.memory = footprint(codec->plan());
  report.load.total_seconds = clock() - start;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    report.parameters += tensor.elements();
    report.weight_bytes += tensor.bytes;
  }
  report.quantization = "f32";
  TOK_TRY(report.work, time_codec(*codec, options, clock));
  report.device_peak_bytes = codec->backend().device_bytes();
  const auto there = [&](BackendKind& kind) -> Result<WorkResults> {
    TOK_TRY(const std::unique_ptr<Codec> reference,
            Codec::open(reference_of(codec->path(), open, options)));
    kind = reference->backend().device().backend;
    return work_results(*reference);
  };
  TOK_TRY(check_work(report, open, options, false, [&] { return work_results(*codec); }, there));
  return report;
}

/// The moment before everything.
struct Beginning {
  std::string date = now_in_utc();
  std::optional<MachineTimes> times = machine_times();
};

/// The machine from then on; nothing where it is not counted.
std::optional<MachineLoad> load_since(const Beginning& beginning) {
  const auto &before = beginning.times, after = machine_times();
  if (!before || !after) return std::nullopt;
  const uint64_t ticks = after->ticks - before->ticks, stolen = after->stolen - before->stolen;
  return MachineLoad{.before = before->load,
                     .after = after->load,
                     .processors = after->processors,
                     .stolen = ticks == 0 ? 0 : double(stolen) / double(ticks)};
}

/// Beside the figures: the program, the names of the model, and how busy a measured processor was.
void sign(BenchReport& report, const ModelFiles& files, const OpenOptions& open,
          const Beginning& beginning) {
  report.date = beginning.date;
  if (report.device.backend == BackendKind::kCpu) report.machine = load_since(beginning);
  report.version = TOKAMAK_VERSION;
  report.commit = TOKAMAK_COMMIT;
  report.title = model_title(files, open.model);
  report.short_name = short_model_name(files, open.model);
  report.host_peak_bytes = peak_memory();
}

}  // namespace

Result<BenchReport> bench(const OpenOptions& asked, const BenchOptions& options) {
  const Clock clock = steady_clock();
  const Beginning beginning;
  OpenOptions open = asked;
  prepare_work(options, open);
  TOK_TRY(const std::string path, find_model(open.model));
  TOK_TRY(const ModelFiles files, read_model_files(path));
  BenchReport report;
  if (is_codec(files)) {
    if (options.kind_found) TOK_TRY(options.kind_found(BenchKind::kCodec));
    TOK_TRY(report, bench_codec(files, open, options, clock));
    sign(report, files, open, beginning);
    return report;
  }
  {
    TOK_TRY(const std::unique_ptr<Engine> engine, Engine::open(open));
    if (options.kind_found) {
      TOK_TRY(options.kind_found(bench_kind(engine->compiled(), options)));
    }
    if (is_other_work(engine->compiled(), options)) {
      TOK_TRY(report, bench_work(*engine, open, options, clock));
      sign(report, files, open, beginning);
      return report;
    }
    TOK_TRY(report, bench_engine(*engine, options, clock));
    sign(report, files, open, beginning);
    if (is_compared(report, open, options)) {
      announce_comparison(options);
      TOK_TRY(compare(*engine, open, options, report));
    }
  }
  if (!options.bounds) return report;
  // On its own, so that its large buffers count in nobody's memory.
  if (options.progress) options.progress("measuring the bandwidth");
  TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(open));
  TOK_TRY(report.bandwidth, measure_bandwidth(*backend, clock));
  TOK_TRY(report.launch_seconds, measure_launch(*backend, clock));
  if (backend->device().backend == BackendKind::kCuda && backend->device().ranks > 1) {
    TOK_TRY(const std::vector<CudaLink> links, measure_cuda_links());
    report.link_bandwidth = slowest_link(links, open.gpus);
  }
  return report;
}

}  // namespace tokamak
