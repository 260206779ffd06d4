// Regex over PCRE2, in UTF mode with Unicode properties, compiled to machine code where PCRE2 can.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "base/check.h"
#include "text/tokenizer/oniguruma.h"
#include "text/tokenizer/regex.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr size_t kMaxPatternBytes = 64 * 1024;

// PCRE2 limits the steps of one match and does not tell how many it took. A match is tried under
// the first limit and, where that is exceeded, under the next, so that the sum of the limits beyond
// the first bounds the steps of a text.
constexpr uint32_t kStepLimits[] = {1'000,     8'000,      64'000,      512'000,
                                    4'096'000, 32'768'000, 262'144'000, 2'097'152'000};

template <auto free_function>
struct Free {
  template <typename T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;

Code compile_pcre2(std::string_view text, int& error) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  TOK_CHECK(context != nullptr);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);  // whatever the library was built for
  PCRE2_SIZE offset = 0;
  return Code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                            &error, &offset, context.get()));
}

bool knows_property(const std::string& name) {
  int ignored = 0;
  return compile_pcre2("\\p{" + name + "}", ignored) != nullptr;
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
  std::vector<MatchContext> contexts;  // one for each of kStepLimits

  /// Looks for the first match from byte `from` on. `steps_left` is what the text may still take.
  int match(std::string_view text, size_t from, pcre2_match_data* found,
            uint64_t& steps_left) const;
};

int Regex::Compiled::match(std::string_view text, size_t from, pcre2_match_data* found,
                           uint64_t& steps_left) const {
  int status = PCRE2_ERROR_MATCHLIMIT;
  for (size_t i = 0; i < contexts.size() && status == PCRE2_ERROR_MATCHLIMIT; ++i) {
    if (i > 0) {
      if (kStepLimits[i] > steps_left) break;
      steps_left -= kStepLimits[i];
    }
    const auto run = [&](uint32_t options) {
      return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         options | PCRE2_NO_UTF_CHECK, found, contexts[i].get());
    };
    status = run(0);
    if (status == PCRE2_ERROR_JIT_STACKLIMIT) status = run(PCRE2_NO_JIT);
  }
  return status;
}

Regex::Regex(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return unsupported("A regular expression has {} bytes; at most {} are supported.",
                       pattern.size(), kMaxPatternBytes);
  }
  TOK_TRY(const std::string text, oniguruma_to_pcre2(pattern, knows_property));
  int error = 0;
  Code code = compile_pcre2(text, error);
  if (!code) {
    return unsupported("The regular expression \"{}\" is not supported: {}.", pattern,
                       error_text(error));
  }
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // failing that, it is interpreted
  std::vector<MatchContext> contexts;
  for (const uint32_t limit : kStepLimits) {
    MatchContext& context = contexts.emplace_back(pcre2_match_context_create(nullptr));
    TOK_CHECK(context != nullptr);
    pcre2_set_match_limit(context.get(), limit);
    pcre2_set_heap_limit(context.get(), 256 * 1024);  // KiB
  }
  return Regex(
      std::make_unique<Compiled>(std::string(pattern), std::move(code), std::move(contexts)));
}

Result<void> Regex::find_all(std::string_view text, std::vector<TextRange>& matches) const {
  const MatchData found(pcre2_match_data_create(1, nullptr));
  TOK_CHECK(found != nullptr);
  uint64_t steps_left = max_steps(text.size());
  size_t from = 0;
  size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    const int status = compiled_->match(text, from, found.get(), steps_left);
    if (status == PCRE2_ERROR_NOMATCH) break;
    if (status == PCRE2_ERROR_MATCHLIMIT) {
      return invalid_input(
          "The regular expression \"{}\" needs too many steps on a text of {} bytes: the limit is "
          "{} for each byte and {} more.",
          compiled_->pattern, text.size(), max_steps(1) - max_steps(0), max_steps(0));
    }
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
