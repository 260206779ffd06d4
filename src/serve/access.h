// Who may ask for what: keys, the Host that a client asked for, the pages whose scripts may ask.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/http/message.h"

namespace tokamak::serve {

struct AccessRules {
  std::vector<std::string> keys;  // none: everyone may ask
  /// On an address that only this machine reaches: a page of the web whose name its owner lets
  /// point there would be of the same origin otherwise (DNS rebinding).
  bool checks_host = false;
  std::vector<std::string> hosts;    // that are right besides those of this machine
  std::vector<std::string> origins;  // "https://name", or "*": whose scripts may ask
};

class Access {
 public:
  explicit Access(AccessRules rules) : rules_(std::move(rules)) {}

  bool has_keys() const { return !rules_.keys.empty(); }
  void set_keys(std::vector<std::string> keys) { rules_.keys = std::move(keys); }
  /// Which of the keys the request shows, in `Authorization: Bearer` or `x-api-key`. Takes the same
  /// time for every wrong key of a length.
  std::optional<size_t> key_of(const RequestHead& head) const;
  bool is_host_right(const RequestHead& head) const;
  /// Whether a browser sent it for a page that is neither this server's own nor of an origin that
  /// may ask. Programs send neither Origin nor Sec-Fetch-Site
  /// (docs/decisions/0060-foreign-pages.md).
  bool is_foreign_page(const RequestHead& head) const;
  /// The fields of CORS for the answer; none where the request is not from a page that may ask.
  std::vector<Field> origin_fields(const RequestHead& head) const;

 private:
  bool is_allowed_host(std::string_view host) const;

  AccessRules rules_;
};

/// One key a line; empty lines and those that begin with '#' do not count. Errors: no key.
Result<std::vector<std::string>> keys_in(std::string_view text);

}  // namespace tokamak::serve
