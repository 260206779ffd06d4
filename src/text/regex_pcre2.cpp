// Regex over PCRE2, in UTF mode with Unicode properties, compiled to machine code where PCRE2 can.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "text/regex.h"
#include "text/unicode.h"

namespace tokamak {
namespace {

constexpr size_t kMaxPatternBytes = 64 * 1024;

struct Escape {
  char letter;
  const char* outside;  // a character class of its own
  const char* inside;   // within [...]; null when there is no such spelling
};

constexpr char kWord[] = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";

// What differs: PCRE2's \s has U+180E, its \w has no marks and all of N; its \h is a blank, its \v
// any end of a line.
constexpr Escape kEscapes[] = {
    {'s', "\\p{White_Space}", "\\p{White_Space}"},
    {'S', "\\P{White_Space}", "\\P{White_Space}"},
    {'w', "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]", kWord},
    {'W', "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]", nullptr},
    {'v', "\\x0b", "\\x0b"},
    {'h', "[0-9A-Fa-f]", "0-9A-Fa-f"},
    {'H', "[^0-9A-Fa-f]", nullptr},
};

/// Between a character of a word and another one, or not: PCRE2's \b goes by its own \w.
std::string word_bound(bool is_bound) {
  return fmt::format("(?:(?<=[{0}])(?{1}[{0}])|(?<![{0}])(?{2}[{0}]))", kWord, is_bound ? "!" : "=",
                     is_bound ? "=" : "!");
}

/// The bytes of "{2}" or "{1,3}" at the start of `text`, or 0.
size_t interval_size(std::string_view text) {
  const size_t close = text.find('}');
  if (text.empty() || text[0] != '{' || close == text.npos || close == 1) return 0;
  const std::string_view inside = text.substr(1, close - 1);
  return inside.find_first_not_of("0123456789,") == inside.npos ? close + 1 : 0;
}

template <auto free_function>
struct Free {
  template <typename T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;

Code compile_pcre2(std::string_view text, int& error) {
  PCRE2_SIZE offset = 0;
  return Code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                            &error, &offset, nullptr));
}

/// The property that starts `text` in PCRE2's spelling, and its bytes in `text`; nothing when there
/// is none. A script has the characters of that script; to PCRE2 since 10.40, unless told so, also
/// those that scripts share.
struct Property {
  std::string spelling;
  size_t bytes;
};
std::optional<Property> read_property(std::string_view text) {
  if (!text.starts_with("\\p{") && !text.starts_with("\\P{")) return {};
  const size_t close = text.find('}');
  if (close == text.npos) return {};
  std::string_view name = text.substr(3, close - 3);
  const bool turned = name.starts_with('^');
  if (turned) name.remove_prefix(1);
  std::string script = fmt::format("{}{{{}sc:{}}}", text.substr(0, 2), turned ? "^" : "", name);
  int ignored = 0;
  if (compile_pcre2(script, ignored)) return Property{std::move(script), close + 1};
  return Property{std::string(text.substr(0, close + 1)), close + 1};
}

/// The bytes of "(?im-x:" or "(?i)" at the start of `text`, or 0.
size_t options_size(std::string_view text) {
  if (!text.starts_with("(?")) return 0;
  const size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", 2);
  return end == text.npos || end == 2 || (text[end] != ':' && text[end] != ')') ? 0 : end + 1;
}

/// `pattern` in PCRE2's spelling.
Result<std::string> to_pcre2(std::string_view pattern) {
  const auto refuse = [&](std::string_view what) {
    return unsupported("The regular expression \"{}\" uses {}, which is not supported.", pattern,
                       what);
  };
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const std::string_view rest = pattern.substr(i);
    if (const auto property = read_property(rest)) {
      out += property->spelling;
      i += property->bytes - 1;
      continue;
    }
    if (c == '\\' && rest.size() > 1) {
      const char letter = rest[1];
      const auto* escape = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                        [&](const Escape& e) { return e.letter == letter; });
      if (!in_class && (letter == 'b' || letter == 'B')) {
        out += word_bound(letter == 'b');
      } else if (escape == std::end(kEscapes)) {
        out += rest.substr(0, 2);
      } else if (!in_class) {
        out += escape->outside;
      } else if (escape->inside != nullptr) {
        out += escape->inside;
      } else {
        return refuse(std::string{'\\', letter} + " inside a character class");
      }
      ++i;
      continue;
    }
    if (in_class) {
      if (c == '[' && !rest.starts_with("[:")) return refuse("a nested character class");
      if (rest.starts_with("&&")) return refuse("an intersection of character classes");
      if (rest.starts_with("[:")) {
        const size_t close = rest.find(":]");
        if (close != rest.npos) {
          out += rest.substr(0, close + 2);
          i += close + 1;
          continue;
        }
      }
      if (c == ']') in_class = false;
    } else if (c == '[') {
      in_class = true;
      out += c;
      if (rest.size() > 1 && rest[1] == '^') {
        out += '^';
        ++i;
      }
      continue;
    } else if (const size_t size = interval_size(rest); size != 0) {
      if (rest.size() > size && rest[size] == '+') {
        return refuse("a repeated interval");  // greedy in Ruby, possessive in PCRE2
      }
      if (rest.starts_with("{,") && size > 3) {  // no interval to PCRE2 before 10.43
        out += "{0";
        continue;
      }
    } else if (const size_t whole = options_size(rest); whole != 0) {
      const std::string_view options = rest.substr(2, whole - 3);
      const size_t unknown = options.find_first_not_of("imx-");
      if (unknown != options.npos) return refuse(fmt::format("the option {}", options[unknown]));
      // There (?i) reaches over the "|" behind it, but not over those before it.
      if (rest[whole - 1] == ')' && i != 0) return refuse("options inside the expression");
      out += rest.substr(0, whole);
      std::replace(out.end() - ptrdiff_t(whole), out.end(), 'm', 's');  // "." has line ends, too
      i += whole - 1;
      continue;
    }
    out += c;
  }
  return out;
}

