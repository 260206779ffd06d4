// tokamak ps: which models a server has in memory.
#include <cmath>

#include "apps/cli/command.h"
#include "base/table.h"
#include "download/http.h"

namespace tokamak::cli {
namespace {

struct PsFlags {
  std::string url = "http://127.0.0.1:8080", key;
  bool json = false;
};

constexpr size_t kMaxBytes = size_t{16} << 20;

/// The body of an answer of the server. Errors: there is no server, or it refuses.
Result<std::string> ask(const std::string& url, const std::string& key) {
  download::Http http;
  std::string body;
  http.start({.url = url, .token = key, .is_direct = true},
             [&](const download::Reply&, std::span<const std::byte> bytes) {
               body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
               return body.size() <= kMaxBytes;
             });
  std::optional<download::Http::Finished> finished;
  while (!finished) finished = http.wait(1);
  const download::Reply& reply = finished->reply;
  if (reply.unreachable) {
    return fail(ErrorCode::kInvalidInput,
                "No server listens at {}; `tokamak serve MODEL` starts one, --url says where "
                "another is.",
                url);
  }
  if (!reply.problem.empty()) {
    return fail(ErrorCode::kInvalidInput, "{}: {}.", url, reply.problem);
  }
  if (reply.status == 200) return body;
  const auto answer = Json::parse(body);
  const Json* why = answer ? answer->find("error") : nullptr;
  return fail(ErrorCode::kInvalidInput, "{} answers with status {}{}", url, reply.status,
              why != nullptr && why->is_string() ? ": " + why->as_string() : ".");
}

/// The member of an entry; null where there is none, as with Ollama's servers.
Json member(const Json& model, std::string_view name) {
  const Json* found = model.find(name);
  return found == nullptr ? Json() : *found;
}
std::string text_of(const Json& value) {
  return value.is_string() ? value.as_string() : value.is_null() ? "" : value.dump();
}

/// "4 s", "12 min", "3 h"
std::string time_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

std::string until_text(const Json& model) {
  if (member(model, "pinned") == Json(true)) return "pinned";
  const Json seconds = member(model, "expires_seconds");
  if (seconds.is_number()) return "in " + time_text(seconds.as_number());
  return model.find("pinned") == nullptr ? text_of(member(model, "expires_at"))
                                         : "when room is needed";
}

Cell size_cell(const Json& model) {
  const Json size = member(model, "size");
  return size.is_number() ? bytes_cell(uint64_t(size.as_number())) : Cell("");
}

Result<void> run_ps(const PsFlags& flags) {
  std::string url = flags.url;
  while (url.ends_with('/')) url.pop_back();
  if (download::origin_of(url).empty()) {
    return fail(ErrorCode::kUsage, "--url is \"{}\", expected an address as http://127.0.0.1:8080.",
                flags.url);
  }
  TOK_TRY(const std::string body, ask(url + "/api/ps", flags.key));
  const auto answer = Json::parse(body);
  const Json* models = answer ? answer->find("models") : nullptr;
  if (models == nullptr || !models->is_array()) {
    return fail(ErrorCode::kInvalidInput, "{}/api/ps does not answer with a list of models.", url);
  }
  if (flags.json) return print(models->dump(1) + "\n");
  if (models->as_array().empty()) return print("No model is loaded.\n");
  Table table;
  table.column("model", "").column("size", "", Table::Align::kRight);
  table.column("device", "").column("context", "", Table::Align::kRight);
  table.column("state", "").column("running", "", Table::Align::kRight);
  table.column("waiting", "", Table::Align::kRight).column("idle for", "").column("leaves", "");
  for (const Json& model : models->as_array()) {
    const Json idle = member(model, "idle_seconds"), running = member(model, "running");
    const bool is_idle = idle.is_number() && running == Json(0);
    table.row({text_of(member(model, "name")), size_cell(model), text_of(member(model, "device")),
               text_of(member(model, "context_length")), text_of(member(model, "state")),
               text_of(running), text_of(member(model, "waiting")),
               is_idle ? time_text(idle.as_number()) : "", until_text(model)});
  }
  return print(table.text(kScreenColumns));
}

}  // namespace

void add_ps(App& app, Action& action) {
  App* command = app.add_subcommand("ps", "which models a server has in memory");
  command->footer(R"(Examples:
  tokamak ps
  tokamak ps --url http://127.0.0.1:9000 --json
The server is one of `tokamak serve`, or another that knows Ollama's /api/ps.)");
  auto flags = std::make_shared<PsFlags>();
  command->add_option("--url", flags->url, "where the server is")
      ->type_name("URL")
      ->capture_default_str()
      ->check(not_empty("an address"));
  command->add_option("--api-key", flags->key, "a key that the server wants to see")
      ->type_name("KEY")
      ->check(not_empty("a key"));
  command->add_flag("--json", flags->json, "a list of objects, sizes in bytes");
  command->callback([flags, &action] { action = [flags] { return run_ps(*flags); }; });
}

}  // namespace tokamak::cli
