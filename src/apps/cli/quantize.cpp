#include "apps/cli/quantize.h"

#include <filesystem>
#include <thread>

#include "apps/cli/command.h"
#include "apps/cli/line/output_file.h"
#include "base/system/path_text.h"
#include "base/table.h"
#include "formats/native_files.h"
#include "quantize/importance.h"
#include "quantize/write.h"

namespace tokamak::cli {
namespace {

namespace fs = std::filesystem;

/// The file of the model. Errors: a folder of safetensors, or none of this engine's files.
Result<GgufFile> open_model(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path_of(path), failed)) {
    return unsupported(
        "{} is a folder, of which --type mlx4 makes a smaller one. For a GGUF file convert it "
        "first, "
        "by llama.cpp's convert_hf_to_gguf.py with --outtype bf16; or run it as it is with "
        "--quantize q8 or q4.",
        path);
  }
  auto file = open_gguf(path);
  if (!file && file.error().code == ErrorCode::kInvalidInput) {
    return invalid_input("{} `tokamak quantize` reads GGUF files.", file.error().message);
  }
  return file;
}

/// Whether the file may be written, before any work.
Result<void> check_place(const QuantizeFlags& flags, const GgufFile& file) {
  if (!file_exists(flags.output)) return check_output(flags.output);
  std::error_code failed;
  for (const auto& source : file.tensors.sources()) {
    if (fs::equivalent(path_of(flags.output), path_of(source->name()), failed)) {
      return fail(ErrorCode::kUsage, "{} is the model itself; -o must name another file.",
                  flags.output);
    }
  }
  if (!flags.force) {
    return fail(ErrorCode::kUsage, "{} exists; --force writes over it.", flags.output);
  }
  if (!fs::is_regular_file(path_of(flags.output), failed)) {
    return output_failure("{}: Expected a file but found something else.", flags.output);
  }
  return check_output(flags.output);
}

/// Refuses sums of another model.
Result<void> check_sums(const GgufFile& sums, const QuantizationPlan& plan,
                        const std::string& path) {
  for (const TensorPlan& tensor : plan.tensors) {
    TOK_TRY(const auto importance, importance_of(sums, *tensor.from));
    if (!importance.empty()) return {};
  }
  return invalid_input(
      "{}: The file has no sums for a matrix of the model, expected those of `tokamak imatrix`.",
      path);
}

Result<void> write_file(const GgufFile& file, const QuantizationPlan& plan,
                        const QuantizeFlags& flags) {
  std::optional<GgufFile> sums;
  if (!flags.imatrix.empty()) {
    TOK_TRY(sums, open_gguf(flags.imatrix));
    TOK_TRY(check_sums(*sums, plan, flags.imatrix));
  }
  std::error_code failed;
  const fs::path place = fs::weakly_canonical(path_of(flags.output), failed);  // links stay
  WholeFile out(failed ? flags.output : text_of(place));
  const WhenInterrupted stop(OnInterrupt::kStop);
  std::optional<Waiting> waiting("reading the model");
  WriteOptions options;
  options.threads = flags.thread_count();
  options.sums = sums ? &*sums : nullptr;
  options.cancelled = interrupted;
  options.progress = [&](const TensorPlan& next, uint64_t done) {
    waiting->say(
        fmt::format("{} of {}: {}", bytes_text(done), bytes_text(plan.new_bytes), next.to.name));
  };
  TOK_TRY(write_quantized(file, plan, options, [&](std::span<const std::byte> bytes) {
    return put_piece(out, bytes, flags.output);
  }));
  waiting.reset();
  return out.commit() ? Result<void>() : Result<void>(unfinished_output(flags.output));
}

Result<void> run_quantize(const QuantizeFlags& flags) {
  if (const auto bits = mlx_bits(flags.type)) return quantize_folder(flags, *bits);
  if (flags.group != 0) {
    return fail(ErrorCode::kUsage, "--group-size is for types of MLX; {} has its own blocks.",
                flags.type);
  }
  TOK_TRY(const TargetType* target, find_target_type(flags.type));
  std::vector<TypeOverride> overrides;
  for (const std::string& text : flags.overrides) {
    TOK_TRY(TypeOverride one, parse_override(text));
    overrides.push_back(std::move(one));
  }
  TOK_TRY(const std::string path, find_or_fetch(flags.model, flags.pull));
  TOK_TRY(const GgufFile file, open_model(path));
  if (!flags.output.empty()) TOK_TRY(check_place(flags, file));
  TOK_TRY(const QuantizationPlan plan, plan_quantization(file, *target, overrides));
  if (flags.dry_run) return print_plan(plan, flags.json);
  if (plan.packed > 0) {
    note(
        fmt::format("note: {} tensors of the model are packed already and lose bits once more; a "
                    "file of f16 or bf16 gives a better one.\n",
                    plan.packed));
  }
  const Clock clock = steady_clock();
  const double start = clock();
  TOK_TRY(write_file(file, plan, flags));
  return print_result(plan, flags, std::string(target->name), clock() - start);
}

}  // namespace