std::string error_text(int code) {
  PCRE2_UCHAR buffer[256] = {};
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return std::string(reinterpret_cast<const char*>(buffer));
}

}  // namespace

struct Regex::Compiled {
  std::string pattern;
  Code code;
  MatchContext context;
};

Regex::Regex(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return unsupported("A regular expression has {} bytes; at most {} are supported.",
                       pattern.size(), kMaxPatternBytes);
  }
  TOK_TRY(const std::string text, to_pcre2(pattern));
  int error = 0;
  Code code = compile_pcre2(text, error);
  if (!code) {
    return invalid_input("The regular expression \"{}\" does not compile: {}.", pattern,
                         error_text(error));
  }
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // failing that, it is interpreted
  MatchContext context(pcre2_match_context_create(nullptr));
  TOK_CHECK(context != nullptr);
  pcre2_set_match_limit(context.get(), kMaxSteps);
  pcre2_set_heap_limit(context.get(), 256 * 1024);  // KiB
  return Regex(
      std::make_unique<Compiled>(std::string(pattern), std::move(code), std::move(context)));
}

Result<void> Regex::find_all(std::string_view text, std::vector<TextRange>& matches) const {
  const MatchData found(pcre2_match_data_create(1, nullptr));
  TOK_CHECK(found != nullptr);
  const auto match = [&](size_t from, uint32_t options) {
    return pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                       text.size(), from, options | PCRE2_NO_UTF_CHECK, found.get(),
                       compiled_->context.get());
  };
  size_t from = 0;
  size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    int status = match(from, 0);
    if (status == PCRE2_ERROR_JIT_STACKLIMIT) status = match(from, PCRE2_NO_JIT);
    if (status == PCRE2_ERROR_NOMATCH) break;
    if (status < 0) {
      return invalid_input("The regular expression \"{}\" fails on a text of {} bytes: {}.",
                           compiled_->pattern, text.size(), error_text(status));
    }
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(found.get());
    const TextRange range{bounds[0], std::max(bounds[0], bounds[1])};  // \K may turn them around
    if (range.begin == range.end && range.end == last_end) {  // empty, right after the last match
      if (from >= text.size()) break;
      from = last_end + first_char(text.substr(last_end)).bytes;
      continue;
    }
    matches.push_back(range);
    from = last_end = range.end;
  }
  return {};
}

}  // namespace tokamak
