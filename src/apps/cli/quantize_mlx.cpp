#include "apps/cli/command.h"
#include "apps/cli/line/output_folder.h"
#include "apps/cli/quantize.h"
#include "base/bytes_text.h"
#include "base/system/path_text.h"
#include "base/weight_files.h"
#include "formats/native_files.h"

namespace tokamak::cli {
namespace {

constexpr uint32_t kDefaultGroup = 64;
constexpr uint64_t kMaxConfigBytes = uint64_t{256} << 20;

/// The config.json of a folder. Errors: one of matrices that are packed already.
Result<Json> read_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  TOK_TRY(const std::string text, read_text_file(path, kMaxConfigBytes));
  auto config = Json::parse(text);
  if (!config) return Failure(config.error().within(path));
  if (!config->is_object()) return invalid_input("{}: Expected an object.", path);
  for (const char* field : {"quantization", "quantization_config"}) {
    if (config->find(field) == nullptr) continue;
    return unsupported("{} has {}: the model is packed already; expected one of floats.", path,
                       field);
  }
  return config;
}

/// model.safetensors.index.json of the new folder.
Json index_of(const QuantizationPlan& plan, const std::vector<std::string>& files) {
  Json places(Json::Object{});
  for (const TensorPlan& one : plan.tensors) {
    for (const TensorInfo& tensor : stored_tensors(one)) {
      places.set(tensor.name, files[one.from->shard]);
    }
  }
  Json index(Json::Object{{"metadata", Json::Object{{"total_size", plan.new_bytes}}}});
  index.set("weight_map", std::move(places));
  return index;
}

Result<void> write_folder(const std::string& path, const TensorFile& model, Json config,
                          const QuantizationPlan& plan, const MlxType& type,
                          const QuantizeFlags& flags) {
  TOK_TRY(WholeFolder out, WholeFolder::make(flags.output));
  const WhenInterrupted stop(OnInterrupt::kStop);
  std::optional<Waiting> waiting("copying the model");
  TOK_TRY(out.copy_others(path));
  WriteOptions options;
  options.threads = flags.thread_count();
  options.cancelled = interrupted;
  options.progress = [&](const TensorPlan& next, uint64_t done) {
    waiting->say(
        fmt::format("{} of {}: {}", bytes_text(done), bytes_text(plan.new_bytes), next.to.name));
  };
  std::vector<std::string> names;
  for (uint32_t i = 0; i < model.sources().size(); ++i) {
    names.push_back(text_of(path_of(model.sources()[i]->name()).filename()));
    TOK_TRY(out.write(names.back(),
                      [&](const auto& put) { return write_mlx(model, plan, i, options, put); }));
  }
  if (names.size() > 1) {
    TOK_TRY(write_output(out.place_of(std::string(kWeightsIndex)),
                         index_of(plan, names).dump(2) + "\n"));
  }
  // The second name is the one that the hub and transformers look for.
  const Json packed(
      Json::Object{{"group_size", type.group}, {"bits", type.bits}, {"mode", "affine"}});
  config.set("quantization", packed).set("quantization_config", packed);
  TOK_TRY(write_output(out.place_of("config.json"), config.dump(2) + "\n"));
  waiting.reset();
  return out.commit();
}

}  // namespace

Result<void> quantize_folder(const QuantizeFlags& flags, uint32_t bits) {
  if (flags.force || !flags.imatrix.empty() || !flags.overrides.empty()) {
    return fail(ErrorCode::kUsage,
                "--force, --imatrix and --tensor-type are for GGUF files, not for {}.", flags.type);
  }
  if (!flags.output.empty()) TOK_TRY(check_output_folder(flags.output));
  const MlxType type{.bits = bits, .group = flags.group != 0 ? flags.group : kDefaultGroup};
  TOK_TRY(const std::string path, find_or_fetch(flags.model, flags.pull));
  if (!is_directory(path)) {
    return unsupported("{} is a file, expected a folder of safetensors; {} is a type of those.",
                       path, flags.type);
  }
  TOK_TRY(Json config, read_config(path));
  TOK_TRY(const ModelFiles files, read_model_files(path));
  TOK_TRY(const Engine::Compiled compiled,
          Engine::compile(files, make_cpu_backend()->device(), {.model = path}));
  TOK_TRY(const TensorFile model, open_safetensors_folder(path));
  const QuantizationPlan plan = plan_mlx(model, compiled.main.unfused(), type);
  if (flags.dry_run) return print_plan(plan, flags.json, flags.type);
  const Clock clock = steady_clock();
  const double start = clock();
  TOK_TRY(write_folder(path, model, std::move(config), plan, type, flags));
  return print_result(plan, flags, fmt::format("{} in groups of {}", flags.type, type.group),
                      clock() - start);
}

}  // namespace tokamak::cli