uint32_t QuantizeFlags::thread_count() const {
  return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

Result<void> print_plan(const QuantizationPlan& plan, bool as_json, std::string_view packed) {
  Table table;
  using enum Table::Align;
  table.column("tensor", "name").column("shape", "shape").column("from", "from");
  table.column("to", "to")
      .column("bytes", "bytes", kRight)
      .column("new bytes", "new_bytes", kRight);
  table.column("", "note");
  for (const TensorPlan& tensor : plan.tensors) {
    Json::Array shape;
    for (const uint64_t extent : tensor.to.shape) shape.emplace_back(extent);
    const std::string extents = fmt::format("{}", fmt::join(tensor.to.shape, " x "));
    const bool is_named = tensor.is_rounded && !packed.empty();
    table.row({tensor.to.name, Cell(extents, std::move(shape)),
               std::string(dtype_name(tensor.from->dtype)),
               std::string(is_named ? packed : dtype_name(tensor.to.dtype)),
               bytes_cell(tensor.from->bytes), bytes_cell(tensor.to.bytes), tensor.note});
  }
  if (as_json) {
    const Json json(Json::Object{
        {"tensors", table.json()}, {"bytes", plan.old_bytes}, {"new_bytes", plan.new_bytes}});
    return print(json.dump(1) + "\n");
  }
  return print(fmt::format("{}{} tensors: {} become {}\n", table.text(), table.rows(),
                           bytes_text(plan.old_bytes), bytes_text(plan.new_bytes)));
}

Result<void> print_result(const QuantizationPlan& plan, const QuantizeFlags& flags,
                          const std::string& kind, double seconds) {
  return print(fmt::format("{}: {}, {} before ({}, {:.0f} s)\n", flags.output,
                           bytes_text(plan.new_bytes), bytes_text(plan.old_bytes), kind, seconds));
}

void add_quantize(App& app, Action& action) {
  App* command = app.add_subcommand("quantize", "a smaller GGUF file or MLX folder of a model");
  command->footer(
      R"(A type that stands alone is that of all matrices: q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0,
q3_k, q2_k, f16, bf16 or f32. A mix gives more bits to the matrices that need them: q5_k_m,
q5_k_s, q4_k_m, q4_k_s, q3_k_l, q3_k_m or q3_k_s. Norms, biases and routers stay as they are.
mlx2, mlx3, mlx4, mlx5, mlx6 and mlx8 are those of folders of safetensors, as MLX packs them.
Examples:
  tokamak quantize model-bf16.gguf -o model-q4.gguf                      q4_k_m
  tokamak quantize model-bf16.gguf -o model-q8.gguf --type q8_0
  tokamak quantize model-bf16.gguf --type q4_k_m --dry-run               what becomes of each tensor
  tokamak quantize model-bf16.gguf -o small.gguf --tensor-type 'ffn_down=q5_k'
  tokamak quantize model-bf16.gguf --type q4_k_m --dry-run --json        the table for programs
  tokamak quantize path/to/model -o path/to/model-4bit --type mlx4       a folder for MLX, too
The model may be packed itself, but then it loses bits twice.)");
  auto flags = std::make_shared<QuantizeFlags>();
  add_model(*command, flags->model, "a GGUF file, a folder of safetensors, or a name of the cache")
      ->required();
  Option* output =
      command->add_option("-o,--output", flags->output, "the file to write, or the folder")
          ->type_name("FILE")
          ->check(not_empty("the path of a file"));
  command->add_option("--type", flags->type, "the type of matrices, or a mix of types")
      ->type_name("TYPE")
      ->capture_default_str();
  command
      ->add_option("--tensor-type", flags->overrides,
                   "the type of the matrices in whose names a regular expression is found "
                   "(repeatable; the first one that is found decides)")
      ->type_name("REGEX=TYPE");
  command
      ->add_option(
          "--imatrix", flags->imatrix,
          "a GGUF file of `tokamak imatrix` or llama-imatrix: how much the columns of each "
          "matrix count, for all types but q8_0 and floats")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"));
  command
      ->add_option("--group-size", flags->group,
                   "of MLX's types: columns that share a scale; default: 64")
      ->check(one_of({"32", "64", "128"}));
  Option* dry_run = command->add_flag("--dry-run", flags->dry_run,
                                      "list the tensors, their types and bytes; write nothing");
  command->add_flag("--json", flags->json, "--dry-run as one JSON object")->needs(dry_run);
  command->add_flag("--force", flags->force, "write over a file that exists")->needs(output);
  command->add_flag("--pull", flags->pull, "fetch MODEL without asking when it is not there yet");
  command
      ->add_option("--threads", flags->threads,
                   "how many rows are rounded at once [default: all cores]; the bytes of the file "
                   "are the same with any number")
      ->check(in_range(1, 1024));
  command->extra_words("the file to write is -o FILE, its type --type TYPE");
  command->require_one_of({output, dry_run});
  command->callback([flags, &action] { action = [flags] { return run_quantize(*flags); }; });
}

}  // namespace tokamak::cli
