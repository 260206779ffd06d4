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
#define UPPER_NO_HAN R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
#define LOWER_NO_HAN R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"

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
/// Moonshot's, whose words have no Han in them.
constexpr std::string_view kKimi =
    R"([\p{Han}]+)"
    R"(|[^\r\n\p{L}\p{N}]?)" UPPER_NO_HAN "*" LOWER_NO_HAN "+" CONTRACTIONS
    "?"
    R"(|[^\r\n\p{L}\p{N}]?)" UPPER_NO_HAN "+" LOWER_NO_HAN "*" CONTRACTIONS
    "?"
    R"(|\p{N}{1,3})" SYMBOLS_AND_BLANKS;
constexpr std::string_view kYoutuScripts =
    "[\uAC00-\uD7A3\u3131-\u318E]+"
    "|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+"
    "|[\u3105-\u312F]+|[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+";
constexpr std::string_view kYoutu = R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" CONTRACTIONS
                                    "?"
                                    R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" CONTRACTIONS
                                    "?"
                                    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoe =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
                 R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
/// Blanks by powers of two.
constexpr std::string_view kJais2 =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)"
                 R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S))"
                 R"(|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
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
/// DeepSeek's letters: those with two cases, about, as some version of Unicode had them.
constexpr std::string_view kDeepseekLetters =
    R"(\s?[)"
    "A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF"
    "\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1"
    "\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5"
    "\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A"
    "\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D"
    "\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3"
    "\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115"
    "\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139\u213C-\u213F\u2145-\u2149"
    "\u214E\u2183-\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2-\u2CF3\uA640-\uA66D"
    "\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06"
    "\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3"
    "\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF"
    "\U0001E900-\U0001E943"
    "]+";
constexpr std::string_view kDeepseekMarks =
    R"(\s?[!-/:-~)"
    "\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+";
constexpr std::string_view kBlanksAtEnd = R"(\s+$)";
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?)"
                                    "\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";
constexpr std::string_view kFalconMarks = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view kDefaultMarks = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kUpToThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kNumbers = R"(\p{N}+)";
constexpr std::string_view kThreesFromRight = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
constexpr std::string_view kBetweenThrees = R"((?=(?:\d{3})+(?!\d)))";
constexpr std::string_view kAfmoeScripts =
    "[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u3040-\u309F\u30A0-\u30FF\uFF65-\uFF9F\u2F00-\u2FDF"
    "\u0E40-\u0E7F\u0E80-\u0EFF\u1780-\u17FF\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF\uAC00-\uD7AF"
    "\u1100-\u11FF]+";
constexpr std::string_view kSentinels = "<sentinel:[0-9]+>";
constexpr std::string_view kImageTokens = "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z";
constexpr std::string_view kBlankPairs = R"(([\t\n]|    |  ))";
constexpr std::string_view kOneMark = R"([\p{P}!-/:-@\[-`{-~])";

#undef CONTRACTIONS
#undef SYMBOLS_AND_BLANKS
#undef UPPER
#undef LOWER
#undef UPPER_NO_HAN
#undef LOWER_NO_HAN

/// Each split cuts what the ones before left; a match and what is beside it are words of their own.
struct Row {
  std::string_view names;  // with blanks between them
  std::array<std::string_view, 6> splits;
  bool ignore_merges = false;
  bool add_bos = false;
  bool nfc = false;
};

constexpr Row kRows[] = {
    {"default", {kDefaultMarks, kGpt2Words, kNumbers, kThreeDigits}},
    {"falcon", {kFalconMarks, kGpt2Words, kThreeDigits}},
    {"gpt-2 mpt olmo jais trillion granite-docling phi-2 jina-es jina-de jina-v2-es jina-v2-de "
     "jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 mellum modern-bert exaone4",
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
    {"deepseek-llm",
     {R"([\r\n])", kDeepseekLetters, kDeepseekMarks, kBlanksAtEnd, kCoderHan, kDigit}},
    {"deepseek-coder", {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCoderHan, kDigit}},
    {"gpt-4o llama4 kanana2 talkie minimax-m2", {kGpt4o}},
    {"kimi-k2", {kKimi}},
    {"youtu", {kYoutuScripts, kYoutu}, true},
    {"exaone-moe", {kExaoneMoe}},
    {"jais-2", {kJais2}},
    {"afmoe", {kThreesFromRight, kAfmoeScripts, kDeepseekWords}},
    {"superbpe", {kNumbers, kBetweenThrees}},
    {"chameleon",
     {kSentinels, kImageTokens, kBlankPairs, kDigit, kOneMark, kGpt2Words},
     false,
     true},
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
