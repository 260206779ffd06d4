#include "apps/cli/line/output_file.h"
#include "apps/cli/measured_text.h"
#include "formats/native_files.h"
#include "report/importance/column_sums.h"

namespace tokamak::cli {
namespace {

struct ImatrixFlags {
  OpenOptions options{.backend = "cpu"};
  MeasuredText text;
  std::string output;
  bool pull = false;
};

Result<void> run_imatrix(ImatrixFlags& flags) {
  if (file_exists(flags.output)) {
    return fail(ErrorCode::kUsage, "{} exists; -o must name a file that does not.", flags.output);
  }
  TOK_TRY(check_output(flags.output));
  TOK_TRY(flags.text.read());
  OpenOptions options = flags.text.opening(flags.options);
  TOK_TRY(options.model, find_or_fetch(options.model, flags.pull));
  if (is_directory(options.model)) {
    return unsupported(
        "{} is a folder, expected the GGUF file whose matrices `tokamak quantize` will round.",
        options.model);
  }
  TOK_TRY(const GgufFile file, open_gguf(options.model));
  when_interrupted(OnInterrupt::kStopSoon);
  std::optional<Waiting> waiting("reading the model");
  ImportanceMatrix matrix;
  TOK_TRY(const std::unique_ptr<Engine> engine, matrix.open(file, std::move(options)));
  TOK_TRY(const TextWindows windows, flags.text.windows(*engine));
  waiting->say("the first window");
  TOK_TRY(const PerplexityReport report,
          measure_perplexity(*engine, windows, flags.text.options(*waiting, "perplexity")));
  waiting.reset();
  TOK_TRY(write_output(flags.output, matrix.to_gguf({.text = flags.text.file(),
                                                     .windows = uint32_t(report.windows),
                                                     .window = windows.size})));
  return print(fmt::format("{}: {} matrices by {} windows of {} tokens, perplexity {:.4f}\n",
                           flags.output, matrix.tensors().size(), report.windows, windows.size,
                           report.perplexity.value()));
}

}  // namespace

void add_imatrix(App& app, Action& action) {
  App* command =
      app.add_subcommand("imatrix", "which columns of a model's matrices count for a text");
  command->footer(
      R"(The model runs over the text, on the processor, and each matrix's inputs are squared and added up,
column by column, for each expert by itself. `tokamak quantize --imatrix` then spends the bits of
small types where they count; llama-quantize reads the file, too. The text should be of the kind
that the model will write; some 100 windows are enough for most models.
Examples:
  tokamak imatrix model-bf16.gguf calibration.txt -o model.imatrix.gguf
  tokamak imatrix model-bf16.gguf calibration.txt -o model.imatrix.gguf --windows 100
  tokamak quantize model-bf16.gguf -o model-q3.gguf --type q3_k_m --imatrix model.imatrix.gguf)");
  auto flags = std::make_shared<ImatrixFlags>();
  add_model(*command, flags->options.model, "a GGUF file, or org/name:FILE of the cache")
      ->required();
  command->add_option("-c,--context,--ctx-size", flags->options.context, "");
  flags->text.add(*command);
  command->add_option("-o,--output", flags->output, "the file to write")
      ->type_name("FILE")
      ->required()
      ->check(not_empty("the path of a file"));
  command
      ->add_option("--threads", flags->options.threads,
                   "threads that compute; default: one for each core")
      ->check(in_range(1, 1024));
  command->add_flag("--pull", flags->pull, "fetch MODEL without asking when it is not there yet");
  command->callback([flags, &action] { action = [flags] { return run_imatrix(*flags); }; });
}

}  // namespace tokamak::cli
