// The services of the page beside WebGPU, files and texts: it gets progress, may end the work, and
// keeps small notes between visits.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tokamak::web {

/// Tells the page: "progress" {phase, done, total}, "notice" {text}.
void tell(std::string_view kind, const Json& what);
void notice(std::string_view text);

/// Gives the page samples of the sound with that number, which follow those before.
void play(uint32_t id, std::span<const float> samples);

/// Whether the page wants the call in flight to end.
bool cancelled();

/// A text that the page has kept under a name; nothing where there is none.
std::optional<std::string> read_note(std::string_view name);
void write_note(std::string_view name, std::string_view text);

}  // namespace tokamak::web
