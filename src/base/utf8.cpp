#include "base/utf8.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {
namespace {

enum class SequenceKind : uint8_t { kValid, kInvalid, kIncomplete };
struct Sequence {
  size_t bytes;
  SequenceKind kind;
};

/// The sequence that starts `text`: a character, a maximal ill-formed subpart, or a cut character.
Sequence next_sequence(std::string_view text) {
  const uint8_t lead = uint8_t(text[0]);
  if (lead < 0x80) return {1, SequenceKind::kValid};
  if (lead < 0xC2 || lead > 0xF4) return {1, SequenceKind::kInvalid};
  const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte is narrower after these leads: no overlong forms, surrogates, or > U+10FFFF.
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < size; ++i) {
    if (i == text.size()) return {i, SequenceKind::kIncomplete};
    const uint8_t byte = uint8_t(text[i]);
    if (byte < low || byte > high) return {i, SequenceKind::kInvalid};
    low = 0x80;
    high = 0xBF;
  }
  return {size, SequenceKind::kValid};
}

}  // namespace

Utf8Char first_char(std::string_view text) {
  TOK_CHECK(!text.empty());
  const auto byte = [&](size_t i) { return char32_t(uint8_t(text[i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const Sequence sequence = next_sequence(text);
  if (sequence.kind != SequenceKind::kValid) return {kReplacementChar, uint32_t(sequence.bytes)};
  const auto tail = [&](size_t i) { return byte(i) & 0x3Fu; };
  if (lead < 0xE0) return {(lead & 0x1Fu) << 6 | tail(1), 2};
  if (lead < 0xF0) return {(lead & 0x0Fu) << 12 | tail(1) << 6 | tail(2), 3};
  return {(lead & 0x07u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}

Utf8Char last_char(std::string_view text) {
  TOK_CHECK(!text.empty());
  size_t start = text.size() - 1;
  while (start > 0 && (uint8_t(text[start]) & 0xC0u) == 0x80u) --start;
  const Utf8Char last = first_char(text.substr(start));
  return start + last.bytes == text.size() ? last : Utf8Char{kReplacementChar, 1};
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&](char32_t byte) { out += char(uint8_t(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0u | value >> 6);
    put(0x80u | (value & 0x3Fu));
  } else if (value < 0x10000) {
    put(0xE0u | value >> 12);
    put(0x80u | (value >> 6 & 0x3Fu));
    put(0x80u | (value & 0x3Fu));
  } else {
    put(0xF0u | value >> 18);
    put(0x80u | (value >> 12 & 0x3Fu));
    put(0x80u | (value >> 6 & 0x3Fu));
    put(0x80u | (value & 0x3Fu));
  }
}

std::string_view utf8_prefix(std::string_view text, size_t bytes) {
  const auto continues = [&](size_t at) { return (uint8_t(text[at]) & 0xC0) == 0x80; };
  size_t end = std::min(text.size(), bytes);
  while (end > 0 && end < text.size() && continues(end)) --end;
  return text.substr(0, end);
}

bool is_ascii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return uint8_t(c) < 0x80; });
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Sequence sequence = next_sequence(bytes);
    if (sequence.kind != SequenceKind::kValid) return false;
    bytes.remove_prefix(sequence.bytes);
  }
  return true;
}

std::string repair_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  Utf8Repair repair;
  repair.push(bytes, out);
  repair.finish(out);
  return out;
}

void Utf8Repair::push(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!pending_.empty()) {
    joined = std::move(pending_);
    joined += bytes;
    bytes = joined;
    pending_.clear();
  }
  while (!bytes.empty()) {
    const Sequence sequence = next_sequence(bytes);
    if (sequence.kind == SequenceKind::kIncomplete) {
      pending_ = std::string(bytes);
      return;
    }
    if (sequence.kind == SequenceKind::kValid) {
      out += bytes.substr(0, sequence.bytes);
    } else {
      append_utf8(out, kReplacementChar);
    }
    bytes.remove_prefix(sequence.bytes);
  }
}

void Utf8Repair::finish(std::string& out) {
  if (!pending_.empty()) append_utf8(out, kReplacementChar);
  pending_.clear();
}

}  // namespace tokamak
