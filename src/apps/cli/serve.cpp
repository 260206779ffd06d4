// tokamak serve: answers programs over HTTP.
#include <thread>

#include "apps/cli/served_models.h"
#include "apps/cli/service_sources.h"
#include "apps/cli/trace_file.h"
#include "serve/access_log.h"
#include "serve/gateway.h"
#include "serve/http/tls.h"

namespace tokamak::cli {
namespace {

struct ServeFlags {
  ModelFlags model;
  serve::ServerOptions server;
  serve::GatewayOptions gateway;
  PoolFlags pool;
  uint32_t port = 8080, max_body_mib = 32;
  std::string log = "text", trace;
  std::vector<std::string> key_files;
  std::string certificate, key_file;
  double time_scale = 1;
};

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

serve::LogFormat log_format(const std::string& name) {
  if (name == "off") return serve::LogFormat::kOff;
  return name == "json" ? serve::LogFormat::kJson : serve::LogFormat::kText;
}

std::function<void(const serve::Answered&)> log_to_stderr(const std::string& format) {
  return [format = log_format(format)](const serve::Answered& answered) {
    using std::chrono::system_clock;
    const double now =
        std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
    const std::string line = serve::log_line(answered, format, now);
    if (!line.empty()) note(line);
  };
}

/// Keys of --api-key and of files, of which each must have one.
Result<void> add_keys_of_files(ServeFlags& flags) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  for (const std::string& path : flags.key_files) {
    TOK_TRY(const std::string text, read_text_file(path, kMaxBytes));
    const auto keys = serve::keys_in(text);
    if (!keys) return Failure(keys.error().within(path));
    auto& all = flags.gateway.access.keys;
    all.insert(all.end(), keys->begin(), keys->end());
  }
  if (flags.gateway.requests_of_key != 0 && flags.gateway.access.keys.empty()) {
    return fail(ErrorCode::kUsage,
                "--max-key-requests needs keys: --api-key KEY or --api-key-file FILE.");
  }
  return {};
}

void scale_times(serve::ServerLimits& limits, double scale) {
  for (double* seconds : {&limits.idle_seconds, &limits.header_seconds, &limits.body_seconds,
                          &limits.write_seconds, &limits.quiet_seconds}) {
    *seconds *= scale;
  }
}

/// What is listened with before there is a model, so that a port that is taken shows at once.
Result<std::unique_ptr<serve::Server>> listen(ServeFlags& flags) {
  flags.server.port = uint16_t(flags.port);
  flags.server.random = random_numbers();
  flags.server.limits.request.body_bytes = uint64_t{flags.max_body_mib} << 20;
  scale_times(flags.server.limits, flags.time_scale);
  if (!flags.certificate.empty()) {
    TOK_TRY(flags.server.tls, serve::TlsIdentity::of_files(flags.certificate, flags.key_file));
  }
  TOK_TRY(auto server, serve::Server::listen(flags.server));
  flags.gateway.random = random_numbers();
  flags.gateway.log = log_to_stderr(flags.log);
  flags.gateway.access.checks_host = server->is_loopback();
  if (!server->is_loopback() && flags.gateway.access.keys.empty()) {
    note(
        fmt::format("warning: {} can be reached from other machines, and everyone may ask: "
                    "--api-key or --api-key-file lets in only who has a key.\n",
                    server->address()));
  }
  return server;
}

Result<void> run(ServeFlags flags) {
  TOK_TRY(const std::vector<ServedModel> models, served_models(flags.model, flags.pool));
  TOK_TRY(add_keys_of_files(flags));
  std::unique_ptr<serve::Trace> trace;
  if (!flags.trace.empty()) {
    TOK_TRY(trace, trace_into(flags.trace));
  }
  TOK_TRY(const auto server, listen(flags));
  serve::Gateway gateway(*server, flags.gateway);
  std::unique_ptr<serve::ModelPool> pool;  // ends after the server, which calls it
  ServerThread thread(*server, gateway);

  TOK_TRY(pool, open_pool(models, flags.pool, *server, trace.get(),
                          [&](std::vector<serve::Part> parts) { gateway.take(std::move(parts)); }));
  server->post([&] {
    gateway.open(*pool);
    server->on_signal([&] {
      if (gateway.is_draining()) std::_Exit(exit_code(ErrorCode::kCancelled));
      note("Stopping when the requests under way have ended; once more stops at once.\n");
      gateway.drain();
    });
  });
  const std::string url = server->url();
  TOK_TRY(print(fmt::format("Listening on {}\n", url)));
  note(fmt::format("Try:\n{}", example(url, models.front().names.front())));
  thread.wait();
  return {};
}

void add_network_options(App& command, ServeFlags& flags) {
  command.add_option("--host", flags.server.host, "the address to listen at; 0.0.0.0: all of them")
      ->type_name("ADDRESS")
      ->capture_default_str()
      ->check(not_empty("an address"));
  command.add_option("--port", flags.port, "the port; 0: one that is free, which the output says")
      ->capture_default_str()
      ->check(Range(0, 65535));
  command
      .add_option("--drain", flags.gateway.drain_seconds,
                  "seconds that requests under way have to end when the server is told to stop")
      ->capture_default_str()
      ->check(Range(0.0, 86400.0));
  command
      .add_option("--log", flags.log, "a line for each answer on standard error: text, json, off")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->check(OneOf({"text", "json", "off"}));
  command
      .add_option("--trace", flags.trace,
                  "write steps and requests with their times into this file, which Perfetto "
                  "(ui.perfetto.dev) shows")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"));
  command.add_flag("--slots", flags.gateway.shows_slots,
                   "let /slots show which requests run, without their texts");
  command
      .add_option("--time-scale", flags.time_scale,
                  "multiplies the times that a connection has: for tests")
      ->check(Range(0.001, 1000.0))
      ->group(kDeveloperOptions);
}

void add_tls_options(App& command, ServeFlags& flags) {
  constexpr const char* kGroup = "Access";
  Option* certificate =
      command
          .add_option(
              "--tls-cert", flags.certificate,
              "speak HTTPS with this certificate: a file in PEM, the server's own first, then "
              "those that vouch for it")
          ->type_name("FILE")
          ->check(not_empty("the path of a file"))
          ->group(kGroup);
  Option* key = command
                    .add_option("--tls-key", flags.key_file,
                                "its private key: a file in PEM, without a password")
                    ->type_name("FILE")
                    ->check(not_empty("the path of a file"))
                    ->needs(certificate)
                    ->group(kGroup);
  certificate->needs(key);
}

void add_access_options(App& command, ServeFlags& flags) {
  constexpr const char* kGroup = "Access";
  command
      .add_option("--api-key", flags.gateway.access.keys,
                  "a key that requests must show (repeatable); a file hides it from `ps`")
      ->type_name("KEY")
      ->check(not_empty("a key"))
      ->group(kGroup);
  command.add_option("--api-key-file", flags.key_files, "keys, one in each line (repeatable)")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"))
      ->group(kGroup);
  command
      .add_option("--max-key-requests", flags.gateway.requests_of_key,
                  "requests of one key that may be under way at once, waiting ones among them; "
                  "default: no limit of its own")
      ->check(Range(1, 1 << 20))
      ->group(kGroup);
  command
      .add_option("--allowed-host", flags.gateway.access.hosts,
                  "on a loopback address: another name that requests may be sent to (repeatable)")
      ->type_name("NAME")
      ->check(not_empty("a name"))
      ->group(kGroup);
  command
      .add_option("--cors-origin", flags.gateway.access.origins,
                  "pages of this origin may read answers, \"*\": of any (repeatable)")
      ->type_name("ORIGIN")
      ->check(not_empty("an origin as https://name"))
      ->group(kGroup);
}

}  // namespace

