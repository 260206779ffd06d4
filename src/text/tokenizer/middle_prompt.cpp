#include "text/tokenizer/middle_prompt.h"

#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

/// How a family spells the three tokens; without `middle` the text before the gap comes last.
struct Spelling {
  std::string_view before, after, middle;
};
constexpr Spelling kSpellings[] = {
    {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},     // Qwen, CodeGemma, Granite 4
    {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},           // StarCoder, Granite 3
    {"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},           // SantaCoder
    {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"},     // DeepSeek
    {"<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"},  // GLM
    {"[PREFIX]", "[SUFFIX]", ""},                               // Codestral
};

constexpr std::string_view kEnds[] = {"<|fim_pad|>",        "<|file_sep|>", "<|repo_name|>",
                                      "<|file_separator|>", "<fim_pad>",    "<file_sep>",
                                      "<reponame>"};

}  // namespace

Result<MiddlePrompt> middle_prompt(const Tokenizer& tokenizer, std::string_view before,
                                   std::string_view after) {
  for (const Spelling& spelling : kSpellings) {
    const auto id_before = tokenizer.token_to_id(spelling.before);
    const auto id_after = tokenizer.token_to_id(spelling.after);
    const auto id_middle = tokenizer.token_to_id(spelling.middle);
    const bool has_middle = !spelling.middle.empty();
    if (!id_before || !id_after || (has_middle && !id_middle)) continue;
    MiddlePrompt out;
    TOK_TRY(out.ids, tokenizer.encode(""));  // what the model wants in front of any text
    const auto add = [&](uint32_t token, std::string_view text) -> Result<void> {
      TOK_TRY(const auto ids,
              tokenizer.encode(text, {.add_special = false, .parse_special = false}));
      out.ids.push_back(token);
      out.ids.insert(out.ids.end(), ids.begin(), ids.end());
      return {};
    };
    if (!has_middle) TOK_TRY(add(*id_after, after));
    TOK_TRY(add(*id_before, before));
    if (has_middle) TOK_TRY(add(*id_after, after));
    if (has_middle) out.ids.push_back(*id_middle);
    for (const std::string_view end : kEnds) {
      if (const auto id = tokenizer.token_to_id(end)) out.end_ids.push_back(*id);
    }
    return out;
  }
  return unsupported(
      "The model cannot fill a gap between two texts: its tokenizer has no tokens for that, such "
      "as {} and {}.",
      kSpellings[0].before, kSpellings[0].after);
}

}  // namespace tokamak
