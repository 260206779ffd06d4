// tokamak mcp: a model as tools of the Model Context Protocol, over standard input and output.
#include <iostream>

#include "apps/cli/command.h"
#include "apps/cli/service_sources.h"
#include "engine/requests/engine_loop.h"
#include "mcp/session.h"

namespace tokamak::cli {
namespace {

struct McpFlags {
  ModelFlags model;
  uint32_t sequences = 4;
};

Result<void> run_mcp(const McpFlags& flags) {
  TOK_TRY(OpenOptions options, flags.model.options());
  options.sequences = flags.sequences;
  TOK_TRY(auto opened, ModelFlags::open(std::move(options)));
  Engine& engine = *opened;
  const bool is_encoder = engine.compiled().encoder.has_value();
  Scheduler* scheduler = nullptr;
  if (!is_encoder) {
    TOK_TRY(scheduler, engine.scheduler());
  }
  EngineLoop loop(std::move(opened), scheduler, {});
  TOK_TRY(
      const auto service,
      protocol::Service::make(engine, {.model = model_id(flags.model.model(), engine.files().name),
                                       .created = unix_seconds(),
                                       .unix_seconds = unix_seconds,
                                       .random = random_numbers()}));
  Result<void> written;
  mcp::Session session(*service, {.version = TOKAMAK_VERSION, .is_encoder = is_encoder},
                       [&written](std::string_view line) {
                         if (written) written = print(std::string(line) + "\n");
                       });
  if (stdin_is_terminal()) note("This is for programs: one message of JSON-RPC per line.\n");
  for (std::string line; std::getline(std::cin, line);) {
    loop.post([&session, line](Engine&) { session.receive(line); });
  }
  loop.close();  // what was asked is answered
  return written;
}

}  // namespace

void add_mcp(App& app, Action& action) {
  App* command =
      app.add_subcommand("mcp", "be a tool of other programs, by the Model Context Protocol");
  command->footer(
      R"(Speaks JSON-RPC over standard input and output, as programs expect that start it.

Examples:
  tokamak mcp
  tokamak mcp path/to/model --max-sequences 8)");
  auto flags = std::make_shared<McpFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  command->add_option("--max-sequences", flags->sequences, "answers that are generated at once")
      ->capture_default_str()
      ->check(in_range(1, int(kMaxSequences)));
  command->callback([flags, &action] { action = [flags] { return run_mcp(*flags); }; });
}

}  // namespace tokamak::cli
