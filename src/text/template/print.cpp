#include "text/template/print.h"

#include <algorithm>
#include <cmath>

#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

// Only a namespace can contain itself; this many levels through namespaces are printed.
constexpr uint32_t kMaxPrintDepth = kMaxValueDepth + 20;

void append_quoted(std::string& out, std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  out += quote;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const char32_t c = take_character(text, at);
    if (c == char32_t(quote) || c == '\\') {
      out += '\\';
      out += char(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      out += text.substr(start, at - start);
    } else if (c < 0x100) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", uint32_t(c));
    } else if (c < 0x10000) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", uint32_t(c));
    } else {
      fmt::format_to(std::back_inserter(out), "\\U{:08x}", uint32_t(c));
    }
  }
  out += quote;
}

class Writer {
 public:
  explicit Writer(Runtime& runtime) : runtime_(runtime) {}

  /// One value was reached: is there room for what is written so far?
  Result<void> step(uint32_t depth) {
    if (depth > kMaxPrintDepth) return invalid_input("The value to print contains itself.");
    TOK_TRY(runtime_.spend_reading(out.size() - counted_));
    counted_ = out.size();
    return runtime_.check_room(out.size());
  }

  std::string out;
  Runtime& runtime_;

 private:
  size_t counted_ = 0;
};

class ReprWriter : public Writer {
 public:
  using Writer::Writer;

  Result<void> write(const Value& value, uint32_t depth) {
    TOK_TRY(step(depth));
    switch (value.kind()) {
      case Kind::kUndefined:
        out += "Undefined";
        break;
      case Kind::kNone:
        out += "None";
        break;
      case Kind::kBool:
        out += value.as_bool() ? "True" : "False";
        break;
      case Kind::kInteger:
        out += fmt::format("{}", value.as_integer());
        break;
      case Kind::kBigInteger:
        out += value.as_digits();
        break;
      case Kind::kFloat:
        out += float_repr(value.as_number());
        break;
      case Kind::kText:
        append_quoted(out, value.as_text());
        break;
      case Kind::kSequence:
        return sequence(value.as_sequence(), depth);
      case Kind::kDict:
        return dict(value.as_dict(), depth);
      case Kind::kNamespace:
        out += "<Namespace ";
        TOK_TRY(dict(value.as_namespace().attributes, depth));
        out += '>';
        break;
      case Kind::kLoop:
        out += fmt::format("<LoopContext {}/{}>", value.as_loop().index + 1,
                           value.as_loop().items.size());
        break;
      case Kind::kCallable:
        out += value.as_callable().macro != nullptr ? "<Macro '" : "<function '";
        out += value.as_callable().name;
        out += "'>";
        break;
    }
    return {};
  }

 private:
  Result<void> sequence(const Sequence& value, uint32_t depth) {
    switch (value.form) {
      case Sequence::Form::kList:
        return items(value, depth, "[", "]");
      case Sequence::Form::kTuple:
      case Sequence::Form::kGroup:
        return items(value, depth, "(", value.items.size() == 1 ? ",)" : ")");
      case Sequence::Form::kKeys:
        return items(value, depth, "dict_keys([", "])");
      case Sequence::Form::kValues:
        return items(value, depth, "dict_values([", "])");
      case Sequence::Form::kItems:
        return items(value, depth, "dict_items([", "])");
      case Sequence::Form::kGenerator:
        out += "<generator object>";
        return {};
      case Sequence::Form::kRange:
        break;
    }
    const int64_t first = value.items.empty() ? 0 : value.items[0].as_integer();
    const int64_t step_size = value.items.size() < 2 ? 1 : value.items[1].as_integer() - first;
    const int64_t stop = first + step_size * int64_t(value.items.size());
    out += step_size == 1 ? fmt::format("range({}, {})", first, stop)
                          : fmt::format("range({}, {}, {})", first, stop, step_size);
    return {};
  }

  Result<void> items(const Sequence& value, uint32_t depth, std::string_view open,
                     std::string_view close) {
    out += open;
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += ", ";
      TOK_TRY(write(value.items[i], depth + 1));
    }
    out += close;
    return {};
  }

  Result<void> dict(const Dict& value, uint32_t depth) {
    out += '{';
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += ", ";
      TOK_TRY(write(value.items[i].first, depth + 1));
      out += ": ";
      TOK_TRY(write(value.items[i].second, depth + 1));
    }
    out += '}';
    return {};
  }
};

class JsonWriter : public Writer {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : Writer(runtime), style_(style) {}

