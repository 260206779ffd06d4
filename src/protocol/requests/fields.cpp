#include "protocol/requests/fields.h"

#include <cmath>

#include "base/utf8.h"

namespace tokamak::protocol {
namespace {

// 2^53, what a number of JavaScript holds: a range that goes so far has no end for messages.
constexpr double kMaxInteger = 9007199254740992;
constexpr uint32_t kMaxDepth = 128;

bool is_kind(const Json& value, const Field& field) {
  return (field.kinds >> uint8_t(value.kind()) & 1) != 0;
}

bool is_within(double value, const Field& field) {
  return value >= field.min && value <= field.max;  // so that NaN is not
}

/// Writes the value where it belongs; false where it is not what the field expects.
struct Writer {
  Fields& out;
  const Field& field;
  const Json& value;

  bool operator()(std::optional<bool> Fields::* member) const {
    if (!value.is_bool()) return false;
    out.*member = value.as_bool();
    return true;
  }
  bool operator()(std::optional<int64_t> Fields::* member) const {
    if (!value.is_number() || !is_within(value.as_number(), field)) return false;
    if (value.as_number() != std::floor(value.as_number())) return false;
    out.*member = value.is_integer() ? value.as_integer() : int64_t(value.as_number());
    return true;
  }
  bool operator()(std::optional<double> Fields::* member) const {
    if (!value.is_number() || !is_within(value.as_number(), field)) return false;
    out.*member = value.as_number();
    return true;
  }
  bool operator()(std::optional<std::string> Fields::* member) const {
    if (!value.is_string() || !is_within(double(value.as_string().size()), field)) return false;
    out.*member = value.as_string();
    return true;
  }
  bool operator()(Json Fields::* member) const {
    // PHP writes [] for an object without members.
    const bool is_empty_object = value.is_array() && value.as_array().empty() &&
                                 is_kind(Json::Object{}, field) && !is_kind(value, field);
    if (!is_empty_object && !is_kind(value, field)) return false;
    out.*member = is_empty_object ? Json(Json::Object{}) : value;
    return true;
  }
};

/// Whether the value is as good as none.
bool changes_nothing(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kBool:
      return !value.as_bool();
    case Json::Kind::kInteger:
    case Json::Kind::kNumber:
      return value.as_number() == 0;
    case Json::Kind::kString:
      return value.as_string().empty();
    case Json::Kind::kArray:
      return value.as_array().empty();
    case Json::Kind::kObject:
      return value.as_object().empty();
    default:
      return value.is_null();
  }
}

Answer<void> read_field(Fields& out, const Field& field, const Json& value) {
  if (!std::visit(Writer{out, field, value}, field.member)) {
    return wrong(field.name, "{} is {}, expected {}.", field.name, quoted(value),
                 expected_of(field));
  }
  if (field.is_unsupported && !changes_nothing(value)) {
    return wrong(field.name, "{} is {}, but this server does not support it yet: leave it out.",
                 field.name, quoted(value));
  }
  return {};
}

uint32_t depth_of(const Json& value) {
  uint32_t deepest = 0;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) deepest = std::max(deepest, depth_of(item));
    return deepest + 1;
  }
  if (!value.is_object()) return 0;
  for (const auto& [name, item] : value.as_object()) deepest = std::max(deepest, depth_of(item));
  return deepest + 1;
}

struct ExpectedWords {
  const Field& field;

  std::string range(std::string_view what) const {
    if (field.max >= kMaxInteger && field.min <= -kMaxInteger) return std::string(what);
    if (field.max >= kMaxInteger) return fmt::format("{} from {} on", what, field.min);
    return fmt::format("{} from {} to {}", what, field.min, field.max);
  }
  std::string operator()(std::optional<bool> Fields::*) const { return "true or false"; }
  std::string operator()(std::optional<int64_t> Fields::*) const { return range("a whole number"); }
  std::string operator()(std::optional<double> Fields::*) const { return range("a number"); }
  std::string operator()(std::optional<std::string> Fields::*) const {
    if (!field.expected.empty()) return std::string(field.expected);
    if (field.max >= kMaxInteger) return "a text";
    return fmt::format("a text of {} to {} bytes", field.min, field.max);
  }
  std::string operator()(Json Fields::*) const { return std::string(field.expected); }
};

}  // namespace

std::string expected_of(const Field& field) {
  return std::visit(ExpectedWords{field}, field.member);
}

Answer<void> read_members(const Json& object, Endpoint endpoint, Fields& out) {
  for (const Field& field : fields()) {
    if ((field.endpoints & endpoint) == 0) continue;
    const Json* value = object.find(field.name);
    if (value == nullptr || value->is_null()) continue;
    TOK_TRY(read_field(out, field, *value));
  }
  return {};
}

Answer<Fields> read_fields(std::string_view body, Endpoint endpoint) {
  if (!is_valid_utf8(body)) return wrong("", "The body is not valid UTF-8.");
  const auto parsed = Json::parse(body);
  if (!parsed) return Refusal(api_error(parsed.error().within("The body is no JSON")));
  if (!parsed->is_object()) {
    return wrong("", "The body is {}, expected a JSON object.", kind_name(parsed->kind()));
  }
  if (depth_of(*parsed) > kMaxDepth) {
    return wrong("", "The body nests more than {} lists and objects.", kMaxDepth);
  }
  Fields out;
  TOK_TRY(read_members(*parsed, endpoint, out));
  return out;
}

}  // namespace tokamak::protocol
