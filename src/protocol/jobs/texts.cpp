#include "protocol/jobs/texts.h"

#include <algorithm>

namespace tokamak::protocol {

Answer<std::vector<uint32_t>> token_ids(const Json& list, std::string_view field, uint32_t vocab) {
  std::vector<uint32_t> ids;
  for (const Json& id : list.as_array()) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= vocab) {
      return wrong(field, "{} has {}, expected token ids from 0 to {}.", field, quoted(id),
                   vocab - 1);
    }
    ids.push_back(uint32_t(id.as_integer()));
  }
  return ids;
}

Answer<Texts> texts_of(const Json& value, std::string_view field, uint32_t vocab, size_t most) {
  Texts out;
  if (value.is_null()) return wrong(field, "{} is missing.", field);
  if (value.is_string()) {
    out.texts.push_back(value.as_string());
    return out;
  }
  const Json::Array& list = value.as_array();
  if (list.empty()) return wrong(field, "{} is an empty list.", field);
  if (list.front().is_number()) {
    TOK_TRY(auto ids, token_ids(value, field, vocab));
    out.ids.push_back(std::move(ids));
    return out;
  }
  if (list.size() > most) {
    return wrong(field, "{} has {} entries, expected at most {}.", field, list.size(), most);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const Json& one = list[i];
    if (one.is_string() && out.ids.empty()) {
      out.texts.push_back(one.as_string());
    } else if (one.is_array() && !one.as_array().empty() && out.texts.empty()) {
      TOK_TRY(auto ids, token_ids(one, fmt::format("{}[{}]", field, i), vocab));
      out.ids.push_back(std::move(ids));
    } else {
      return wrong(field, "{}[{}] is {}, expected only texts or only lists of token ids.", field, i,
                   quoted(one));
    }
  }
  return out;
}

}  // namespace tokamak::protocol
