#include "serve/access.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/ascii.h"

namespace tokamak::serve {
namespace {

constexpr std::string_view kBearer = "bearer ";

bool equals_in_any_case(std::string_view a, std::string_view b) {
  return ascii_lower(a) == ascii_lower(b);
}

/// Looks at every byte whatever it finds: how long it takes shows nothing of where they differ.
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

/// The host of "host:port" without its brackets, "[::1]:8080" -> "::1"; "" where it is none.
std::string_view host_of(std::string_view text) {
  std::string_view host = text.substr(0, text.find(':'));
  std::string_view rest = text.substr(host.size());
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos) return {};
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  }
  const bool has_port =
      rest.starts_with(':') && rest.find_first_not_of("0123456789", 1) == rest.npos;
  return rest.empty() || has_port ? host : std::string_view();
}

/// A name of this machine that no other machine can take for itself.
bool is_this_machine(std::string_view host) {
  if (equals_in_any_case(host, "localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  return !error && address.is_loopback();
}

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

std::string_view value_of(const RequestHead& head, std::string_view name) {
  const std::string* value = head.find(name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
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
  const std::string_view host = host_of(*field);
  return is_this_machine(host) || is_allowed_host(host);
}

bool Access::is_allowed_host(std::string_view host) const {
  return !host.empty() && std::ranges::any_of(rules_.hosts, [&](const std::string& other) {
    return equals_in_any_case(host, other);
  });
}

bool Access::is_foreign_page(const RequestHead& head) const {
  const std::string_view site = value_of(head, "sec-fetch-site");
  if (site == "same-origin" || contains(rules_.origins, "*")) return false;
  const std::string* origin = head.find("origin");
  if (origin == nullptr) {
    // A link to the page of this server is no request by a script.
    const bool is_link = head.method == "GET" && value_of(head, "sec-fetch-mode") == "navigate";
    return site == "cross-site" && !is_link;
  }
  if (contains(rules_.origins, *origin)) return false;
  const std::string_view all = *origin;
  const bool is_web = all.starts_with("http://") || all.starts_with("https://");
  // "null" is what pages without an origin have; all else are programs and extensions.
  if (!is_web) return all == "null";
  const std::string_view authority = all.substr(all.find("://") + 3);
  return !equals_in_any_case(authority, value_of(head, "host")) &&
         !is_allowed_host(host_of(authority));
}

std::vector<Field> Access::origin_fields(const RequestHead& head) const {
  const std::string* origin = head.find("origin");
  if (origin == nullptr || rules_.origins.empty()) return {};
  const bool is_any = contains(rules_.origins, "*");
  if (!is_any && !contains(rules_.origins, *origin)) return {{"Vary", "Origin"}};
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
