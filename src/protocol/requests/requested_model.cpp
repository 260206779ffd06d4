#include "protocol/requests/requested_model.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "protocol/requests/multipart.h"

namespace tokamak::protocol {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
/// More is as much: clocks count nanoseconds, and would overflow.
constexpr double kYear = 365.0 * 24 * 3600;

/// The end of the text that begins with the quote at `at`, after its last quote; npos: none.
size_t end_of_text(std::string_view json, size_t at) {
  ++at;
  while ((at = json.find_first_of("\"\\", at)) < json.size()) {
    if (json[at] == '"') return at + 1;
    at += 2;  // with what is escaped
  }
  return json.npos;
}

/// "1h30m" in seconds, as Go's time.ParseDuration reads it; without a unit seconds.
std::optional<double> seconds_of(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double all = 0;
  while (!text.empty()) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (read.ec != std::errc() || !(number >= 0)) return std::nullopt;
    text.remove_prefix(size_t(read.ptr - text.data()));
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
    const auto* found =
        std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
    if (found == std::end(kUnits) && !(unit.empty() && all == 0)) return std::nullopt;
    all += number * (unit.empty() ? 1 : found->second);
    text.remove_prefix(unit.size());
  }
  return is_negative ? -all : all;
}

/// "" where the request names none.
std::string asked_for(const HttpRequest& request, const Route& route) {
  if (route.action == Action::kModel) return asked_model(request.path);
  if (route.action == Action::kTranscribe || route.action == Action::kTranslate) {
    const auto parts = read_form(request.content_type, request.body);
    const FormPart* part = parts ? find_part(*parts, "model") : nullptr;
    return part == nullptr ? "" : std::string(part->content);
  }
  const auto name = Json::parse(member_text(request.body, "model"));
  return name && name->is_string() ? name->as_string() : "";
}

}  // namespace

bool is_name_of(std::string_view asked, const ModelNames& names) {
  constexpr std::string_view kLatest = ":latest";
  std::string_view plain = asked;
  if (plain.ends_with(kLatest)) plain.remove_suffix(kLatest.size());
  return std::ranges::any_of(names,
                             [&](const auto& name) { return name == asked || name == plain; });
}

ApiError unknown_model(std::string_view asked, std::span<const ModelNames> models) {
  std::string known;
  for (const ModelNames& names : models) {
    for (const std::string& name : names) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", quoted(name));
    }
  }
  return {.status = 404,
          .message = fmt::format("There is no model {}, but {}.", quoted(asked), known),
          .param = "model",
          .code = "model_not_found"};
}

std::string_view member_text(std::string_view object, std::string_view name) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::string_view found, key;
  uint32_t depth = 0;
  bool is_key = false;
  size_t begin = 0;  // of the value in flight
  for (size_t at = 0; at < object.size();) {
    const char c = object[at];
    if (c == '"') {
      const size_t end = end_of_text(object, at);
      if (end == object.npos) return {};
      if (depth == 1 && is_key) key = object.substr(at + 1, end - at - 2);
      at = end;
      continue;
    }
    if (c == '{' || c == '[') {
      if (++depth == 1) is_key = c == '{';
    } else if (c == ':' && depth == 1) {
      is_key = false;
      begin = at + 1;
    } else if (c == '}' || c == ']' || (c == ',' && depth == 1)) {
      if (depth == 1 && !is_key && key == name) {
        found = object.substr(begin, at - begin);
        found.remove_prefix(std::min(found.find_first_not_of(kSpace), found.size()));
        found = found.substr(0, found.find_last_not_of(kSpace) + 1);
      }
      is_key = c == ',';
      if (c != ',' && (depth == 0 || --depth == 0)) return found;
    }
    ++at;
  }
  return {};
}

Answer<std::optional<double>> read_keep_alive(const Json& value) {
  if (value.is_null()) return std::nullopt;
  std::optional<double> seconds;
  if (value.is_number()) seconds = value.as_number();
  if (value.is_string()) seconds = seconds_of(value.as_string());
  if (!seconds) {
    return wrong("keep_alive", "keep_alive is {}, expected seconds or a duration such as \"5m\".",
                 quoted(value));
  }
  return std::optional(*seconds >= 0 ? std::min(*seconds, kYear) : kForever);
}

Answer<RequestedModel> requested_model(const HttpRequest& request,
                                       std::span<const ModelNames> models) {
  RequestedModel out;
  TOK_TRY(out.route, find_route(request));
  const std::string asked = asked_for(request, *out.route);
  if (!asked.empty()) {
    const auto found = std::ranges::find_if(
        models, [&](const ModelNames& names) { return is_name_of(asked, names); });
    if (found != models.end()) {
      out.model = size_t(found - models.begin());
    } else if (models.size() > 1) {  // the service of one alone says so where it matters
      return Refusal(unknown_model(asked, models));
    }
  }
  if (out.route->dialect == Dialect::kOllama) {
    if (const auto value = Json::parse(member_text(request.body, "keep_alive"))) {
      TOK_TRY(out.keep_seconds, read_keep_alive(*value));
    }
  }
  return out;
}

}  // namespace tokamak::protocol
