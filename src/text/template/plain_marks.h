// Which special tokens of a rendered prompt are the template's own.
//
// A template mixes its text with that of messages, and trims, splits and joins it on the way. So
// every place of a message's text that could become a special token gets a mark before it is
// rendered; the marks come out with the text around them, and are taken out again. Texts that spell
// no special token have none, and templates see them as they are.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tokamak {

/// Ascending places in a text, such as Tokenizer::special_places().
using PlacesOf = std::function<std::vector<size_t>(std::string_view text)>;

/// `value` with marks in all its texts and names of members.
Json with_plain_marks(const Json& value, const PlacesOf& places);

struct PlainText {
  std::string text;
  std::vector<size_t> plain_at;  // where the marks were; for EncodeOptions
};

PlainText without_plain_marks(std::string_view rendered);

}  // namespace tokamak
