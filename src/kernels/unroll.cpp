#include "kernels/unroll.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace tokamak {
namespace {

constexpr std::string_view kMark = "{  // unroll";  // kUnrollMark

std::string_view line_at(std::string_view text, size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

/// The text between the two, "" when they are not there in this order.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const size_t start = line.find(before);
  if (start == line.npos) return "";
  const size_t end = line.find(after, start + before.size());
  return end == line.npos ? "" : line.substr(start + before.size(), end - start - before.size());
}

/// Reads "4", "4u" or the name of a constant, and nothing else: what is beyond is no part of it.
uint32_t rounds_of(std::string_view count, std::span<const Constant> constants) {
  const std::string_view digits = count.ends_with('u') ? count.substr(0, count.size() - 1) : count;
  uint32_t rounds = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, rounds);
  if (error == std::errc() && stop == end) return rounds;
  const auto constant = std::ranges::find(constants, count, &Constant::name);
  TOK_CHECK(constant != constants.end());
  const auto* value = std::get_if<uint32_t>(&constant->value);
  TOK_CHECK(value != nullptr);
  return *value;
}

}  // namespace

std::string unroll_loops(std::string_view text, std::span<const Constant> constants) {
  const size_t mark = text.find(kMark);
  if (mark == text.npos) return std::string(text);
  const size_t start = text.rfind('\n', mark) + 1;  // 0 in the first line
  const std::string_view head = line_at(text, start);
  const std::string_view indent = head.substr(0, head.find_first_not_of(' '));
  const std::string_view index = between(head, "for (var ", " = 0u;");
  const std::string_view count = between(head, " < ", ";");
  TOK_CHECK(!index.empty() && !count.empty());
  const size_t body_start = start + head.size() + 1;
  const std::string end_line = fmt::format("\n{}}}\n", indent);
  const size_t body_end = text.find(end_line, body_start - 1);
  TOK_CHECK(body_end != text.npos);
  const std::string body = unroll_loops(
      body_end < body_start ? "" : text.substr(body_start, body_end + 1 - body_start), constants);
  const uint32_t rounds = rounds_of(count, constants);
  std::string out(text.substr(0, start));
  const size_t limit = head.find(kUnrollLimit);
  const uint32_t most = limit == head.npos
                            ? kMaxRounds
                            : rounds_of(head.substr(limit + kUnrollLimit.size()), constants);
  if (rounds > most) {
    out += fmt::format("{}\n{}{}}}\n", head.substr(0, head.find("  //")), body, indent);
  } else {
    for (uint32_t round = 0; round < rounds; ++round) {
      out += fmt::format("{0}{{\n{0}  const {1} = {2}u;\n{3}{0}}}\n", indent, index, round, body);
    }
  }
  return out + unroll_loops(text.substr(body_end + end_line.size()), constants);
}

}  // namespace tokamak
