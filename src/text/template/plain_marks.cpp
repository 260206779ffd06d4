#include "text/template/plain_marks.h"

#include <algorithm>

namespace tokamak {
namespace {

// DEL stands in hardly any text, and neither JSON nor HTML escapes it. Where a text has one, it
// gets a second byte, too.
constexpr char kMark = '\x7F';
constexpr char kPlain = '.', kItself = ':';

std::string marked(const std::string& text, const PlacesOf& places) {
  const std::vector<size_t> at = places(text);
  if (at.empty() && text.find(kMark) == std::string::npos) return text;
  std::string out;
  auto next = at.begin();
  for (size_t i = 0; i < text.size(); ++i) {
    if (next != at.end() && *next == i) {
      out += {kMark, kPlain};
      ++next;
    }
    out += text[i];
    if (text[i] == kMark) out += kItself;
  }
  return out;
}

}  // namespace

Json with_plain_marks(const Json& value, const PlacesOf& places) {
  if (value.is_string()) return marked(value.as_string(), places);
  if (value.is_array()) {
    Json::Array out;
    for (const Json& item : value.as_array()) out.push_back(with_plain_marks(item, places));
    return out;
  }
  if (!value.is_object()) return value;
  Json::Object out;
  for (const auto& [name, item] : value.as_object()) {
    out.emplace_back(marked(name, places), with_plain_marks(item, places));
  }
  return out;
}

PlainText without_plain_marks(std::string_view rendered) {
  PlainText out;
  for (size_t i = 0; i < rendered.size(); ++i) {
    const char after = i + 1 < rendered.size() ? rendered[i + 1] : '\0';
    const bool is_mark = rendered[i] == kMark && (after == kPlain || after == kItself);
    if (is_mark && after == kPlain) {
      out.plain_at.push_back(out.text.size());
    } else {
      out.text += rendered[i];
    }
    if (is_mark) ++i;
  }
  return out;
}

}  // namespace tokamak
