#include "protocol/openai/opaque_reasoning.h"

#include <span>

#include "base/base64.h"
#include "base/utf8.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kPrefix = "tokamak-1.";

}  // namespace

std::string opaque_reasoning(std::string_view text) {
  return std::string(kPrefix) + base64_of(std::as_bytes(std::span(text)));
}

std::optional<std::string> reasoning_of_opaque(std::string_view opaque) {
  if (!opaque.starts_with(kPrefix)) return std::nullopt;
  const auto bytes = bytes_of_base64(opaque.substr(kPrefix.size()));
  if (!bytes) return std::nullopt;
  std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (!is_valid_utf8(text)) return std::nullopt;
  return text;
}

}  // namespace tokamak::protocol
