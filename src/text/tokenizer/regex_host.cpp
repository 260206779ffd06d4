// Regex over the expressions of the host, for the browser build
// (docs/decisions/0004-browser-build.md).
//
// The host gets the pattern as tokenizer.json spells it and rewrites it for its RegExp, with the
// flags "gmu"; offsets are bytes of the UTF-8 text on both sides. It has no limit on steps: a
// pattern that runs away is stopped with the worker it runs in.
#include <array>
#include <cstdint>

#include "text/tokenizer/regex.h"

namespace tokamak {
namespace {

extern "C" {
/// A handle above 0; or 0, and at most `capacity` bytes of the reason, ended by a zero, in
/// `reason`.
__attribute__((import_module("text"), import_name("regex_compile"))) uint32_t
tokamak_regex_compile(const char* pattern, size_t bytes, char* reason, size_t capacity);
/// Writes begin and end of each match to `bounds`; the number of matches.
__attribute__((import_module("text"), import_name("regex_find_all"))) size_t tokamak_regex_find_all(
    uint32_t handle, const char* text, size_t bytes, uint32_t* bounds, size_t capacity);
__attribute__((import_module("text"), import_name("regex_release"))) void tokamak_regex_release(
    uint32_t handle);
}

}  // namespace

struct Regex::Compiled {
  explicit Compiled(uint32_t host_handle) : handle(host_handle) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { tokamak_regex_release(handle); }

  uint32_t handle;
};

Regex::Regex(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern) {
  std::array<char, 256> reason = {};
  const uint32_t handle =
      tokamak_regex_compile(pattern.data(), pattern.size(), reason.data(), reason.size() - 1);
  if (handle == 0) {
    return invalid_input("The regular expression \"{}\" does not compile: {}.", pattern,
                         std::string_view(reason.data()));
  }
  return Regex(std::make_unique<Compiled>(handle));
}

Result<void> Regex::find_all(std::string_view text, std::vector<TextRange>& matches) const {
  // At most one match, possibly empty, begins at each byte and at the end.
  std::vector<uint32_t> bounds(2 * (text.size() + 1));
  const size_t count = tokamak_regex_find_all(compiled_->handle, text.data(), text.size(),
                                              bounds.data(), text.size() + 1);
  for (size_t i = 0; i < count && i <= text.size(); ++i) {
    const TextRange range{bounds[2 * i], bounds[2 * i + 1]};
    if (range.begin > range.end || range.end > text.size()) {
      return invalid_input("The host reports a match from byte {} to {} in a text of {} bytes.",
                           range.begin, range.end, text.size());
    }
    matches.push_back(range);
  }
  return {};
}

}  // namespace tokamak
