#include "serve/access.h"

#include <algorithm>

#include "base/ascii.h"

namespace tokamak::serve {
namespace {

constexpr std::string_view kBearer = "bearer ";

bool equals_in_any_case(std::string_view a, std::string_view b) {
  return ascii_lower(a) == ascii_lower(b);
}

/// Looks at every byte whatever it finds: how long it takes tells nothing of where they differ.
bool equals_in_constant_time(std::string_view shown, std::string_view key) {
  volatile uint8_t differs = shown.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < shown.size(); ++i) {
    differs = uint8_t(differs | (uint8_t(shown[i]) ^ uint8_t(key[i % key.size()])));
  }
  return differs == 0;
}

std::string_view shown_key(const RequestHead& head) {
  if (const std::string* field = head.find("authorization")) {
    const std::string_view text = *field;
    const bool is_bearer =
        text.size() > kBearer.size() && equals_in_any_case(text.substr(0, kBearer.size()), kBearer);
    if (is_bearer) return trimmed(text.substr(kBearer.size()));
  }
  const std::string* field = head.find("x-api-key");
  return field == nullptr ? std::string_view() : trimmed(*field);
}

/// "[::1]:8080" -> "[::1]"
std::string_view without_port(std::string_view host) {
  const size_t bracket = host.find(']');
  if (bracket != host.npos) return host.substr(0, bracket + 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

std::optional<size_t> Access::key_of(const RequestHead& head) const {
  const std::string_view shown = shown_key(head);
  std::optional<size_t> found;
  for (size_t i = 0; i < rules_.keys.size(); ++i) {
    if (equals_in_constant_time(shown, rules_.keys[i])) found = i;
  }
  return found;
}

bool Access::is_host_right(const RequestHead& head) const {
  const std::string* field = head.find("host");
  if (!rules_.checks_host || field == nullptr) return true;
  const std::string_view host = without_port(*field);
  for (const std::string_view own : {"localhost", "127.0.0.1", "[::1]"}) {
    if (equals_in_any_case(host, own)) return true;
  }
  return std::ranges::any_of(
      rules_.hosts, [&](const std::string& other) { return equals_in_any_case(host, other); });
}

std::vector<Field> Access::origin_fields(const RequestHead& head) const {
  const std::string* origin = head.find("origin");
  if (origin == nullptr || rules_.origins.empty()) return {};
  const bool is_any = std::ranges::find(rules_.origins, "*") != rules_.origins.end();
  const bool is_named = std::ranges::find(rules_.origins, *origin) != rules_.origins.end();
  if (!is_any && !is_named) return {{"Vary", "Origin"}};
  std::vector<Field> fields = {{"Access-Control-Allow-Origin", is_any ? "*" : *origin},
                               {"Access-Control-Expose-Headers", "x-request-id, retry-after"}};
  if (!is_any) fields.push_back({"Vary", "Origin"});
  if (head.method != "OPTIONS") return fields;
  fields.push_back({"Access-Control-Allow-Methods", "GET, HEAD, POST"});
  const std::string* wanted = head.find("access-control-request-headers");
  if (wanted != nullptr) fields.push_back({"Access-Control-Allow-Headers", *wanted});
  fields.push_back({"Access-Control-Max-Age", "600"});
  return fields;
}

Result<std::vector<std::string>> keys_in(std::string_view text) {
  std::vector<std::string> keys;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && !line.starts_with('#')) keys.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (keys.empty()) return invalid_input("There is no key in it, expected one in each line.");
  return keys;
}

}  // namespace tokamak::serve
