#include "apps/cli/memory/memory_flags.h"

#include <fmt/chrono.h>

#include <charconv>
#include <chrono>

#include "base/ascii.h"
#include "base/duration_text.h"
#include "base/system/folders.h"

namespace tokamak::cli {
namespace {

/// The number that `text` is as a whole.
std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return value;
}

std::optional<int64_t> seconds_of_date(std::string_view text) {
  if (text.size() != 10 && text.size() != 16) return {};
  const bool has_time = text.size() == 16;
  if (text[4] != '-' || text[7] != '-') return {};
  if (has_time && ((text[10] != 'T' && text[10] != ' ') || text[13] != ':')) return {};
  const auto year = whole_number(text.substr(0, 4)), month = whole_number(text.substr(5, 2));
  const auto day = whole_number(text.substr(8, 2));
  const auto hour = has_time ? whole_number(text.substr(11, 2)) : 0;
  const auto minute = has_time ? whole_number(text.substr(14, 2)) : 0;
  if (!year || !month || !day || !hour || !minute || *hour > 23 || *minute > 59) return {};
  if (*year < 0 || *month < 0 || *day < 0 || *hour < 0 || *minute < 0) return {};
  const std::chrono::year_month_day date = std::chrono::year(*year) /
                                           std::chrono::month(unsigned(*month)) /
                                           std::chrono::day(unsigned(*day));
  if (!date.ok()) return {};
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return int64_t{days.count()} * 86400 + *hour * 3600 + *minute * 60;
}

std::optional<int64_t> seconds_of_age(std::string_view text) {
  if (text.find_first_not_of("0123456789.") == text.npos)
    return {};  // a number alone may be a year
  const auto seconds = parse_seconds(text);
  return seconds ? std::optional(int64_t(*seconds)) : std::nullopt;
}

}  // namespace

void add_store(App& command, std::string& path) {
  command
      .add_option("--store", path,
                  "the file of the store; default: tokamak/memory.db below XDG_DATA_HOME or "
                  "~/.local/share")
      ->type_name("FILE")
      ->check(not_empty("a file"));
}

Result<std::string> store_path(const std::string& path) {
  if (!path.empty()) return path;
  const std::string folder = data_folder();
  if (!folder.empty()) return folder + "/memory.db";
  return fail(ErrorCode::kUsage,
              "Neither XDG_DATA_HOME nor HOME is set; --store FILE names the store.");
}

Result<memory::Store> open_store(const std::string& path) {
  TOK_TRY(const std::string file, store_path(path));
  return memory::Store::open(file);
}

void FilterFlags::add(App& command) {
  constexpr const char* kGroup = "Which documents";
  command
      .add_option("--source", source_,
                  "only those whose source fits, with * and ? as in a shell: '*.md'")
      ->type_name("PATTERN")
      ->check(not_empty("a pattern"))
      ->group(kGroup);
  command
      .add_option("--since", since_,
                  "only those added since then: a date as 2026-11-27, or so long ago as 30d, 12h")
      ->type_name("TIME")
      ->check(not_empty("a time"))
      ->group(kGroup);
  command.add_option("--before", before_, "only those added before that; 30d: older than 30 days")
      ->type_name("TIME")
      ->check(not_empty("a time"))
      ->group(kGroup);
  command.add_option("--meta", meta_, "only those with this NAME=VALUE (repeatable)")
      ->type_name("NAME=VALUE")
      ->group(kGroup);
}

Result<memory::Filter> FilterFlags::filter() const {
  memory::Filter filter{.ids = {}, .source = source_, .since = {}, .before = {}, .meta = {}};
  const int64_t now = now_seconds();
  const auto time = [&](const char* name, const std::string& text,
                        std::optional<int64_t>& out) -> Result<void> {
    if (text.empty()) return {};
    const auto seconds = parse_time(text, now);
    if (!seconds) return fail(ErrorCode::kUsage, "{} {}", name, seconds.error().message);
    out = *seconds;
    return {};
  };
  TOK_TRY(time("--since", since_, filter.since));
  TOK_TRY(time("--before", before_, filter.before));
  for (const std::string& one : meta_) {
    TOK_TRY(auto pair, parse_meta(one));
    filter.meta.push_back(std::move(pair));
  }
  return filter;
}

Result<int64_t> parse_time(const std::string& text, int64_t now) {
  if (const auto seconds = seconds_of_date(text)) return *seconds;
  if (const auto age = seconds_of_age(text)) return now - *age;
  return fail(
      ErrorCode::kUsage,
      "is \"{}\", expected a date as 2026-11-27 or 2026-11-27T18:00 (UTC), or how long ago: "
      "30d, 12h, 10m, 2w.",
      text);
}

std::string time_text(int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(std::time_t(seconds)));
}

std::string counted(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int64_t now_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

Result<std::pair<std::string, std::string>> parse_meta(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return fail(ErrorCode::kUsage, "--meta is \"{}\", expected NAME=VALUE.", text);
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<std::string> read_question(const std::vector<std::string>& words) {
  std::string question = fmt::format("{}", fmt::join(words, " "));
  if (words.empty()) {
    if (stdin_is_terminal()) note("The question, Ctrl-D at the end.\n");
    TOK_TRY(question, read_stdin());
  }
  if (!trimmed(question).empty()) return question;
  return fail(ErrorCode::kUsage, "The question is empty.");
}

}  // namespace tokamak::cli
