#include "quantize/merge.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <thread>

#include "apps/cli/command.h"
#include "apps/cli/line/output_folder.h"
#include "base/system/path_text.h"
#include "base/table.h"
#include "engine/lora_files.h"
#include "formats/native_files.h"

namespace tokamak::cli {
namespace {

namespace fs = std::filesystem;

struct MergeFlags {
  std::string model, output;
  std::vector<std::string> adapters;
  uint32_t threads = 0;
  bool dry_run = false, json = false, pull = false;
};

/// The tensors of the model. Errors: a file, a folder without safetensors.
Result<TensorFile> open_model(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path_of(path), failed)) {
    return unsupported(
        "{} is a file, expected a folder of safetensors in the Hugging Face layout. Merge before "
        "the model is converted, or run it with --lora.",
        path);
  }
  return open_safetensors_folder(path);
}

Result<void> print_plan(const MergePlan& plan, bool as_json) {
  Table table;
  table.column("tensor", "name").column("shape", "shape").column("type", "type");
  table.column("adapters", "adapters");
  for (const MergePlan::Tensor& one : plan.tensors) {
    Json::Array shape, adapters;
    for (const uint64_t extent : one.tensor->shape) shape.emplace_back(extent);
    std::string text;
    for (const MergePlan::Pair& pair : one.pairs) {
      const uint64_t rank = pair.tensors.a->shape[0];
      text += fmt::format("{}{}: rank {}, times {:.4g}", text.empty() ? "" : "; ", pair.files->name,
                          rank, pair.tensors.factor);
      adapters.emplace_back(Json::Object{
          {"name", pair.files->name}, {"rank", rank}, {"factor", pair.tensors.factor}});
    }
    const std::string extents = fmt::format("{}", fmt::join(one.tensor->shape, " x "));
    table.row({one.tensor->name, Cell(extents, std::move(shape)),
               std::string(dtype_name(one.tensor->dtype)), Cell(text, std::move(adapters))});
  }
  if (as_json) return print(Json(Json::Object{{"tensors", table.json()}}).dump(1) + "\n");
  return print(fmt::format("{}{} tensors change\n", table.text(), table.rows()));
}

Result<void> write_folder(const std::string& path, const TensorFile& model, const MergePlan& plan,
                          const MergeFlags& flags) {
  TOK_TRY(WholeFolder out, WholeFolder::make(flags.output));
  const WhenInterrupted stop(OnInterrupt::kStop);
  std::optional<Waiting> waiting("copying the model");
  size_t done = 0;
  MergeOptions options;
  options.threads =
      flags.threads != 0 ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
  options.cancelled = interrupted;
  options.progress = [&](const TensorInfo& next) {
    waiting->say(fmt::format("{} of {} tensors: {}", done++, plan.tensors.size(), next.name));
  };
  TOK_TRY(out.copy_others(path));
  for (uint32_t i = 0; i < model.sources().size(); ++i) {
    TOK_TRY(out.write(text_of(path_of(model.sources()[i]->name()).filename()),
                      [&](const auto& put) { return write_merged(model, plan, i, options, put); }));
  }
  waiting.reset();
  return out.commit();
}

Result<void> run_merge(const MergeFlags& flags) {
  std::vector<AdapterOption> chosen;
  for (const std::string& text : flags.adapters) {
    TOK_TRY(AdapterOption one, adapter_named(text));
    chosen.push_back(std::move(one));
  }
  if (!flags.output.empty()) TOK_TRY(check_output_folder(flags.output));
  TOK_TRY(const std::vector<LoraFiles> adapters, read_adapters(chosen));
  TOK_TRY(const std::string path, find_or_fetch(flags.model, flags.pull));
  TOK_TRY(const TensorFile model, open_model(path));
  TOK_TRY(const MergePlan plan, plan_merge(model, adapters, [](std::string_view text) {
            note(fmt::format("note: {}\n", text));
          }));
  if (flags.dry_run) return print_plan(plan, flags.json);
  const Clock clock = steady_clock();
  const double start = clock();
  TOK_TRY(write_folder(path, model, plan, flags));
  return print(fmt::format("{}: {} of {} tensors changed ({:.0f} s)\n", flags.output,
                           plan.tensors.size(), model.tensors().size(), clock() - start));
}

}  // namespace

void add_merge(App& app, Action& action) {
  App* command = app.add_subcommand("merge", "a model with LoRA adapters in its weights");
  command->footer(
      R"(The new folder has the model's files with the adapters' matrices added: W + scale B A, in the types of
the model. It runs as fast as the model does, and can be converted and quantized like it.
Examples:
  tokamak merge path/to/model --lora path/to/adapter -o path/to/merged
  tokamak merge path/to/model --lora first=0.8 --lora second=0.3 -o merged   both, by factors
  tokamak merge path/to/model --lora path/to/adapter --dry-run               which tensors change
Its numbers are rounded to the model's type: answers are near those of --lora, not the same.)");
  auto flags = std::make_shared<MergeFlags>();
  add_model(*command, flags->model, "a folder of safetensors, or org/name of the cache")
      ->required();
  command
      ->add_option("--lora", flags->adapters,
                   "a LoRA adapter (repeatable): the folder as PEFT saves it; SCALE is a factor of "
                   "what it adds to the model")
      ->type_name("[NAME=]FOLDER[=SCALE]")
      ->check([](const std::string& text) {
        return adapter_named(text) ? "" : not_expected(text, "[NAME=]FOLDER[=SCALE]");
      })
      ->required();
  Option* output = command->add_option("-o,--output", flags->output, "the folder to write")
                       ->type_name("FOLDER")
                       ->check(not_empty("the path of a folder"));
  Option* dry_run =
      command->add_flag("--dry-run", flags->dry_run, "list the tensors that change; write nothing");
  command->add_flag("--json", flags->json, "--dry-run as one JSON object")->needs(dry_run);
  command->add_flag("--pull", flags->pull, "fetch MODEL without asking when it is not there yet");
  command
      ->add_option("--threads", flags->threads,
                   "how many rows are added up at once [default: all cores]; the bytes of the "
                   "files are the same with any number")
      ->check(in_range(1, 1024));
  command->extra_words("the folder to write is -o FOLDER, an adapter --lora FOLDER");
  command->require_one_of({output, dry_run});
  command->callback([flags, &action] { action = [flags] { return run_merge(*flags); }; });
}

}  // namespace tokamak::cli
