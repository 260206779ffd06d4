#include "text/template/format.h"

#include <algorithm>

#include "text/template/attributes.h"
#include "text/template/format_value.h"
#include "text/template/print.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

// Wider fields make no sense in a prompt; the memory limit would stop them too, but later.
constexpr uint32_t kMaxWidth = 100'000'000;

class PercentFormat {
 public:
  PercentFormat(Runtime& runtime, std::string_view format, const Value& values)
      : runtime_(runtime), format_(format), values_(values) {
    if (values.is_sequence() && values.as_sequence().is_tuple()) {
      listed_ = values.as_sequence().items;
    } else {
      listed_ = {values};
    }
  }

  Result<std::string> run() {
    std::string out;
    TOK_TRY(runtime_.spend_reading(format_.size()));
    while (at_ < format_.size()) {
      const size_t next = std::min(format_.find('%', at_), format_.size());
      out += format_.substr(at_, next - at_);
      at_ = next + 1;
      if (next == format_.size()) break;
      if (peek() == '%') {
        out += '%';
        ++at_;
        continue;
      }
      TOK_TRY(const std::string shown, conversion());
      out += shown;
      TOK_TRY(runtime_.check_room(out.size()));
    }
    if (used_ < listed_.size() && !named_ && !values_.is_dict()) {
      return invalid_input("not all arguments converted during string formatting");
    }
    return out;
  }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  Result<Value> next_value() {
    if (used_ >= listed_.size()) return invalid_input("not enough arguments for format string");
    return listed_[used_++];
  }

  Result<std::string> conversion() {
    FormatSpec spec;
    std::optional<Value> value;
    if (peek() == '(') {
      const size_t end = format_.find(')', at_);
      if (end == format_.npos) return invalid_input("incomplete format key");
      if (!values_.is_dict()) return invalid_input("format requires a mapping");
      const std::string_view name = format_.substr(at_ + 1, end - at_ - 1);
      const Value* found = values_.as_dict().find(name);
      if (found == nullptr) return invalid_input("there is no key '{}' to format", name);
      value = *found;
      named_ = true;
      at_ = end + 1;
    }
    bool zeros = false;
    for (;; ++at_) {
      const char flag = peek();
      if (flag == '-') {
        spec.align = '<';
      } else if (flag == '0') {
        zeros = true;
      } else if (flag == '+') {
        spec.sign = '+';
      } else if (flag == ' ') {
        if (spec.sign != '+') spec.sign = ' ';
      } else if (flag == '#') {
        spec.alternate = true;
      } else {
        break;
      }
    }
    TOK_TRY(spec.width, take_count(format_, at_, kMaxWidth));
    if (peek() == '.') {
      ++at_;
      TOK_TRY(spec.precision, take_count(format_, at_, kMaxPrecision));
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    if (at_ >= format_.size()) return invalid_input("incomplete format");
    spec.type = format_[at_++];
    if (!value) {
      TOK_TRY(value, next_value());
    }
    if (zeros && spec.align == '\0' && value->is_number() && spec.type != 's') {
      spec.fill = "0";
      spec.align = '=';
    }
    if (spec.align == '\0') spec.align = '>';
    return convert(*value, spec);
  }

  Result<std::string> convert(const Value& value, FormatSpec spec) {
    switch (spec.type) {
      case 's':
        return format_value(runtime_, value, spec);
      case 'r':
      case 'a': {
        TOK_TRY(std::string text, to_repr(runtime_, value));
        spec.type = 's';
        return format_value(runtime_, Value::text(&text), spec);
      }
      case 'c': {
        std::string text;
        if (value.is_text() && character_count(value.as_text()) == 1) {
          text = value.as_text();
        } else if (value.is_integer() && value.as_integer() >= 0 && value.as_integer() < 0xd800) {
          append_utf8(text, char32_t(value.as_integer()));
        } else {
          return invalid_input("%c requires int or char");
        }
        spec.type = 's';
        return format_value(runtime_, Value::text(&text), spec);
      }
      case 'i':
      case 'u':
        spec.type = 'd';
        return format_value(runtime_, value, spec);
      case 'd':
      case 'x':
      case 'X':
      case 'o':
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
        return format_value(runtime_, value, spec);
      default:
        return invalid_input("unsupported format character at index {}", at_ - 1);
    }
  }

  Runtime& runtime_;
  std::string_view format_;
  const Value& values_;
  std::vector<Value> listed_;
  size_t used_ = 0;
  size_t at_ = 0;
  bool named_ = false;
};

class BraceFormat {
 public:
  BraceFormat(Runtime& runtime, std::string_view format, const Arguments& arguments)
      : runtime_(runtime), format_(format), arguments_(arguments) {}

  Result<std::string> run() {
    std::string out;
    TOK_TRY(runtime_.spend_reading(format_.size()));
    while (at_ < format_.size()) {
      const char c = format_[at_++];
      if ((c == '{' || c == '}') && at_ < format_.size() && format_[at_] == c) {
        out += c;
        ++at_;
      } else if (c == '{') {
        TOK_TRY(const std::string shown, field());
        out += shown;
        TOK_TRY(runtime_.check_room(out.size()));
      } else if (c == '}') {
        return invalid_input("Single '}}' encountered in format string");
      } else {
        out += c;
      }
    }
    return out;
  }

