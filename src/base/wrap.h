// Text in a limited number of columns. Every character counts as one column.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

/// The width of help, tables and facts, so that they can be read beside something else and sent in
/// a mail.
inline constexpr size_t kScreenColumns = 100;

/// The columns that `text` takes: its characters.
size_t columns_of(std::string_view text);

/// Lines of at most `columns`, broken at spaces; a longer word has a line of its own. At least one
/// line.
std::vector<std::string> wrapped(std::string_view text, size_t columns);

/// `word` in at most `columns`, at least 4: what is longer loses its middle, because names differ
/// at both ends: "model.la...j.weight".
std::string shortened(std::string_view word, size_t columns);

}  // namespace tokamak