void add_serve(App& app, Action& action) {
  App* command = app.add_subcommand("serve", "answer programs over HTTP");
  command->footer(R"(Examples:
  tokamak serve
  tokamak serve path/to/model --port 9000 --max-sequences 32
  tokamak serve org/chat org/embedder --pin org/embedder --max-loaded 2
  tokamak serve --alias big=path/to/a --alias small=path/to/b --keep-alive 10m
  tokamak serve path/to/model --lora sql=path/to/one --lora poems=path/to/two
  tokamak serve path/to/model --draft path/to/small    a small model guesses ahead
  tokamak serve path/to/model --host 0.0.0.0 --api-key-file keys.txt
  tokamak serve --host 0.0.0.0 --api-key-file keys.txt --tls-cert cert.pem --tls-key key.pem
`tokamak ps` shows which models are in memory.)");
  auto flags = std::make_shared<ServeFlags>();
  flags->model.add(*command, ModelFlags::Model::kSeveral);
  flags->model.add_adapters(*command, /*several=*/true);
  flags->model.add_speculation(*command);
  add_network_options(*command, *flags);
  command->add_option("--max-body", flags->max_body_mib, "largest body of a request, in MiB")
      ->type_name("MIB")
      ->capture_default_str()
      ->check(Range(1, 1024));
  add_pool_options(*command, flags->pool);
  add_access_options(*command, *flags);
  add_tls_options(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