 private:
  /// "name.attribute[index]!r:spec" and the closing brace.
  Result<std::string> field() {
    const size_t end = format_.find('}', at_);
    if (end == format_.npos) return invalid_input("expected '}}' before end of string");
    const std::string_view all = format_.substr(at_, end - at_);
    if (all.find('{') != all.npos) {
      return invalid_input("Fields inside of format fields are not supported.");
    }
    at_ = end + 1;
    const size_t colon = std::min(all.find(':'), all.size());
    const size_t bang = std::min(all.substr(0, colon).find('!'), colon);
    TOK_TRY(const Value value, lookup(all.substr(0, bang)));
    TOK_TRY(const FormatSpec spec,
            parse_spec(colon < all.size() ? all.substr(colon + 1) : std::string_view()));
    if (bang == colon) {
      TOK_TRY(check_integer(value, spec));
      return format_value(runtime_, value, spec);
    }
    const std::string_view conversion = all.substr(bang + 1, colon - bang - 1);
    if (conversion != "s" && conversion != "r") {
      return invalid_input("Unknown conversion specifier '{}'", conversion);
    }
    TOK_TRY(const std::string text,
            conversion == "s" ? to_str(runtime_, value) : to_repr(runtime_, value));
    return format_value(runtime_, Value::text(&text), spec);
  }

  /// The checks that only integers inside braces need.
  Result<void> check_integer(const Value& value, const FormatSpec& spec) {
    if (!value.is_integer() || (spec.type != '\0' && !is_integer_type(spec.type))) return {};
    if (spec.precision) return invalid_input("Precision not allowed in integer format specifier");
    if (spec.grouping == ',' && spec.type != '\0' && spec.type != 'd') {
      return invalid_input("Cannot specify ',' with '{}'.", spec.type);
    }
    return {};
  }

  Result<Value> lookup(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    TOK_TRY(Value value, argument(path.substr(0, end)));
    for (size_t at = end; at < path.size();) {
      const bool is_index = path[at] == '[';
      const size_t stop =
          is_index ? path.find(']', at) : std::min(path.find_first_of(".[", at + 1), path.size());
      if (stop == path.npos) return invalid_input("Missing ']' in format string");
      const std::string part(path.substr(at + 1, stop - at - 1));
      size_t digits = 0;
      if (is_index && !part.empty() && part.find_first_not_of("0123456789") == part.npos) {
        TOK_TRY(const uint32_t index, take_count(part, digits, kMaxWidth));
        TOK_TRY(value, get_item(runtime_, value, Value::integer(index)));
      } else if (is_index) {
        TOK_TRY(value, get_item(runtime_, value, Value::text(&part)));
      } else {
        TOK_TRY(value, get_attribute(runtime_, value, part));
      }
      at = stop + (is_index ? 1 : 0);
    }
    return value;
  }

  Result<Value> argument(std::string_view name) {
    size_t at = 0;
    size_t index = 0;
    if (name.empty()) {
      index = automatic_++;
    } else if (name[0] >= '0' && name[0] <= '9') {
      TOK_TRY(index, take_count(name, at, kMaxWidth));
    } else {
      for (const auto& [given, value] : arguments_.named) {
        if (given == name) return value;
      }
      return invalid_input("there is no argument '{}' to format", name);
    }
    if (index >= arguments_.positional.size()) {
      return invalid_input("Replacement index {} out of range for positional args tuple", index);
    }
    return arguments_.positional[index];
  }

  /// [[fill]align][sign][#][0][width][,][.precision][type]
  Result<FormatSpec> parse_spec(std::string_view text) {
    static constexpr std::string_view kAligns = "<>^=";
    FormatSpec spec;
    size_t at = 0;
    const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
    const auto is_align = [&](size_t place) {
      return place < text.size() && kAligns.find(text[place]) != kAligns.npos;
    };
    if (!text.empty()) {
      const size_t second = next_character(text, 0);
      if (is_align(second)) {
        spec.fill = text.substr(0, second);
        spec.align = text[second];
        at = second + 1;
      } else if (is_align(0)) {
        spec.align = text[at++];
      }
    }
    if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text[at++];
    if (peek() == '#') {
      spec.alternate = true;
      ++at;
    }
    if (peek() == '0') {
      if (spec.align == '\0') {
        spec.fill = "0";
        spec.align = '=';
      }
      ++at;
    }
    TOK_TRY(spec.width, take_count(text, at, kMaxWidth));
    if (peek() == ',' || peek() == '_') spec.grouping = text[at++];
    if (peek() == '.') {
      ++at;
      TOK_TRY(spec.precision, take_count(text, at, kMaxPrecision));
    }
    if (at < text.size()) spec.type = text[at++];
    if (at != text.size()) return invalid_input("Invalid format specifier '{}'", text);
    return spec;
  }

  Runtime& runtime_;
  std::string_view format_;
  const Arguments& arguments_;
  size_t automatic_ = 0;
  size_t at_ = 0;
};

}  // namespace

Result<std::string> percent_format(Runtime& runtime, std::string_view format, const Value& values) {
  return PercentFormat(runtime, format, values).run();
}

Result<std::string> brace_format(Runtime& runtime, std::string_view format,
                                 const Arguments& arguments) {
  return BraceFormat(runtime, format, arguments).run();
}

}  // namespace tokamak::jinja
