// Requests and answers of HTTP as the rest of the server sees them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokamak::serve {

/// A header field. In what was read the name is in lower case.
struct Field {
  std::string name, value;
};

struct RequestHead {
  std::string method, target;
  std::vector<Field> fields;  // in the order of the message
  bool keeps_alive = false, is_http_1_0 = false, expects_continue = false;
  std::optional<uint64_t> length;  // of the body, where the message says it

  /// The first field of that name, in lower case; null where there is none.
  const std::string* find(std::string_view name) const {
    for (const Field& field : fields) {
      if (field.name == name) return &field.value;
    }
    return nullptr;
  }
  /// The target without what stands after '?'.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";  // "": no body
  std::string body;
  std::vector<Field> fields = {};  // beside those of type, length, connection, date and request
  std::string_view keep_alive_text = {};  // for a stream that has no event; it stays where it is
};

/// A request on its way, from its last byte to the last one of its answer.
enum class CallId : uint64_t {};

}  // namespace tokamak::serve
