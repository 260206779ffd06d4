#include "serve/access_log.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/json.h"
#include "base/system/calendar.h"
#include "base/utf8.h"

namespace tokamak::serve {
namespace {

constexpr size_t kMaxQuoted = 100;

/// A client's text in a line: cut, and without what a terminal would obey.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxQuoted)) {
    const auto byte = uint8_t(c);
    out += byte > 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out.empty() ? "-" : out;
}

std::string time_text(double unix_seconds) {
  const std::tm parts = utc_time(std::time_t(unix_seconds)).value_or(std::tm{});
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, int(std::fmod(unix_seconds, 1.0) * 1000));
}

}  // namespace

std::string log_line(const Answered& answered, LogFormat format, double unix_seconds) {
  const double milliseconds = std::round(answered.seconds * 1e5) / 100;
  if (format == LogFormat::kOff) return "";
  if (format == LogFormat::kText) {
    return fmt::format("{} {} {} {} {} {} bytes {} ms {}\n", time_text(unix_seconds),
                       answered.remote, printable(answered.method), printable(answered.path),
                       answered.status, answered.bytes, milliseconds, answered.request_id);
  }
  return Json(Json::Object{{"time", time_text(unix_seconds)},
                           {"remote", answered.remote},
                           {"method", printable(answered.method)},
                           {"path", printable(answered.path)},
                           {"status", answered.status},
                           {"bytes", answered.bytes},
                           {"milliseconds", milliseconds},
                           {"request_id", answered.request_id}})
             .dump() +
         "\n";
}

std::string message_line(std::string_view text, LogFormat format, double unix_seconds) {
  if (format != LogFormat::kJson) return std::string(text);
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string_view level = "info";
  for (const std::string_view word : {"note", "warning", "error"}) {
    const std::string_view rest = text.substr(std::min(word.size(), text.size()));
    if (!text.starts_with(word) || !rest.starts_with(": ")) continue;
    level = word;
    text = rest.substr(2);
    break;
  }
  return Json(Json::Object{{"time", time_text(unix_seconds)}, {"level", level}, {"message", text}})
             .dump() +
         "\n";
}

}  // namespace tokamak::serve
