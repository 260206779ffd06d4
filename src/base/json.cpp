#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>

#include "base/check.h"

namespace tokamak {
namespace {

/// Builds a Json from the library's parse events, so that no exception and no second document
/// exist.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(int64_t value) override { return add(Json(value)); }
  // An integer that does not fit is a number, and no integer to those who ask for one: others need
  // not care, as for the 10^30 that "model_max_length" is in many a tokenizer_config.json.
  bool number_unsigned(uint64_t value) override {
    return add(value > uint64_t(INT64_MAX) ? Json(double(value)) : Json(int64_t(value)));
  }
  bool number_float(double value, const std::string& spelling) override {
    if (!std::isfinite(value)) {
      return stop(fmt::format("The number {} is out of range.", spelling.substr(0, 40)));
    }
    return add(Json(value));
  }
  bool string(std::string& value) override { return add(Json(std::move(value))); }
  bool binary(nlohmann::json::binary_t&) override { return stop("Binary values are not JSON."); }
  bool start_object(size_t) override { return open(Json(Json::Object{})); }
  bool key(std::string& name) override {
    names_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(Json(Json::Array{})); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::json::exception&) override {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const size_t line = 1 + size_t(std::count(before.begin(), before.end(), '\n'));
    const size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    const size_t column = before.size() - line_start + 1;
    std::string shown;
    for (const char c : token.substr(0, 20)) shown += (c >= 0x20 && c < 0x7f) ? c : '?';
    message_ =
        position > text_.size()
            ? fmt::format("The JSON text ends too early, at line {} column {}.", line, column)
            : fmt::format("The JSON text is malformed at line {} column {}, near \"{}\".", line,
                          column, shown);
    return false;
  }

  std::optional<std::string> message_;
  Json root_;

 private:
  bool stop(std::string message) {
    message_ = std::move(message);
    return false;
  }
  bool add(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Json& parent = stack_.back();
    if (parent.is_array()) {
      parent.as_array().push_back(std::move(value));
    } else {
      parent.as_object().emplace_back(std::move(names_.back()), std::move(value));
    }
    return true;
  }
  bool open(Json container) {
    if (stack_.size() >= Json::kMaxDepth) {
      return stop(fmt::format("The JSON text nests deeper than {} levels.", Json::kMaxDepth));
    }
    stack_.push_back(std::move(container));
    names_.emplace_back();
    return true;
  }
  bool close() {
    Json done = std::move(stack_.back());
    stack_.pop_back();
    names_.pop_back();
    return add(std::move(done));
  }

  std::string_view text_;
  std::vector<Json> stack_;
  std::vector<std::string> names_;
};

void write_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (uint8_t(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", uint8_t(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void new_line(std::string& out, uint32_t indent, uint32_t depth) {
  if (indent == 0) return;
  out += '\n';
  out.append(size_t{indent} * depth, ' ');
}

void write(std::string& out, const Json& value, uint32_t indent, uint32_t depth) {
  const std::string_view comma = indent == 0 ? ", " : ",";
  switch (value.kind()) {
    case Json::Kind::kNull:
      out += "null";
      return;
    case Json::Kind::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Json::Kind::kInteger:
      out += fmt::format("{}", value.as_integer());
      return;
    case Json::Kind::kNumber:
      out += std::isfinite(value.as_number()) ? fmt::format("{}", value.as_number()) : "null";
      return;
    case Json::Kind::kString:
      write_string(out, value.as_string());
      return;
    case Json::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Json& item : value.as_array()) {
        if (!first) out += comma;
        first = false;
        new_line(out, indent, depth + 1);
        write(out, item, indent, depth + 1);
      }
      if (!first) new_line(out, indent, depth);
      out += ']';
      return;
    }
    case Json::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const auto& [name, member] : value.as_object()) {
        if (!first) out += comma;
        first = false;
        new_line(out, indent, depth + 1);
        write_string(out, name);
        out += ": ";
        write(out, member, indent, depth + 1);
      }
      if (!first) new_line(out, indent, depth);
      out += '}';
      return;
    }
  }
}

/// Of a Json or a const one.
auto last_member(auto& json, std::string_view name) -> decltype(&json) {
  if (!json.is_object()) return nullptr;
  for (auto& [key, value] : std::views::reverse(json.as_object())) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

Result<Json> Json::parse(std::string_view text) {
  if (text.empty()) return invalid_input("The JSON text is empty.");
  Builder builder(text);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    return std::move(builder.root_);
  }
  TOK_CHECK(builder.message_.has_value());
  return invalid_input("{}", *builder.message_);
}

const Json* Json::find(std::string_view name) const {
  return last_member(*this, name);
}

Json* Json::find(std::string_view name) {
  return last_member(*this, name);
}

Json& Json::set(std::string name, Json value) {
  if (is_null()) value_ = Object{};
  as_object().emplace_back(std::move(name), std::move(value));
  return *this;
}

std::string Json::dump(uint32_t indent) const {
  std::string out;
  write(out, *this, indent, 0);
  return out;
}

std::string_view kind_name(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return "a boolean";
    case Json::Kind::kInteger:
      return "an integer";
    case Json::Kind::kNumber:
      return "a number";
    case Json::Kind::kString:
      return "a string";
    case Json::Kind::kArray:
      return "an array";
    case Json::Kind::kObject:
      return "an object";
  }
  return "nothing";
}

}  // namespace tokamak