  Result<void> write(const Value& value, uint32_t depth) {
    TOK_TRY(step(depth));
    switch (value.kind()) {
      case Kind::kNone:
        out += "null";
        return {};
      case Kind::kBool:
        out += value.as_bool() ? "true" : "false";
        return {};
      case Kind::kInteger:
        out += fmt::format("{}", value.as_integer());
        return {};
      case Kind::kBigInteger:
        out += value.as_digits();
        return {};
      case Kind::kFloat:
        number(value.as_number());
        return {};
      case Kind::kText:
        quoted(value.as_text());
        return {};
      case Kind::kDict:
        return dict(value.as_dict(), depth);
      case Kind::kSequence:
        if (value.as_sequence().is_list() || value.as_sequence().is_tuple()) {
          return list(value.as_sequence(), depth);
        }
        break;
      case Kind::kUndefined:
      case Kind::kNamespace:
      case Kind::kLoop:
      case Kind::kCallable:
        break;
    }
    return invalid_input("Object of type {} is not JSON serializable.", value.type_name());
  }

 private:
  void number(double value) {
    if (std::isnan(value)) {
      out += "NaN";
    } else if (std::isinf(value)) {
      out += value > 0 ? "Infinity" : "-Infinity";
    } else {
      out += float_repr(value);
    }
  }

  void escaped(uint32_t unit) { fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit); }

  void quoted(std::string_view text) {
    static constexpr std::string_view kShort = "\"\\\n\r\t\f\b";
    static constexpr std::string_view kLetters = "\"\\nrtfb";
    out += '"';
    for (size_t at = 0; at < text.size();) {
      const size_t start = at;
      const char32_t c = take_character(text, at);
      const size_t place = c < 0x80 ? kShort.find(char(c)) : kShort.npos;
      if (place != kShort.npos) {
        out += '\\';
        out += kLetters[place];
      } else if (c < 0x20 || (style_.ascii_only && c >= 0x7f && c < 0x10000)) {
        escaped(uint32_t(c));
      } else if (style_.ascii_only && c >= 0x10000) {
        escaped(0xd800 + ((uint32_t(c) - 0x10000) >> 10));
        escaped(0xdc00 + ((uint32_t(c) - 0x10000) & 0x3ff));
      } else {
        out += text.substr(start, at - start);
      }
    }
    out += '"';
  }

  Result<void> new_line(uint32_t depth) {
    if (!style_.indent) return {};
    TOK_TRY(runtime_.check_room(out.size() + style_.indent->size() * depth));
    out += '\n';
    for (uint32_t i = 0; i < depth; ++i) out += *style_.indent;
    return {};
  }

  Result<void> list(const Sequence& value, uint32_t depth) {
    out += '[';
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += style_.item_separator;
      TOK_TRY(new_line(depth + 1));
      TOK_TRY(write(value.items[i], depth + 1));
    }
    if (!value.items.empty()) TOK_TRY(new_line(depth));
    out += ']';
    return {};
  }

  Result<void> key(const Value& value) {
    if (value.is_text()) {
      quoted(value.as_text());
      return {};
    }
    out += '"';
    TOK_TRY(write(value, 0));
    out += '"';
    return {};
  }

  Result<void> dict(const Dict& value, uint32_t depth) {
    std::vector<std::pair<Value, Value>> sorted;
    const std::vector<std::pair<Value, Value>>* items = &value.items;
    if (style_.sort_keys) {
      TOK_TRY(runtime_.spend_steps(value.items.size() * 16));
      sorted = value.items;
      for (const auto& item : sorted) {
        if (!item.first.is_text()) return invalid_input("Only texts can be sorted as keys.");
      }
      std::ranges::sort(
          sorted, {}, [](const auto& item) -> const std::string& { return item.first.as_text(); });
      items = &sorted;
    }
    out += '{';
    bool first = true;
    for (const auto& [name, item] : *items) {
      if (!first) out += style_.item_separator;
      first = false;
      TOK_TRY(new_line(depth + 1));
      TOK_TRY(key(name));
      out += style_.key_separator;
      TOK_TRY(write(item, depth + 1));
    }
    if (!first) TOK_TRY(new_line(depth));
    out += '}';
    return {};
  }

  const JsonStyle& style_;
};

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

Result<std::string> to_repr(Runtime& runtime, const Value& value) {
  ReprWriter writer(runtime);
  TOK_TRY(writer.write(value, 0));
  return std::move(writer.out);
}

Result<std::string> to_str(Runtime& runtime, const Value& value) {
  if (value.is_undefined()) return std::string();
  if (!value.is_text()) return to_repr(runtime, value);
  TOK_TRY(runtime.spend_reading(value.as_text().size()));
  return value.as_text();
}

Result<std::string> to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  JsonWriter writer(runtime, style);
  TOK_TRY(writer.write(value, 0));
  return std::move(writer.out);
}

}  // namespace tokamak::jinja
