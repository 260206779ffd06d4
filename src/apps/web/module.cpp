// The module of the browser: one model, one request at a time, as functions with flat arguments.
// web/host/module.js calls them:
//
//   tokamak_file() for each file of the model, whose bytes the page writes there
//   tokamak_open()
//   tokamak_start(), then tokamak_step() until it is 0; tokamak_take_text() in between
//
// tokamak_open() and tokamak_step() suspend the module, which must not be called meanwhile. What
// fails leaves its reason where tokamak_reply() points.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "engine/files_in_memory.h"

#define TOKAMAK_EXPORT(name) extern "C" __attribute__((export_name(#name)))

using namespace tokamak;

namespace {

[[noreturn]] void memory_ran_out() {
  std::fputs("The memory of the WebAssembly module has run out.\n", stderr);
  std::abort();
}

struct Module {
  Module() { std::set_new_handler(memory_ran_out); }

  FilesInMemory files;
  std::unique_ptr<Engine> engine;
  std::optional<RequestId> request;
  std::vector<uint32_t> ids;                 // of the request, as they come
  std::string text;                          // of it, that was not taken yet
  std::optional<Result<Generation>> result;  // of it, when it is done
  std::string reply;
};

Module& module() {
  static Module one;
  return one;
}

constexpr int kFailed = -1;

int fail_with(const Error& error) {
  module().reply = error.message;
  return kFailed;
}

void tell(std::string_view text) {
  std::fprintf(stderr, "%.*s\n", int(text.size()), text.data());
}

Result<void> open(bool on_cpu, uint32_t context) {
  OpenOptions options;
  options.backend = on_cpu ? "cpu" : "webgpu";
  options.context = context;
  options.notice = tell;
  options.reopen = [again = options] { return open_backend(again); };
  TOK_TRY(ModelFiles files, read_model_files("The model", std::exchange(module().files, {})));
  TOK_TRY(std::unique_ptr<Backend> backend, open_backend(options));
  TOK_TRY(module().engine,
          Engine::load(std::move(files), std::move(backend), options, steady_clock()));
  return {};
}

Result<void> start(std::string_view prompt, uint32_t max_tokens, double temperature,
                   uint32_t seed) {
  Module& own = module();
  if (own.engine == nullptr) return fail(ErrorCode::kUsage, "No model is open.");
  if (own.request && !own.result) return fail(ErrorCode::kUsage, "A request is under way.");
  TOK_TRY(const Tokenizer* tokenizer, own.engine->tokenizer());
  Request request;
  TOK_TRY(request.prompt, tokenizer->encode(prompt));
  TOK_TRY(request.params, own.engine->defaults());
  if (temperature >= 0) request.params.sampling.temperature = temperature;
  request.params.sampling.seed = seed;
  request.params.max_tokens = max_tokens;
  request.callbacks.text = [&own](std::string_view piece) { own.text += piece; };
  request.callbacks.token = [&own](uint32_t id, const Logprobs*) { own.ids.push_back(id); };
  request.done = [&own](Result<Generation> result) { own.result = std::move(result); };
  own.ids.clear();
  own.text.clear();
  own.result.reset();
  own.request.reset();
  TOK_TRY(Scheduler* const scheduler, own.engine->scheduler());
  TOK_TRY(own.request, scheduler->add(std::move(request)));
  return {};
}

/// Whether there is more to come.
Result<bool> step() {
  Module& own = module();
  if (!own.request) return fail(ErrorCode::kUsage, "No request was started.");
  TOK_TRY(Scheduler* const scheduler, own.engine->scheduler());
  TOK_TRY(const bool has_more, scheduler->step());
  if (has_more) TOK_TRY(scheduler->wait());
  if (own.result && !*own.result) return Failure(own.result->error());
  return has_more;
}

}  // namespace

/// Memory for a text that the page hands in, until tokamak_free().
TOKAMAK_EXPORT(tokamak_memory) void* tokamak_memory(uint32_t bytes) {
  return std::malloc(bytes);
}

TOKAMAK_EXPORT(tokamak_free) void tokamak_free(void* memory) {
  std::free(memory);
}

/// A file of the model to open next: where its bytes go, in as many pieces as the page likes.
TOKAMAK_EXPORT(tokamak_file) void* tokamak_file(const char* name, uint32_t bytes, uint32_t size) {
  std::vector<std::byte>& file = module().files[std::string(name, bytes)];
  file.assign(size, std::byte{});
  return file.data();
}

/// Opens the model of those files in place of the one that was open. context: positions, 0: as
/// OpenOptions says. 0, or -1.
TOKAMAK_EXPORT(tokamak_open) int tokamak_open(int on_cpu, uint32_t context) {
  module().request.reset();
  module().engine.reset();
  const auto opened = open(on_cpu != 0, context);
  return opened ? 0 : fail_with(opened.error());
}

/// Asks for a continuation. temperature: below 0 it is the model's own. 0, or -1.
TOKAMAK_EXPORT(tokamak_start)
int tokamak_start(const char* prompt, uint32_t bytes, uint32_t max_tokens, double temperature,
                  uint32_t seed) {
  const auto started = start({prompt, bytes}, max_tokens, temperature, seed);
  return started ? 0 : fail_with(started.error());
}

/// Waits for what the device brings next. 1: there is more, 0: the request is done, or -1.
TOKAMAK_EXPORT(tokamak_step) int tokamak_step() {
  const auto has_more = step();
  return has_more ? int(*has_more) : fail_with(has_more.error());
}

/// Ends the request; the next tokamak_step() finds it done.
TOKAMAK_EXPORT(tokamak_cancel) void tokamak_cancel() {
  Module& own = module();
  if (!own.request || own.result) return;
  if (const auto scheduler = own.engine->scheduler()) (*scheduler)->cancel(*own.request);
}

/// Moves the text that has come since the last call into the reply; its bytes.
TOKAMAK_EXPORT(tokamak_take_text) uint32_t tokamak_take_text() {
  module().reply = std::exchange(module().text, {});
  return uint32_t(module().reply.size());
}

/// Puts what the model runs on into the reply; its bytes.
TOKAMAK_EXPORT(tokamak_device) uint32_t tokamak_device() {
  const Module& own = module();
  std::string text;
  if (own.engine != nullptr) {
    text = fmt::format("{} ({})", own.engine->device().name, own.engine->device().driver);
  }
  module().reply = std::move(text);
  return uint32_t(module().reply.size());
}

TOKAMAK_EXPORT(tokamak_reply) const char* tokamak_reply() {
  return module().reply.data();
}

TOKAMAK_EXPORT(tokamak_reply_bytes) uint32_t tokamak_reply_bytes() {
  return uint32_t(module().reply.size());
}

/// The tokens of the request so far.
TOKAMAK_EXPORT(tokamak_ids) const uint32_t* tokamak_ids() {
  return module().ids.data();
}

TOKAMAK_EXPORT(tokamak_id_count) uint32_t tokamak_id_count() {
  return uint32_t(module().ids.size());
}
