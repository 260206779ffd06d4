#include "serve/http/proxies.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/ascii.h"

namespace tokamak::serve {
namespace {

namespace ip = boost::asio::ip;

/// An IPv4 address that came by a socket for IPv6 is one of IPv4.
ip::address plain(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

/// An address as the fields have it: with a port or without, in brackets or in quotes.
std::optional<ip::address> address_in(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('"') && text.ends_with('"') && text.size() > 1) {
    text = text.substr(1, text.size() - 2);
  }
  if (text.starts_with('[')) {
    text = text.substr(1, text.find(']') - 1);
  } else if (std::ranges::count(text, ':') == 1) {
    text = text.substr(0, text.find(':'));
  }
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  return plain(address);
}

/// Splits a field at a mark that stands outside of quotes, from its end on: a client may leave a
/// quote open in front of what a proxy appends.
std::vector<std::string_view> split_unquoted(std::string_view text, char mark) {
  std::vector<std::string_view> out;
  bool is_quoted = false;
  size_t end = text.size();
  const auto is_escaped = [&](size_t at) {
    return (at - (text.substr(0, at).find_last_not_of('\\') + 1)) % 2 == 1;
  };
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == '"' && !is_escaped(i)) is_quoted = !is_quoted;
    if (is_quoted || text[i] != mark) continue;
    out.push_back(text.substr(i + 1, end - i - 1));
    end = i;
  }
  out.push_back(text.substr(0, end));
  std::ranges::reverse(out);
  return out;
}

/// The value of `for` in an element of Forwarded; unset where it has none.
std::optional<std::string_view> for_of(std::string_view element) {
  for (const std::string_view pair : split_unquoted(element, ';')) {
    const size_t equals = pair.find('=');
    if (equals == pair.npos) continue;
    if (ascii_lower(trimmed(pair.substr(0, equals))) == "for") return pair.substr(equals + 1);
  }
  return std::nullopt;
}

/// The addresses in all fields of that name, in the order in which proxies appended them; unset
/// where a proxy wrote something else, such as "unknown".
std::vector<std::optional<ip::address>> addresses_in(const RequestHead& head,
                                                     std::string_view name) {
  std::vector<std::optional<ip::address>> out;
  for (const Field& field : head.fields) {
    if (field.name != name) continue;
    if (name == "forwarded") {
      for (const std::string_view element : split_unquoted(field.value, ',')) {
        if (const auto address = for_of(element)) out.push_back(address_in(*address));
      }
      continue;
    }
    for (const auto part : std::views::split(std::string_view(field.value), ',')) {
      out.push_back(address_in({part.begin(), part.end()}));
    }
  }
  return out;
}

}  // namespace

Result<Proxies> Proxies::parse(const std::vector<std::string>& texts) {
  Proxies out;
  for (const std::string& text : texts) {
    boost::system::error_code error;
    const bool is_network = text.find('/') != text.npos;
    const bool is_v6 = text.find(':') != text.npos;
    if (is_v6) {
      out.v6_.push_back(ip::make_network_v6(is_network ? text : text + "/128", error));
    } else {
      out.v4_.push_back(ip::make_network_v4(is_network ? text : text + "/32", error));
    }
    if (error) {
      return fail(ErrorCode::kUsage,
                  "\"{}\" is no address of a proxy, expected one, or a network as 10.0.0.0/8.",
                  text);
    }
  }
  return out;
}

bool Proxies::contains(const ip::address& address) const {
  const ip::address own = plain(address);
  if (own.is_v4()) {
    return std::ranges::any_of(v4_, [&](const ip::network_v4& one) {
      return ip::network_v4(own.to_v4(), one.prefix_length()).canonical() == one.canonical();
    });
  }
  return std::ranges::any_of(v6_, [&](const ip::network_v6& one) {
    return ip::network_v6(own.to_v6(), one.prefix_length()).canonical() == one.canonical();
  });
}

std::string Proxies::client_of(const RequestHead& head, const std::string& remote) const {
  const auto peer = address_in(remote);
  if (!peer || !contains(*peer)) return remote;
  auto named = addresses_in(head, "x-forwarded-for");
  if (named.empty()) named = addresses_in(head, "forwarded");
  std::string client = remote;
  // From the nearest on: what stands before the word of a stranger is his.
  for (const auto& address : named | std::views::reverse) {
    if (!address) break;
    client = address->to_string();
    if (!contains(*address)) break;
  }
  return client;
}

}  // namespace tokamak::serve
