// Names that other programs have for things, and what they are here: for the messages about them.
#pragma once
#include <string_view>

namespace tokamak::cli {

/// A clause such as "threads are no setting"; "" for a name that nobody is known to use. `word`:
/// with its dashes, as "-ngl".
std::string_view foreign_option(std::string_view word);
std::string_view foreign_command(std::string_view word);

}  // namespace tokamak::cli
