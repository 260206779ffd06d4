#include "kernels/unroll.h"

#include <charconv>

#include "base/check.h"

namespace tokamak {
namespace {

constexpr std::string_view kMark = "{  // unroll";  // kUnrollMark

std::string_view line_at(std::string_view text, size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

/// What stands between the two, "" when they are not there in this order.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const size_t start = line.find(before);
  if (start == line.npos) return "";
  const size_t end = line.find(after, start + before.size());
  return end == line.npos ? "" : line.substr(start + before.size(), end - start - before.size());
}

uint32_t rounds_of(std::string_view count, std::span<const Constant> constants) {
  uint32_t rounds = 0;
  if (std::from_chars(count.data(), count.data() + count.size(), rounds).ec == std::errc()) {
    return rounds;
  }
  for (const Constant& constant : constants) {
    if (constant.name == count) return std::get<uint32_t>(constant.value);
  }
  const bool is_known = false;
  TOK_CHECK(is_known);
  return 0;
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
