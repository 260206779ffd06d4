#include "apps/cli/command.h"
#include "base/file_cache.h"
#include "base/system/folders.h"
#include "base/table.h"

namespace tokamak::cli {
namespace {

struct CacheFlags {
  bool json = false, yes = false;
  std::string action = "show", which = "all";
  std::string unused;  // "": not asked for
};

/// The kinds of that name, or all.
std::vector<CacheKind> chosen(const std::string& which) {
  std::vector<CacheKind> kinds;
  for (const CacheKind& kind : kCacheKinds) {
    if (which == "all" || which == kind.name) kinds.push_back(kind);
  }
  return kinds;
}

struct Held {
  uint64_t entries = 0, bytes = 0;
};

/// Files that are not whole yet count with their bytes alone.
Held held_by(const FileCache& cache) {
  Held held;
  for (const CacheEntry& entry : cache.entries()) {
    held.entries += entry.is_partial ? 0 : 1;
    held.bytes += entry.bytes;
  }
  return held;
}

Result<void> check_folder() {
  if (!cache_folder("").empty()) return {};
  return invalid_input(
      "None of TOKAMAK_CACHE_DIR, XDG_CACHE_HOME and HOME is set: nothing is kept.");
}

Result<void> show(bool json) {
  TOK_TRY(check_folder());
  Table table;
  table.column("cache", "cache").column("of", "holds");
  table.column("entries", "entries", Table::Align::kRight);
  table.column("size", "bytes", Table::Align::kRight);
  table.column("limit", "limit", Table::Align::kRight).column("folder", "path");
  for (const CacheKind& kind : kCacheKinds) {
    const FileCache cache(cache_folder(kind.folder), kind);
    TOK_TRY(const uint64_t limit, cache_limit(kind));
    const Held held = held_by(cache);
    table.row({kind.name, kind.holds, held.entries, bytes_cell(held.bytes), bytes_cell(limit),
               cache.folder()});
  }
  return print(json ? table.json().dump(1) + "\n" : table.text());
}

Result<void> tell(const FileCache::Removed& removed) {
  return print(fmt::format("removed {} {}, {} freed\n", removed.entries,
                           removed.entries == 1 ? "entry" : "entries", bytes_text(removed.bytes)));
}

Result<void> clear(const CacheFlags& flags) {
  TOK_TRY(check_folder());
  uint64_t entries = 0, bytes = 0;
  for (const CacheKind& kind : chosen(flags.which)) {
    const Held held = held_by(FileCache(cache_folder(kind.folder), kind));
    entries += held.entries;
    bytes += held.bytes;
  }
  const std::string what =
      fmt::format("{} {} ({}) of {}", entries, entries == 1 ? "entry" : "entries",
                  bytes_text(bytes), flags.which == "all" ? "all caches" : flags.which);
  if (entries > 0 && !flags.yes) {
    if (!stdin_is_terminal()) {
      return fail(ErrorCode::kUsage, "Pass --yes to remove {}.", what);
    }
    if (!agreed("remove " + what, false)) {
      note("Nothing was removed.\n");
      return {};
    }
  }
  FileCache::Removed all;
  for (const CacheKind& kind : chosen(flags.which)) {
    const auto removed = FileCache(cache_folder(kind.folder), kind).clear();
    all.entries += removed.entries;
    all.bytes += removed.bytes;
  }
  return tell(all);
}

Result<void> prune(const CacheFlags& flags) {
  TOK_TRY(check_folder());
  std::optional<std::filesystem::file_time_type> before;
  if (!flags.unused.empty()) {
    before = std::filesystem::file_time_type::clock::now() -
             std::chrono::seconds(int64_t(seconds_of(flags.unused, 'd')));
  }
  FileCache::Removed all;
  for (const CacheKind& kind : kCacheKinds) {
    TOK_TRY(cache_limit(kind));
    const auto removed = FileCache(cache_folder(kind.folder), kind).prune(before);
    all.entries += removed.entries;
    all.bytes += removed.bytes;
  }
  return tell(all);
}

/// Each option is for one action.
Result<void> check_action(const App& command, const std::string& action) {
  constexpr std::pair<const char*, std::string_view> kOwners[] = {
      {"--json", "show"}, {"CACHE", "clear"}, {"--yes", "clear"}, {"--unused-for", "prune"}};
  for (const auto& [name, owner] : kOwners) {
    if (command.count(name) == 0 || action == owner) continue;
    return fail(ErrorCode::kUsage, "{} does nothing with {}, it is for {}.", name, action, owner);
  }
  return {};
}

std::string names() {
  std::string text;
  for (const CacheKind& kind : kCacheKinds) text += fmt::format("{}, ", kind.name);
  return text + "all";
}

}  // namespace

void add_cache(App& app, Action& action) {
  App* command = app.add_subcommand("cache", "what is kept between runs: see it, clear it");
  command->footer(R"(Examples:
  tokamak cache                         what there is: compiled kernels, quantized weights, ...
  tokamak cache clear self-test         test the kernels of the device once more
  tokamak cache clear --yes             remove everything, without asking
  tokamak cache prune                   what is beyond the limits, and what broken runs have left
  tokamak cache prune --unused-for 30   also what was of no use for 30 days

Everything here is made again when it is needed. What was of no use for the longest time goes first
when a limit is reached: 1 GiB of kernels, 16 GiB of quantized weights.
  TOKAMAK_PIPELINES_LIMIT=500M   another limit; 0 keeps nothing
  TOKAMAK_WEIGHTS_LIMIT=100G     the same for weights
  TOKAMAK_CACHE_DIR=FOLDER       another place; else XDG_CACHE_HOME/tokamak or ~/.cache/tokamak
Models are not part of it: `tokamak list`, `tokamak rm`.)");
  auto flags = std::make_shared<CacheFlags>();
  command->add_option("ACTION", flags->action, "show, clear or prune")
      ->check(one_of({"show", "clear", "prune"}))
      ->default_val("show");
  std::vector<std::string> kinds = {"all"};
  for (const CacheKind& kind : kCacheKinds) kinds.emplace_back(kind.name);
  command->add_option("CACHE", flags->which, "for clear: " + names())
      ->check(one_of(std::move(kinds)))
      ->default_val("all");
  command->add_flag("--json", flags->json, "for show: a list of objects instead of a table");
  command->add_flag("-y,--yes", flags->yes, "for clear: do not ask");
  command
      ->add_option("--unused-for", flags->unused,
                   "for prune: also what was of no use for so long, as 30d or 12h; 30 is days")
      ->type_name("TIME")
      ->check(time_text_of('d'));
  command->callback([flags, command, &action] {
    action = [flags, command]() -> Result<void> {
      TOK_TRY(check_action(*command, flags->action));
      if (flags->action == "clear") return clear(*flags);
      return flags->action == "prune" ? prune(*flags) : show(flags->json);
    };
  });
}

}  // namespace tokamak::cli
