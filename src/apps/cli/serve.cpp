// tokamak serve: answers programs over HTTP.
#include <filesystem>
#include <random>
#include <thread>

#include "apps/cli/command.h"
#include "base/splitmix.h"
#include "serve/gateway.h"

namespace tokamak::cli {
namespace {

struct ServeFlags {
  ModelFlags model;
  serve::ServerOptions server;
  serve::GatewayOptions gateway;
  uint32_t port = 8080, sequences = 16;
  std::string alias;
};

std::function<uint64_t()> random_numbers() {
  std::random_device device;
  const uint64_t seed = (uint64_t{device()} << 32) | device();
  return [state = seed]() mutable { return next_random(state); };
}

int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string example(const std::string& url, const std::string& model) {
  return fmt::format(
      "  curl {}/v1/chat/completions -d '{{\"model\": {}, \"messages\": "
      "[{{\"role\": \"user\", \"content\": \"Hello\"}}]}}'\n",
      url, Json(model).dump());
}

/// Runs a server on a thread of its own until it ends.
class ServerThread {
 public:
  ServerThread(serve::Server& server, serve::Gateway& gateway)
      : server_(server), thread_([&] { server.run(gateway.handler()); }) {}
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;
  ~ServerThread() {
    server_.post([own = &server_] { own->stop(); });
    wait();
  }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  serve::Server& server_;
  std::thread thread_;
};

Result<void> run(ServeFlags flags) {
  TOK_TRY(OpenOptions options, flags.model.options());
  options.sequences = flags.sequences;
  flags.server.port = uint16_t(flags.port);
  flags.server.random = random_numbers();
  TOK_TRY(const auto server, serve::Server::listen(flags.server));
  flags.gateway.sequences = flags.sequences;
  flags.gateway.access.checks_host = server->is_loopback();
  serve::Gateway gateway(*server, flags.gateway);
  std::unique_ptr<serve::ServiceLoop> loop;  // ends after the server, which calls it
  ServerThread thread(*server, gateway);

  TOK_TRY(auto engine, ModelFlags::open(std::move(options)));
  const std::string id =
      flags.alias.empty() ? model_id(flags.model.model(), engine->files()) : flags.alias;
  TOK_TRY(loop,
          serve::ServiceLoop::make(std::move(engine),
                                   {.model = id,
                                    .created = unix_seconds(),
                                    .unix_seconds = unix_seconds,
                                    .random = random_numbers()},
                                   [&](std::vector<serve::Part> parts) {
                                     server->post([&gateway, parts = std::move(parts)]() mutable {
                                       gateway.take(std::move(parts));
                                     });
                                   }));
  server->post([&] {
    gateway.open(*loop);
    server->on_signal([&] {
      if (gateway.is_draining()) std::_Exit(exit_code(ErrorCode::kCancelled));
      note("Stopping when the requests under way have ended; once more stops at once.\n");
      gateway.drain();
    });
  });
  const std::string url = "http://" + server->address();
  TOK_TRY(print(fmt::format("Listening on {}\n", url)));
  note(fmt::format("Try:\n{}", example(url, id)));
  thread.wait();
  return {};
}

}  // namespace

void add_serve(App& app, Action& action) {
  App* command = app.add_subcommand("serve", "answer programs over HTTP, by OpenAI's protocol");
  command->footer(R"(Examples:
  tokamak serve
  tokamak serve path/to/model --port 9000 --max-sequences 32
  tokamak serve path/to/model --host 0.0.0.0 --api-key-file keys.txt)");
  auto flags = std::make_shared<ServeFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  command->add_option("--host", flags->server.host, "the address to listen at")
      ->type_name("ADDRESS")
      ->capture_default_str()
      ->check(not_empty("an address"));
  command->add_option("--port", flags->port, "the port; 0: one that is free, which the output says")
      ->capture_default_str()
      ->check(Range(0, 65535));
  command
      ->add_option("-a,--alias", flags->alias,
                   "the model's id for clients; default: the name of its folder or file")
      ->type_name("NAME")
      ->check(not_empty("a name"));
  command->add_option("--max-sequences", flags->sequences, "answers that are generated at once")
      ->capture_default_str()
      ->check(Range(1, int(kMaxSequences)));
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
