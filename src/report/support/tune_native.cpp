// Tuning a model of the file system, and keeping what comes of it.
#include "base/system/folders.h"
#include "model/weights.h"
#include "report/support/tune_report.h"
#include "tune/device_measurements.h"
#include "tune/quantized_cache.h"

namespace tokamak {

Result<TuneReport> tune(const OpenOptions& open, const TuneOptions& options) {
  const Clock clock = steady_clock();
  const double start = clock();
  TOK_TRY(const std::string path, find_model(open.model));
  TOK_TRY(const ModelFiles files, read_model_files(path));
  TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(open));
  if (backend->device().backend == BackendKind::kCpu) {
    return fail(ErrorCode::kUnsupported,
                "There is nothing to tune on the CPU reference. It needs a device that times "
                "kernels; `tokamak doctor` says which there are.");
  }
  OpenOptions own = open;
  own.use_tuned = false;
  recall_device(backend->device(), own);
  const auto compiled = Engine::compile(files, backend->device(), own);
  if (!compiled) return Failure(compiled.error().within(path));
  TensorFile tensors = files.tensors;
  if (!own.quantize.empty()) {
    TOK_TRY(tensors, with_quantized_cache(tensors, compiled->main.fused(),
                                          cache_folder(kWeightCache.folder), open.notice));
  }
  TuneReport report{
      .model = files.name, .device = backend->device(), .problems = {}, .kept_in = {}};
  const auto constants = [&](const TensorDesc& constant, Share share, const auto& write) {
    return read_constant(tensors, constant, share, write);
  };
  const TunedPlan target{compiled->main.plan, compiled->context, compiled->facts.vocab};
  TOK_TRY(report.problems, tune_plan(*backend, target, own.advice.wrong, constants, options));
  const MeasurementCache cache = tuning_cache(backend->device());
  TunedVariants all = tuned_variants(report.problems);
  all.merge(read_tuned(cache.read()));  // of other models; where both know a problem, the new one
  if (cache.write(to_json(all))) report.kept_in = cache.path();
  report.seconds = clock() - start;
  return report;
}

}  // namespace tokamak
