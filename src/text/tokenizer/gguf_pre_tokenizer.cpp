// The regular expressions are those of the models' tokenizer.json; which names share one is a fact
// of llama.cpp (src/llama-vocab.cpp; convert_hf_to_gguf.py tells models apart by what their
// tokenizers make of one test text).
#include "text/tokenizer/gguf_pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <span>

#include "text/tokenizer/byte_level.h"

namespace tokamak {
namespace {

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SYMBOLS_AND_BLANKS R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"

constexpr std::string_view kLlama3 =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})" SYMBOLS_AND_BLANKS;
constexpr std::string_view kQwen2 =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})" SYMBOLS_AND_BLANKS;
constexpr std::string_view kQwen35 =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)"
                 R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLongNumbers =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+)" SYMBOLS_AND_BLANKS;
constexpr std::string_view kSeedCoder =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)"
                 R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" CONTRACTIONS
    "?"
    R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" CONTRACTIONS
    "?"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER
    "+"
    R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER
    "*"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepseekWords =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepseekHan = "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+";
constexpr std::string_view kCoderHan = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+";
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?)"
                                    "\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";
constexpr std::string_view kFalconMarks = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view kDefaultMarks = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kUpToThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";

#undef CONTRACTIONS
#undef SYMBOLS_AND_BLANKS
#undef UPPER
#undef LOWER

/// Each split cuts what the ones before left; a match and what is beside it are words of their own.
struct Row {
  std::string_view names;  // with blanks between them
  std::array<std::string_view, 5> splits;
  bool ignore_merges = false;
  bool add_bos = false;
  bool nfc = false;
};

constexpr Row kRows[] = {
    {"default", {kDefaultMarks, kGpt2Words, R"(\p{N}+)", kThreeDigits}},
    {"falcon", {kFalconMarks, kGpt2Words, kThreeDigits}},
    {"gpt-2 mpt olmo jais trillion granite-docling phi-2 jina-es jina-de jina-v2-es jina-v2-de "
     "gigachat a.x-4.0 mellum modern-bert exaone4",
     {kGpt2Words}},
    {"starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", {kDigit, kGpt2Words}},
    {"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     {kLlama3},
     true,
     true},
    {"dbrx smaug-bpe glm4 chatglm-bpe", {kLlama3}},
    {"qwen2", {kQwen2}, false, false, true},
    {"qwen35", {kQwen35}, false, false, true},
    {"deepseek-r1-qwen stablelm2 megrez kormo f2llmv2 hunyuan solar-open grok-2", {kQwen2}},
    {"deepseek-v3 hunyuan-dense joyai-llm", {kUpToThreeDigits, kDeepseekHan, kDeepseekWords}},
    {"deepseek-coder", {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCoderHan, kDigit}},
    {"gpt-4o llama4 kanana2 talkie minimax-m2", {kGpt4o}},
    {"tekken", {kTekken}, true, true},
    {"seed-coder", {kSeedCoder}},
    {"bailingmoe bailingmoe2 llada-moe", {kBailing}},
    {"minicpm5", {kUpToThreeDigits, kLongNumbers}, true},
    {"bloom poro-chat gpt3-finnish", {kBloom}},
    {"viking", {kBloom, kDigit}},
};

bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

std::string all_names() {
  std::string names;
  for (const Row& row : kRows) {
    if (!names.empty()) names += ", ";
    for (const char c : row.names) names += c == ' ' ? std::string(", ") : std::string(1, c);
  }
  return names;
}

/// The steps as tokenizer.json spells them.
Json pre_tokenizer_json(const Row& row) {
  Json::Array steps;
  for (const std::string_view regex : row.splits) {
    if (regex.empty()) break;
    steps.push_back(Json::Object{
        {"type", "Split"}, {"pattern", Json::Object{{"Regex", regex}}}, {"behavior", "Isolated"}});
  }
  steps.push_back(
      Json::Object{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  return Json::Object{{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

}  // namespace

Result<GgufPreTokenizer> find_gguf_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return has_name(r.names, name); });
  if (row == std::end(kRows)) {
    return unsupported("\"tokenizer.ggml.pre\" is \"{}\", which is not supported; known are {}.",
                       name, all_names());
  }
  GgufPreTokenizer found{{}, {}, row->ignore_merges, row->add_bos};
  TOK_TRY(found.pre_tokenizer, PreTokenizer::from_json(pre_tokenizer_json(*row)));
  if (row->nfc) {
    TOK_TRY(found.normalizer, Normalizer::from_json(Json::Object{{"type", "NFC"}}));
  }
  return found;
}

}  // namespace tokamak
