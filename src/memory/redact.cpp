#include "memory/redact.h"

#include <algorithm>

#include "memory/card_numbers.h"

namespace tokamak::memory {
namespace {

struct Known {
  Secret kind;
  bool is_value;
  std::string_view pattern;
};

/// The forms that the services document, and assignments to names that say what follows.
constexpr Known kKnown[] = {
    {Secret::kKey, false,
     R"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|(?![\s\S])))"},
    {Secret::kKey, false, R"(\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)"},
    {Secret::kKey, false,
     R"(\b(?:gh[oprsu]_|github_pat_|glpat-|hf_|xox[abeoprs]-)[A-Za-z0-9_-]{16,255})"},
    {Secret::kKey, false, R"(\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,255})"},
    {Secret::kKey, false, R"(\bAIza[0-9A-Za-z_-]{35})"},
    {Secret::kKey, false, R"(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+)"},
    {Secret::kKey, false, R"((?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*)"},
    {Secret::kKey, false, R"((?<=://)[^\s/:@]{1,64}:[^\s/@]{1,256}(?=@))"},
    {Secret::kKey, true,
     R"((?i)(?:passwor[dt]|passwd|passphrase|passwort|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token)["']?[ \t]*[:=][ \t]*["']?[^\s"',;]{6,})"},
    {Secret::kEmail, false,
     R"([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}\.[A-Za-z]{2,24}\b)"},
};

struct Found {
  TextRange range;
  Secret kind;
};

/// Without the name and the ':' or '=' before it.
TextRange value_of(std::string_view text, TextRange range) {
  const std::string_view all = text.substr(range.begin, range.end - range.begin);
  const size_t sign = all.find_first_of(":=");
  const size_t value = sign == all.npos ? sign : all.find_first_not_of(" \t\"'", sign + 1);
  return value == all.npos ? range : TextRange{range.begin + value, range.end};
}

}  // namespace

Result<Redactor> Redactor::make(const std::vector<std::string>& own,
                                const std::vector<Secret>& kept) {
  Redactor redactor;
  const auto is_kept = [&](Secret kind) { return std::ranges::find(kept, kind) != kept.end(); };
  redactor.finds_cards_ = !is_kept(Secret::kCard);
  for (const Known& known : kKnown) {
    if (is_kept(known.kind)) continue;
    TOK_TRY(Regex regex, Regex::compile(known.pattern));
    redactor.rules_.push_back({known.kind, std::move(regex), known.is_value, ""});
  }
  for (const std::string& pattern : own) {
    auto regex = Regex::compile(pattern);
    const std::string where = fmt::format("the expression \"{}\" to redact", pattern);
    if (!regex) return Failure(regex.error().within(where));
    std::vector<TextRange> empty;
    TOK_TRY(regex->find_all("", empty));
    if (!empty.empty()) {
      return fail(ErrorCode::kUsage, "{}: It matches an empty text, and so everywhere.", where);
    }
    redactor.rules_.push_back({Secret::kOwn, *std::move(regex), false, where});
  }
  return redactor;
}

Result<Redacted> Redactor::redact(std::string_view text) const {
  std::vector<Found> found;
  for (const Rule& rule : rules_) {
    std::vector<TextRange> ranges;
    const auto status = rule.regex.find_all(text, ranges);
    if (!status)
      return Failure(rule.own.empty() ? status.error() : status.error().within(rule.own));
    for (const TextRange& range : ranges) {
      if (range.begin == range.end) continue;
      found.push_back({rule.is_value ? value_of(text, range) : range, rule.kind});
    }
  }
  if (finds_cards_) {
    for (const TextRange& range : card_numbers(text)) found.push_back({range, Secret::kCard});
  }
  std::ranges::stable_sort(found, {}, [](const Found& one) { return one.range.begin; });
  Redacted out;
  size_t at = 0;  // all before it is decided
  for (const Found& one : found) {
    if (one.range.begin >= at) {
      out.text += text.substr(at, one.range.begin - at);
      out.text += kRedacted;
      ++out.counts[size_t(one.kind)];
    }
    at = std::max(at, one.range.end);
  }
  out.text += text.substr(at);
  return out;
}

}  // namespace tokamak::memory
