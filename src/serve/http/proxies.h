// Proxies: the addresses of proxies whose word for the address of a client counts.
#pragma once
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/http/message.h"

namespace tokamak::serve {

class Proxies {
 public:
  /// `texts`: addresses, and networks as 10.0.0.0/8. Errors: a text that is neither.
  static Result<Proxies> parse(const std::vector<std::string>& texts);

  bool empty() const { return v4_.empty() && v6_.empty(); }
  bool contains(const boost::asio::ip::address& address) const;
  /// The address that the proxies in front of `remote` name: the last one in X-Forwarded-For, or in
  /// Forwarded where that is missing, which is none of theirs. `remote` itself where it is no proxy
  /// or the field names none.
  std::string client_of(const RequestHead& head, const std::string& remote) const;

 private:
  std::vector<boost::asio::ip::network_v4> v4_;
  std::vector<boost::asio::ip::network_v6> v6_;
};

}  // namespace tokamak::serve
