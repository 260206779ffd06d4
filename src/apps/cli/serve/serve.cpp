// tokamak serve: answers programs over HTTP.
#include <future>
#include <thread>

#include "apps/cli/serve/ready_notice.h"
#include "apps/cli/serve/serve_defaults.h"
#include "apps/cli/serve/serve_log.h"
#include "apps/cli/serve/served_models.h"
#include "apps/cli/serve/trace_file.h"
#include "apps/cli/service_sources.h"
#include "serve/gateway.h"
#include "serve/http/tls.h"

namespace tokamak::cli {
namespace {

struct ServeFlags {
  ModelFlags model;
  serve::ServerOptions server;
  serve::GatewayOptions gateway;
  PoolFlags pool;
  ServeDefaults defaults;
  uint32_t port = 8080, max_body_mib = 32, max_bodies_mib = 1024;
  std::string log = "text", trace;
  std::vector<std::string> keys, key_files, proxies;  // keys: of --api-key
  std::string certificate, key_file;
  double time_scale = 1;
};

/// The address for programs on this machine: nothing can connect to "0.0.0.0".
std::string local_url(const std::string& url) {
  for (const std::string_view all : {"//0.0.0.0:", "//[::]:"}) {
    const size_t at = url.find(all);
    if (at == url.npos) continue;
    return fmt::format("{}//localhost:{}", url.substr(0, at), url.substr(at + all.size()));
  }
  return url;
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

/// Keys of --api-key and of files, of which each must have one.
Result<std::vector<std::string>> read_keys(const ServeFlags& flags) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  std::vector<std::string> all = flags.keys;
  for (const std::string& path : flags.key_files) {
    TOK_TRY(const std::string text, read_input(path, kMaxBytes));
    const auto keys = serve::keys_in(text);
    if (!keys) return Failure(keys.error().within(path));
    all.insert(all.end(), keys->begin(), keys->end());
  }
  if (flags.gateway.requests_of_key != 0 && all.empty()) {
    return fail(ErrorCode::kUsage,
                "--max-key-requests needs keys: --api-key KEY or --api-key-file FILE.");
  }
  return all;
}

void scale_times(serve::ServerLimits& limits, double scale) {
  for (double* seconds : {&limits.idle_seconds, &limits.header_seconds, &limits.body_seconds,
                          &limits.write_seconds, &limits.quiet_seconds}) {
    *seconds *= scale;
  }
}

/// Listens before there is a model, so that a port that is taken shows at once.
Result<std::unique_ptr<serve::Server>> listen(ServeFlags& flags) {
  flags.server.port = uint16_t(flags.port);
  flags.server.random = random_numbers();
  flags.server.limits.request.body_bytes = uint64_t{flags.max_body_mib} << 20;
  flags.server.limits.all_bodies_bytes = uint64_t{flags.max_bodies_mib} << 20;
  scale_times(flags.server.limits, flags.time_scale);
  TOK_TRY(flags.server.proxies, serve::Proxies::parse(flags.proxies));
  if (!flags.certificate.empty()) {
    TOK_TRY(flags.server.tls, serve::TlsIdentity::of_files(flags.certificate, flags.key_file));
  }
  TOK_TRY(auto server, serve::Server::listen(flags.server));
  flags.gateway.random = random_numbers();
  flags.gateway.access.checks_host = server->is_loopback();
  if (!server->is_loopback() && flags.gateway.access.keys.empty()) {
    note(
        fmt::format("warning: {} can be reached from other machines, and everyone may ask: "
                    "--api-key or --api-key-file lets in only who has a key.\n",
                    server->address()));
  }
  return server;
}

void stop(serve::Gateway& gateway) {
  if (gateway.is_draining()) std::_Exit(exit_code(ErrorCode::kCancelled));
  note("Stopping when the requests in flight have ended; once more stops at once.\n");
  notify_systemd("STOPPING=1");
  gateway.drain();
}

/// Reads keys and the certificate from their files again. A faulty one is a note, and the server
/// goes on with what it has.
Result<void> reload(const ServeFlags& flags, serve::Server& server, serve::Gateway& gateway) {
  TOK_TRY(std::vector<std::string> keys, read_keys(flags));
  std::shared_ptr<const serve::TlsIdentity> identity;
  if (!flags.certificate.empty()) {
    TOK_TRY(identity, serve::TlsIdentity::of_files(flags.certificate, flags.key_file));
  }
  gateway.set_keys(std::move(keys));
  if (identity) server.set_tls(std::move(identity));
  note("Keys and certificate are read again.\n");
  return {};
}

/// SIGHUP: reloads where there are files to read again, and stops otherwise.
void hang_up(const ServeFlags& flags, serve::Server& server, serve::Gateway& gateway) {
  if (flags.key_files.empty() && flags.certificate.empty()) return stop(gateway);
  const auto reloaded = reload(flags, server, gateway);
  if (!reloaded) {
    note(fmt::format("warning: Nothing is read again: {}\n", reloaded.error().message));
  }
}

Result<void> run_serve(ServeFlags& flags) {
  flags.gateway.log = start_log(log_format(flags.log));
  TOK_TRY(std::vector<ServedModel> models, served_models(flags.model, flags.pool));
  TOK_TRY(flags.defaults.apply(models));
  TOK_TRY(flags.gateway.access.keys, read_keys(flags));
  std::unique_ptr<serve::Trace> trace;
  if (!flags.trace.empty()) {
    TOK_TRY(trace, trace_into(flags.trace));
  }
  TOK_TRY(const auto server, listen(flags));
  serve::Gateway gateway(*server, flags.gateway);
  std::unique_ptr<serve::ModelPool> pool;  // ends after the server, which calls it
  ServerThread thread(*server, gateway);

  TOK_TRY(OpenPool opened,
          open_pool(models, flags.pool, *server, trace.get(),
                    [&](std::vector<serve::Part> parts) { gateway.take(std::move(parts)); }));
  pool = std::move(opened.pool);
  // A signal that comes after "READY=1" finds its handler.
  std::promise<void> is_open;
  server->post([&] {
    gateway.open(*pool);
    server->on_signal([&] { stop(gateway); });
    server->on_hangup([&] { hang_up(flags, *server, gateway); });
    is_open.set_value();
  });
  is_open.get_future().wait();
  TOK_TRY(print(fmt::format("Listening on {}\n", server->url())));
  notify_systemd("READY=1");
  const bool has_keys = !flags.gateway.access.keys.empty();
  note(fmt::format("Try:\n  curl {}{}{}\n", local_url(server->url()), opened.example,
                   has_keys ? " -H \"Authorization: Bearer KEY\"" : ""));
  thread.wait();
  return {};
}

void add_network_options(App& command, ServeFlags& flags) {
  command.add_option("--host", flags.server.host, "the address to listen at; 0.0.0.0: all of them")
      ->type_name("ADDRESS")
      ->capture_default_str()
      ->environment("TOKAMAK_HOST")
      ->check(not_empty("an address"));
  command.add_option("--port", flags.port, "the port; 0: one that is free, which the output says")
      ->capture_default_str()
      ->environment("TOKAMAK_PORT")
      ->check(in_range(0, 65535));
  command
      .add_option("--drain", flags.gateway.drain_seconds,
                  "seconds that requests in flight have to end when the server is told to stop")
      ->capture_default_str()
      ->check(in_range(0.0, 86400.0));
  command
      .add_option("--log", flags.log, "a line for each answer on standard error: text, json, off")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->check(one_of({"text", "json", "off"}));
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
      ->check(in_range(0.001, 1000.0))
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

std::string is_origin(const std::string& text) {
  const size_t host = text.find("://");
  const bool is_whole = host != 0 && host != text.npos && host + 3 < text.size() &&
                        text.find('/', host + 3) == text.npos;
  return text == "*" || text == "null" || is_whole ? "" : not_expected(text, "https://name or *");
}

void add_access_options(App& command, ServeFlags& flags) {
  constexpr const char* kGroup = "Access";
  command
      .add_option("--api-key", flags.keys,
                  "a key that requests must show (repeatable); a file hides it from `ps`")
      ->type_name("KEY")
      ->environment("TOKAMAK_API_KEY")
      ->check(not_empty("a key"))
      ->group(kGroup);
  command.add_option("--api-key-file", flags.key_files, "keys, one in each line (repeatable)")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"))
      ->group(kGroup);
  command
      .add_option("--max-key-requests", flags.gateway.requests_of_key,
                  "requests of one key that may be in flight at once, waiting ones among them; "
                  "default: no limit of its own")
      ->check(in_range(1, 1 << 20))
      ->group(kGroup);
  command
      .add_flag("--public-metrics", flags.gateway.has_public_metrics,
                "let /metrics need no key, as for an endpoint picker, which shows none")
      ->group(kGroup);
  command
      .add_option("--allowed-host", flags.gateway.access.hosts,
                  "on a loopback address: another name that requests may be sent to (repeatable)")
      ->type_name("NAME")
      ->check(not_empty("a name"))
      ->group(kGroup);
  command
      .add_option("--cors-origin", flags.gateway.access.origins,
                  "pages of this origin may use the server, \"*\": of any (repeatable)")
      ->type_name("ORIGIN")
      ->check(is_origin)
      ->group(kGroup);
  command
      .add_option("--trusted-proxy", flags.proxies,
                  "a proxy, or a network of some: the client is who its X-Forwarded-For or "
                  "Forwarded names, in the log and for limits (repeatable)")
      ->type_name("ADDRESS")
      ->check([](const std::string& text) {
        return serve::Proxies::parse({text}) ? ""
                                             : not_expected(text, "an address or as 10.0.0.0/8");
      })
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
`tokamak ps` shows which models are in memory. TOKAMAK_HOST, TOKAMAK_PORT, TOKAMAK_API_KEY and
TOKAMAK_MODEL in the environment count where the options are not given. SIGHUP reads the files of
keys and of the certificate again.)");
  auto flags = std::make_shared<ServeFlags>();
  flags->model.add(*command, ModelFlags::Model::kSeveral);
  flags->model.add_adapters(*command, /*several=*/true);
  flags->model.add_speculation(*command);
  flags->model.add_projector(*command);
  add_network_options(*command, *flags);
  command->add_option("--max-body", flags->max_body_mib, "largest body of a request, in MiB")
      ->type_name("MIB")
      ->capture_default_str()
      ->check(in_range(1, 1024));
  command
      ->add_option("--max-bodies", flags->max_bodies_mib,
                   "bodies of all requests together that are on their way or wait, in MiB")
      ->type_name("MIB")
      ->capture_default_str()
      ->check(in_range(1, 1 << 20));
  add_pool_options(*command, flags->pool);
  flags->defaults.add(*command);
  add_access_options(*command, *flags);
  add_tls_options(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return run_serve(*flags); }; });
}

}  // namespace tokamak::cli
