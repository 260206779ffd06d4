#include "engine/engine.h"

#include <algorithm>

#include "backend/stages.h"
#include "base/background_task.h"
#include "base/check.h"
#include "base/scoped_flag.h"
#include "base/splitmix.h"
#include "engine/draft.h"
#include "engine/image_encoder.h"
#include "engine/memory.h"
#include "engine/restorable_program.h"
#include "engine/task.h"
#include "generate/speculate/draft_model.h"
#include "model/unused_tensors.h"
#include "model/weights.h"

namespace tokamak {
namespace {

Result<SamplingParams> read_sampling(ConfigReader config) {
  SamplingParams params;
  params.temperature = 0;
  if (config.flag("do_sample", false)) {
    params.temperature = config.positive("temperature", 1.0);
    params.top_k = config.count("top_k", 0);
    params.top_p = config.positive("top_p", 1.0);
    params.min_p = config.share("min_p", 0.0);
    params.typical_p = config.positive("typical_p", 1.0);
  }
  params.repetition_penalty = config.positive("repetition_penalty", 1.0);
  TOK_TRY(config.status());
  return params;
}

/// `sampling` says what is wrong with the fields that only sampling needs.
Result<GenerationParams> read_defaults(const ModelDescription& description, uint32_t vocab,
                                       Result<void>& sampling) {
  GenerationParams params;
  params.sampling.temperature = 0;
  ConfigReader model_config = description.reader();
  ConfigReader text_config = model_config.at("text_config");
  std::vector<uint32_t> end_ids = model_config.ids("eos_token_id");
  if (end_ids.empty()) end_ids = text_config.ids("eos_token_id");
  TOK_TRY(model_config.status());
  TOK_TRY(text_config.status());
  std::string where = model_config.where();
  if (description.generation_config) {
    ConfigReader reader(*description.generation_config,
                        description.origin + "generation_config.json");
    if (reader.has("eos_token_id")) {
      end_ids = reader.ids("eos_token_id");
      where = reader.where();
    }
    TOK_TRY(reader.status());
    const auto recommended = read_sampling(reader);
    if (recommended) params.sampling = *recommended;
    if (!recommended) sampling = Failure(recommended.error());
  }
  for (const uint32_t id : end_ids) {
    if (id >= vocab) {
      return invalid_input("{}: eos_token_id {} is beyond the vocabulary of {} tokens.", where, id,
                           vocab);
    }
  }
  params.end_ids = std::move(end_ids);
  return params;
}

Result<Tokenizer> tokenizer_of(const ModelFiles& files) {
  if (files.vocab) return Tokenizer::from_gguf(*files.vocab);
  return Tokenizer::from_files(files.tokenizer_files());
}

/// The note on kernels that the self-test has taken away from this plan; "" without any.
std::string wrong_kernels_notice(const Plan& plan, const VariantAdvice& advice,
                                 const DeviceInfo& device) {
  std::string first, names;
  for (const auto& [name, failure] : advice.wrong) {
    const bool missed = std::ranges::any_of(plan.phases, [&](const Phase& phase) {
      return std::ranges::any_of(phase.steps, [&](const Step& step) {
        return std::ranges::any_of(step.passed_over, [&](const std::string& reason) {
          return reason.starts_with(name + ": ") && reason.ends_with(failure);
        });
      });
    });
    if (!missed) continue;
    if (first.empty()) first = failure;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return "";
  return fmt::format(
      "Other kernels run in place of {}, which \"{}\" computes wrongly ({}); update its driver.",
      names, device.name, first);
}

/// Which passes had to go with their kernels; "" when none.
std::string left_out_notice(const Engine::Compiled& compiled, const OpenOptions& asked,
                            const DeviceInfo& device) {
  std::string names;
  for (const std::string& name : compiled.disabled_passes) {
    if (!asked.disabled_passes.contains(name)) names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return "";
  return fmt::format(
      "Fusion is left out where \"{}\" has no right kernel for what it makes ({}); update its "
      "driver.",
      device.name, names);
}

/// Compiles again without the variants that turn out to be wrong, until none does.
Result<Engine::Compiled> compile_for(Backend& backend, const ModelFiles& files,
                                     const OpenOptions& options, const Clock& clock,
                                     double& test_seconds) {
  OpenOptions own = options;
  for (;;) {
    TOK_TRY(Engine::Compiled compiled, Engine::compile(files, backend.device(), own));
    WrongVariants wrong;
    if (own.find_wrong) {
      const double start = clock();
      TOK_TRY(wrong, own.find_wrong(backend, compiled.main.plan));
      test_seconds += clock() - start;
    }
    std::erase_if(wrong, [&](const auto& one) { return own.advice.wrong.contains(one.first); });
    if (wrong.empty()) {
      for (const std::string& text :
           {wrong_kernels_notice(compiled.main.plan, own.advice, backend.device()),
            left_out_notice(compiled, options, backend.device())}) {
        if (options.notice && !text.empty()) options.notice(text);
      }
      return compiled;
    }
    own.advice.wrong.merge(wrong);
  }
}

/// The templates of those files; with `instead` only that one.
Result<ChatTemplateSource> chat_templates(const ModelFiles& files, std::string_view instead) {
  std::vector<ChatTemplateSource::Named> additional;
  additional.reserve(files.more_templates.size());
  for (const auto& [name, source] : files.more_templates) additional.push_back({name, source});
  std::optional<std::string_view> jinja;
  if (!files.chat_template.empty()) jinja = files.chat_template;
  if (!instead.empty()) {
    additional.clear();
    jinja = instead;
  }
  return read_chat_templates(files.tokenizer_files(), jinja, additional);
}

UnusedTensors unused_of(const ModelFiles& files, const Engine::Compiled& compiled) {
  std::span<const SoundStage> stages;
  if (compiled.speech) stages = compiled.speech->stages;
  return unused_tensors(files.tensors, compiled.main.unfused(), stages);
}

/// Notices about the placement of the model: the memory that it takes, unless one sequence's
/// context is all of it, and its layers on each device.
void notice_placement(const Backend& backend, const ModelFiles& files,
                      const Engine::Compiled& compiled, const OpenOptions& options) {
  const bool is_split = footprint(compiled.main.plan).on_host != 0;
  if (options.sequences > 1 || !options.memory.empty() || files.draft != nullptr || is_split) {
    options.notice(memory_text(compiled, options));
  }
  if (!backend.stages().empty()) options.notice(parts_text(backend, compiled.main.plan));
}

void notice_files(const ModelFiles& files, const Engine::Compiled& compiled,
                  const std::function<void(std::string_view)>& notice) {
  for (const std::string& text : files.notices) notice(text);
  if (compiled.vision && !files.tower_note.empty()) notice(files.tower_note);
  const std::string text =
      unknown_tensors_notice(unused_of(files, compiled), compiled.facts.architecture);
  if (!text.empty()) notice(text);
}

/// The file that weights are read from: the model's tensors, prepared, and those of its adapters.
Result<TensorFile> constants_of(const ModelFiles& files, const Engine::Compiled& compiled,
                                const OpenOptions& options) {
  TensorFile constants = files.tensors;
  if (options.prepared) {
    TOK_TRY(constants, options.prepared(constants, compiled.main.fused()));
  }
  for (size_t i = 0; i < files.adapters.size(); ++i) {
    TOK_TRY(constants, with_tensors(constants, lora_prefix(i), files.adapters[i].tensors));
  }
  return constants;
}

Failure no_tokenizer(const ModelFiles& files) {
  return invalid_input(
      "{} has no {}.", files.name,
      files.description.origin.empty() ? "tokenizer.json" : "tokenizer.ggml.model");
}

}  // namespace

Engine::Engine() = default;
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::load(ModelFiles files, std::unique_ptr<Backend> backend,
                                             const OpenOptions& options, const Clock& clock) {
  const double start = clock();
  auto engine = std::make_unique<Engine>();
  engine->files_ = std::move(files);
  if (!options.chat_template.empty()) {
    engine->files_.chat_template = options.chat_template;
    engine->files_.more_templates.clear();
  }
  engine->backend_ = std::move(backend);
  engine->clock_ = clock;
  engine->find_wrong_ = options.find_wrong;
  // A large vocabulary takes as long as a quarter of the weights' way to a fast device.
  std::optional<Result<Tokenizer>> tokenizer;
  BackgroundTask reading([&] {
    if (engine->files_.has_tokenizer()) tokenizer = tokenizer_of(engine->files_);
  });
  TOK_TRY(engine->compiled_, compile_for(*engine->backend_, engine->files_, options, clock,
                                         engine->times_.test_seconds));
  TOK_TRY(check_layers(*engine->backend_, engine->compiled_.main.plan));
  if (options.planned) options.planned(engine->compiled_.main.plan);
  if (options.notice) {
    notice_placement(*engine->backend_, engine->files_, engine->compiled_, options);
  }
  TOK_TRY(engine->memory_limit_, memory_limit(options, engine->device()));
  engine->shows_memory_ = !options.memory.empty();
  engine->notice_ = options.notice;
  TOK_TRY(engine->defaults_,
          read_defaults(engine->files_.description, engine->compiled_.facts.vocab,
                        engine->sampling_status_));
  if (options.notice) notice_files(engine->files_, engine->compiled_, options.notice);
  if (engine->files_.draft) {
    TOK_TRY(reading.wait());
    TOK_TRY(check_vocabulary(engine->files_, tokenizer ? &*tokenizer : nullptr));
  }
  const double compiled = clock();
  TOK_TRY(engine->constants_, constants_of(engine->files_, engine->compiled_, options));
  TOK_TRY(engine->program_, engine->make_program(engine->compiled_.main.plan, options.progress));
  if (engine->compiled_.vision) {
    TOK_TRY(engine->image_encoder_,
            ImageEncoder::make(
                engine->compiled_, engine->files_, options, engine->backend_,
                [own = engine.get()](std::string_view words) { return own->template_ids(words); }));
  }
  TOK_TRY(reading.wait());
  if (tokenizer) {
    TOK_TRY(engine->tokenizer_, *std::move(tokenizer));
    engine->files_.vocab.reset();  // large, and in the tokenizer now
    if (options.change_defaults) {
      TOK_TRY(options.change_defaults(engine->defaults_, *engine->tokenizer_));
    }
  }
  if (options.reopen) {
    engine->reopen_ = options.reopen;
    auto restorable = std::make_unique<RestorableProgram>(
        std::move(engine->program_), [own = engine.get()](const Plan& plan, const Error& loss) {
          return own->make_program_again(plan, loss);
        });
    engine->restorable_ = restorable.get();
    engine->program_ = std::move(restorable);
  }
  if (engine->files_.draft) TOK_TRY(engine->load_draft(options));
  engine->times_.compile_seconds = compiled - start;
  engine->times_.upload_seconds = clock() - compiled;
  engine->times_.total_seconds = clock() - start;
  return engine;
}

Result<std::unique_ptr<Program>> Engine::make_program(const Plan& plan,
                                                      const LoadProgress& progress) {
  auto program = backend_->compile(
      plan,
      [&](const TensorDesc& constant, Share share, const WriteBytes& write) {
        return read_constant(constants_, constant, share, write);
      },
      progress);
  if (program || program.error().code != ErrorCode::kOutOfMemory) return program;
  return Failure(does_not_fit(compiled_, backend_->device(), program.error()));
}

Result<std::unique_ptr<Program>> Engine::make_program_again(const Plan& plan, const Error& loss) {
  auto reopened = reopen_();
  if (!reopened) {
    return fail(ErrorCode::kDevice, "{} It cannot be opened again: {}", loss.message,
                reopened.error().message);
  }
  // Numbers of another device may differ in their last bits, and the plan may not run on it.
  if ((*reopened)->device() != device()) {
    return fail(ErrorCode::kDevice,
                "{} In its place there is \"{}\"; open the model again to run on that.",
                loss.message, (*reopened)->device().name);
  }
  if (image_encoder_) image_encoder_->forget_device();
  if (on_device_lost_) on_device_lost_();
  if (draft_) draft_->restorable_->forget(loss);
  backend_ = *std::move(reopened);
  if (notice_) {
    notice_(loss.message + " It has been opened again, and what ran goes on from where it was.");
  }
  return make_program(plan, {});
}

Result<GenerationParams> Engine::defaults() const {
  TOK_TRY(sampling_status_);
  return defaults_;
}

Result<const Tokenizer*> Engine::tokenizer() const {
  if (!tokenizer_) return no_tokenizer(files_);
  return &*tokenizer_;
}

Result<Tokenizer> make_tokenizer(const ModelFiles& files) {
  if (!files.has_tokenizer()) return no_tokenizer(files);
  auto tokenizer = tokenizer_of(files);
  if (!tokenizer) return Failure(tokenizer.error().within(files.name));
  return tokenizer;
}

Result<std::vector<uint32_t>> Engine::template_ids(std::string_view text) const {
  TOK_TRY(const Tokenizer* own, tokenizer());
  return own->encode(text, {.add_special = false, .parse_special = true});
}

std::string pipelines_text(const CompileReport& report) {
  return fmt::format("{} compiled, {} cached", report.pipelines - report.cached, report.cached);
}

Result<std::string> chat_template_named(const ModelFiles& files, std::string_view name) {
  TOK_TRY(const ChatTemplateSource source, chat_templates(files, {}));
  std::string names;
  for (const ChatTemplateSource::Named& one : source.templates) {
    if (one.name == name) return one.source;
    names += (names.empty() ? "" : ", ") + one.name;
  }
  return invalid_input("{} has no chat template \"{}\", but {}.", files.name, name,
                       names.empty() ? "none at all" : names);
}

Result<std::string> render_chat(const ModelFiles& files, const Json& variables,
                                std::string_view instead) {
  TOK_TRY(const ChatTemplateSource source, chat_templates(files, instead));
  const Json* tools = variables.find("tools");
  TOK_TRY(const ChatTemplateSource::Named* chosen,
          source.choose(tools != nullptr && !tools->is_null()));
  TOK_TRY(const ChatTemplate parsed, ChatTemplate::parse(chosen->source));
  return parsed.render(with_special_tokens(variables, source));
}

Result<std::string> Engine::render_chat(const Json& variables) const {
  return tokamak::render_chat(files_, variables);
}

Result<Scheduler*> Engine::scheduler() {
  TOK_TRY(check_task(compiled_, Task::kText));
  if (scheduler_ == nullptr) {
    const Tokenizer* own = tokenizer_ ? &*tokenizer_ : nullptr;
    const SchedulerOptions options = {.context = compiled_.context,
                                      .vocab = compiled_.facts.vocab,
                                      .adapters = uint32_t(files_.adapters.size()),
                                      .speculation = compiled_.speculation,
                                      .drafts = drafts_.get(),
                                      .images = image_encoder_ ? &image_encoder_->rows() : nullptr};
    TOK_TRY(scheduler_, Scheduler::make(*program_, own, options, clock_));
  }
  return scheduler_.get();
}

Result<Session> Engine::start() {
  TOK_TRY(check_task(compiled_, Task::kText));
  TOK_TRY(check_idle());
  const Graph& graph = compiled_.main.unfused();
  const bool all_rows = graph.at(graph.result).shape[0] == kTokens;
  ImageRows* const images = image_encoder_ ? &image_encoder_->rows() : nullptr;
  TOK_TRY(Session session,
          Session::start(*program_, compiled_.context, compiled_.facts.vocab, all_rows, images));
  session.use_adapter(adapter_);
  return session;
}

Result<void> Engine::check_idle() const {
  if (!is_busy_) return {};
  return fail(ErrorCode::kUsage,
              "The model is in the middle of a call: a callback must not start another one. Do it "
              "when the call has returned, or open the model once more.");
}

Result<uint32_t> adapter_number(const ModelFiles& files, std::string_view name) {
  if (name.empty()) return 0;
  std::string known;
  for (size_t i = 0; i < files.adapters.size(); ++i) {
    const std::string& one = files.adapters[i].name;
    if (one == name) return uint32_t(i + 1);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one);
  }
  return invalid_input(
      "There is no adapter \"{}\"; {}.", name,
      known.empty() ? "the model was opened without any" : "the model was opened with " + known);
}

Result<void> Engine::use_adapter(std::string_view name) {
  TOK_TRY(adapter_, adapter_number(files_, name));
  return {};
}

Result<std::vector<Generation>> Engine::run(std::vector<Request> requests) {
  TOK_TRY(check_idle());
  TOK_TRY(Scheduler* const own, scheduler());
  for (const Request& request : requests) TOK_TRY(own->check(request));
  const ScopedFlag busy(is_busy_);
  std::vector<Generation> out(requests.size());
  std::optional<Error> error;
  size_t left = 0;
  std::vector<RequestId> ids;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].done = [&, i](Result<Generation> done) {
      --left;
      if (done) {
        out[i] = *std::move(done);
      } else {
        error = done.error();
      }
    };
    ++left;
    TOK_TRY(const RequestId id, own->add(std::move(requests[i])));
    ids.push_back(id);
  }
  while (left > 0) {  // an error of the scheduler has been given to every request
    TOK_TRY(const bool continues, own->step());
    if (!continues && left > 0) {
      error = {ErrorCode::kUsage,
               "The model is busy with requests whose readers do not keep up. Ask when they have "
               "ended, or open the model once more."};
      for (const RequestId id : ids) own->cancel(id);
    } else if (left > 0) {
      TOK_TRY(own->wait());
    }
  }
  if (error) return Failure(*std::move(error));
  return out;
}

Result<Generation> Engine::generate(Request request) {
  GenerationParams& params = request.params;
  if (!params.end_ids) params.end_ids = defaults_.end_ids;
  if (!params.sampling.seed) params.sampling.seed = fresh_seed(clock_(), calls_++);
  if (request.adapter == 0) request.adapter = adapter_;
  std::vector<Request> one;
  one.push_back(std::move(request));
  TOK_TRY(std::vector<Generation> out, run(std::move(one)));
  return std::move(out.front());
}

Result<Generation> Engine::generate(std::string_view prompt, const GenerationParams& params,
                                    const GenerationCallbacks& callbacks) {
  TOK_TRY(const Tokenizer* own, tokenizer());
  TOK_TRY(std::vector<uint32_t> ids, own->encode(prompt));
  return generate({.prompt = std::move(ids), .params = params, .callbacks = callbacks});
}

Result<Generation> Engine::generate_rendered(std::string_view prompt,
                                             const GenerationParams& params,
                                             const GenerationCallbacks& callbacks) {
  TOK_TRY(std::vector<uint32_t> ids, template_ids(prompt));
  return generate({.prompt = std::move(ids), .params = params, .callbacks = callbacks});
}

}  // namespace tokamak
