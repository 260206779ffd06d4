#include "report/inspect/inspect.h"

#include "apps/cli/command.h"
#include "base/table.h"
#include "download/peek.h"
#include "engine/codec.h"
#include "engine/files/gguf_files.h"
#include "engine/files/partial_files.h"
#include "engine/memory.h"
#include "formats/native_files.h"
#include "protocol/output/tool_family.h"
#include "protocol/templates/chat_form.h"
#include "report/support/support.h"

namespace tokamak::cli {
namespace {

struct InspectFlags {
  ModelFlags model;
  InspectRequest request;
  double megapixels = 1;
  bool summary = false, graph = false, fused = false, plan = false, weights = false, memory = false;
  bool support = false, metadata = false;
  bool text = false, dot = false, json = false;
  uint32_t sequences = 1;
};

/// A model of the hub as far as it shows without its weights. `unread`: as for read_files().
Result<ModelFiles> look_from_afar(const hub::Settings& settings, const hub::ModelName& name,
                                  UnreadTensors* unread) {
  const bool talking = stderr_is_terminal();
  const auto looking_at = [&](const std::string& what) {
    if (talking) note(fmt::format("\r\033[Klooking up {} ...", what));
  };
  const WhenInterrupted stop(OnInterrupt::kStop);
  auto peeked = download::peek(settings, name, looking_at, interrupted);
  if (talking) note("\r\033[K");
  if (!peeked) return Failure(peeked.error());
  if (interrupted()) return Failure(Error{ErrorCode::kCancelled, ""});
  if (unread != nullptr) {
    *unread = std::move(peeked->unread);
  } else if (!peeked->unread.empty()) {
    return unsupported("{}: tensor \"{}\" is of type {}, which this engine does not read.",
                       name.text(), peeked->unread[0].name, peeked->unread[0].type);
  }
  ModelFiles files;
  files.name = name.text();
  auto description = read_description([&](const std::string& file) { return peeked->text(file); });
  if (!description) return Failure(description.error().within(files.name));
  files.description = *std::move(description);
  files.tokenizer = peeked->text("tokenizer.json");
  files.tokenizer_config = peeked->text("tokenizer_config.json");
  files.special_tokens_map = peeked->text("special_tokens_map.json");
  files.added_tokens = peeked->text("added_tokens.json");
  files.chat_template = peeked->text("chat_template.jinja");
  for (auto& [path, text] : peeked->texts) {
    constexpr std::string_view kMore = "additional_chat_templates/", kEnding = ".jinja";
    if (!path.starts_with(kMore)) continue;
    files.more_templates.emplace_back(
        path.substr(kMore.size(), path.size() - kMore.size() - kEnding.size()), std::move(text));
  }
  files.tensors = std::move(peeked->tensors);
  note(fmt::format("note: {} is not in the cache; of its weights {:.1f} kB of headers were read.\n",
                   name.text(), double(peeked->fetched) / 1e3));
  return files;
}

/// The model on disk, else the one of that name on the hub. `unread` null: a tensor of a type that
/// is not read is an error.
Result<ModelFiles> read_files(const std::string& model, const std::string& projector,
                              UnreadTensors* unread = nullptr) {
  const auto path = find_model(model);
  if (path) {
    return unread != nullptr ? read_model_files(*path, *unread, projector)
                             : read_model_files(*path, projector);
  }
  const auto name = hub::parse_model_name(model);
  if (!name) return Failure(path.error());
  TOK_TRY(const hub::Settings settings, hub::read_settings());
  if (settings.offline) return Failure(path.error());
  return look_from_afar(settings, *name, unread);
}

/// Shortens a value to one line of a terminal.
std::string shortened(std::string text) {
  constexpr size_t kMaxBytes = 60;
  if (text.size() <= kMaxBytes) return text;
  size_t end = kMaxBytes - 3;
  while ((uint8_t(text[end]) & 0xC0u) == 0x80u) --end;  // inside a character
  return text.substr(0, end) + "...";
}

void add_entries(Table& table, const std::string& prefix, const Json& values) {
  if (!values.is_object()) return;
  for (const auto& [key, value] : values.as_object()) {
    const std::string count =
        value.is_array() ? fmt::format("{}: ", value.as_array().size()) : std::string();
    table.row({prefix + shortened(key), Cell(shortened(count + value.dump()), value)});
  }
}

/// The entries of a GGUF file, or of safetensors and of config.json beside it, as they are there.
std::string metadata_of(const ModelFiles& files, bool as_json) {
  const bool has_config = files.description.origin.empty();
  const Json config = has_config ? files.description.config : Json();
  if (as_json) {
    Json out;
    out.set("metadata", files.tensors.metadata());
    if (has_config) out.set("config", config);
    return out.dump(1) + "\n";
  }
  Table table;
  table.column("key", "key").column("value", "value");
  add_entries(table, "", files.tensors.metadata());
  add_entries(table, "config.json ", config);
  return table.rows() == 0 ? "There are no metadata.\n" : table.text();
}

/// A GGUF file that cannot be imported, as far as it shows: its tensors under their own names.
Result<ModelFiles> read_foreign_gguf(const std::string& path, UnreadTensors& unread) {
  TOK_TRY(const GgufFile file, open_gguf(path, unread));
  TOK_TRY(ModelFiles files, gguf_text_files(file));
  files.tensors = file.tensors;
  const Json* name = file.metadata.values().find("general.architecture");
  files.description.config = Json(Json::Object{});
  if (name != nullptr) files.description.config.set("model_type", *name);
  return files;
}

SupportRow tools_row(const ModelFiles& files) {
  const auto tokenizer = make_tokenizer(files);
  const protocol::ChatForm form =
      protocol::find_chat_form(files, tokenizer ? &*tokenizer : nullptr);
  std::string what = form.notice;
  if (what.empty() && form.tools != nullptr) what = std::string(form.tools->name);
  if (form.is_generic && form.notice.empty()) what = "told in words: the template knows no tools";
  if (!form.reasoning_open.empty()) what += fmt::format("; reasons in {}", form.reasoning_open);
  const bool has_form = !form.is_generic && form.tools != nullptr;
  return alike("tools", "tools", has_form, what);
}

Result<void> print_support(const InspectFlags& flags, const OpenOptions& options) {
  UnreadTensors unread;
  auto files = read_files(options.model, options.projector, &unread);
  std::vector<SupportRow> rows;
  if (!files) {
    // Files of other kinds than GGUF are looked at only as far as they open.
    const auto path = find_model(options.model);
    unread.clear();
    auto foreign =
        path ? read_foreign_gguf(*path, unread) : Result<ModelFiles>(Failure(path.error()));
    if (!foreign) return Failure(files.error());
    rows.push_back(alike("import", "import", false, files.error().message));
    files = std::move(foreign);
  }
  const std::vector<SupportRow> more = support(*files, unread, options);
  rows.insert(rows.end(), more.begin(), more.end());
  rows.push_back(tools_row(*files));
  return print(flags.json ? support_json(rows).dump(1) + "\n" : support_text(rows));
}

Result<void> run_inspect(const InspectFlags& flags) {
  InspectRequest request = flags.request;
  if (flags.graph) request.view = InspectView::kGraph;
  if (flags.fused) request.view = InspectView::kFused;
  if (flags.plan) request.view = InspectView::kPlan;
  if (flags.weights) request.view = InspectView::kWeights;
  if (flags.memory) request.view = InspectView::kMemory;
  if (flags.text) request.form = InspectForm::kText;
  if (flags.dot) request.form = InspectForm::kDot;
  if (flags.json) request.form = InspectForm::kJson;
  TOK_TRY(OpenOptions options, flags.model.options_of_any_model());
  if (flags.support) return print_support(flags, options);
  TOK_TRY(const ModelFiles files, read_files(options.model, options.projector));
  if (flags.metadata) {
    return print(metadata_of(files, flags.json));
  }
  TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(options));
  recall_device(backend->device(), options);
  // A model may be looked at where it does not fit.
  if (!options.memory.empty()) options.free_memory = free_memory(*backend);
  options.sequences = flags.sequences;
  if (is_codec(files)) {
    TOK_TRY(const Plan plan, Codec::plan(files, backend->device(), {.advice = options.advice}));
    if (options.planned) options.planned(plan);
    TOK_TRY(const std::string out, inspect_codec(files, plan, backend->device(), request));
    return print(out);
  }
  if (request.view == InspectView::kSummary || request.view == InspectView::kMemory) {
    options.image_pixels = pixels_of(flags.megapixels);
    options.needs_images = false;
  }
  auto compiled = Engine::compile(files, backend->device(), options);
  if (!compiled) return Failure(compiled.error().within(files.name));
  if (options.planned) options.planned(compiled->main.plan);
  request.parts = device_parts(*backend, compiled->main.plan);
  TOK_TRY(const std::string out, inspect(files, *compiled, backend->device(), options, request));
  return print(out);
}

void add_views(App& command, InspectFlags& flags) {
  const auto flag = [&](const char* name, bool& variable, const char* meaning, const char* group) {
    return command.add_flag(name, variable, meaning)->group(group);
  };
  constexpr const char* kViews = "View (one of)";
  constexpr const char* kForms = "Form (one of; default: a table)";
  Option* const views[] = {
      flag("--summary", flags.summary, "sizes, files, fusions, memory (default)", kViews),
      flag("--graph", flags.graph, "operations as the architecture writes them", kViews),
      flag("--fused", flags.fused, "operations after the fusion passes", kViews),
      flag("--plan", flags.plan, "kernel launches on the device", kViews),
      flag("--weights", flags.weights, "tensors of the checkpoint and where they go", kViews),
      flag("--memory", flags.memory, "buffers on the device", kViews),
      flag("--support", flags.support,
           "which parts run, on which backend, and why the others do not, of any checkpoint",
           kViews),
      flag("--metadata", flags.metadata,
           "entries of a GGUF file, or of safetensors and config.json", kViews)};
  Option* const forms[] = {
      flag("--json", flags.json, "for programs", kForms),
      flag("--dot", flags.dot, "--graph, --fused and --plan for Graphviz", kForms),
      flag("--text", flags.text, "--graph, --fused and --plan as text that parses back", kForms)};
  Option::exclude_each_other(views);
  Option::exclude_each_other(forms);
  const auto [summary, graph, fused, plan, weights, memory, support, metadata] = views;
  for (Option* form : {forms[1], forms[2]}) form->needs_any({graph, fused, plan});
  Option* const sizes[] = {
      command
          .add_option("--n-tokens", flags.request.tokens,
                      "bytes and FLOP of a step of that many tokens")
          ->check(in_range(1, 1 << 20))
          ->capture_default_str(),
      command
          .add_option("--sequences", flags.sequences,
                      "sequences that run at once: the KV cache and states of --memory are for all")
          ->check(in_range(1, kMaxSequences))
          ->capture_default_str(),
      command
          .add_option("--megapixels", flags.megapixels,
                      "the summary and --memory are of a model that reads images of that many; 0: "
                      "text only")
          ->check(in_range(0.0, 16.0))
          ->capture_default_str(),
      command.add_option("-d,--depth", flags.request.depth, "... after this many others")
          ->capture_default_str()};
  for (Option* size : sizes) size->excludes(support)->excludes(metadata);
  for (Option* view : {graph, fused, plan, weights}) sizes[2]->excludes(view);
}

}  // namespace

void add_inspect(App& app, Action& action) {
  App* command = app.add_subcommand("inspect", "what a model becomes, without running it");
  command->footer(R"(Examples:
  tokamak inspect path/to/model                  a summary
  tokamak inspect path/to/model --plan           which kernel runs when, and why not a better one
  tokamak inspect path/to/model --memory --backend cpu
  tokamak inspect path/to/model --support        what of it runs, where, and why not the rest
  tokamak inspect org/name --support --json      the same for programs, of a model of the hub
  tokamak inspect path/to/model.gguf --metadata  what the file says of itself
  tokamak inspect path/to/model --fused --dot | dot -Tsvg > model.svg
  tokamak inspect path/to/model --fused --disable-pass qkv
  tokamak inspect path/to/model --graph --text   the form that tests compare
  tokamak inspect org/name                       a model of the hub, without fetching it
No weights are loaded.)");
  auto flags = std::make_shared<InspectFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  flags->model.add_projector(*command);
  add_views(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return run_inspect(*flags); }; });
}

}  // namespace tokamak::cli
