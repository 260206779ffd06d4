#include "memory/card_numbers.h"

#include <algorithm>

namespace tokamak::memory {
namespace {

constexpr size_t kMinDigits = 13, kMaxDigits = 19;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Networks give out numbers that begin with these.
bool may_begin(char c) {
  return c >= '2' && c <= '6';
}

/// Groups of digits with one blank or dash between neighbours.
struct Run {
  std::vector<TextRange> groups;
  size_t end = 0;
};

Run run_at(std::string_view text, size_t at) {
  Run run;
  for (;;) {
    size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    run.groups.push_back({at, end});
    run.end = end;
    const bool continues =
        end + 1 < text.size() && (text[end] == ' ' || text[end] == '-') && is_digit(text[end + 1]);
    if (!continues) return run;
    at = end + 1;
  }
}

}  // namespace

bool has_check_digit(std::string_view number) {
  int sum = 0;
  bool is_doubled = false;
  for (auto c = number.rbegin(); c != number.rend(); ++c) {
    if (!is_digit(*c)) continue;
    const int digit = (*c - '0') << int(is_doubled);
    sum += digit > 9 ? digit - 9 : digit;
    is_doubled = !is_doubled;
  }
  return sum % 10 == 0;
}

std::vector<TextRange> card_numbers(std::string_view text) {
  std::vector<TextRange> out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at])) continue;
    const Run run = run_at(text, at);
    // Other numbers may stand beside it: a card begins and ends where groups do.
    for (size_t first = 0; first < run.groups.size(); ++first) {
      size_t digits = 0, found = 0;
      for (size_t last = first; last < run.groups.size() && digits < kMaxDigits; ++last) {
        digits += run.groups[last].end - run.groups[last].begin;
        const size_t begin = run.groups[first].begin, end = run.groups[last].end;
        if (digits >= kMinDigits && digits <= kMaxDigits && may_begin(text[begin]) &&
            has_check_digit(text.substr(begin, end - begin))) {
          found = last + 1;  // the longest
        }
      }
      if (found == 0) continue;
      out.push_back({run.groups[first].begin, run.groups[found - 1].end});
      first = found - 1;
    }
    at = run.end;
  }
  return out;
}

}  // namespace tokamak::memory
