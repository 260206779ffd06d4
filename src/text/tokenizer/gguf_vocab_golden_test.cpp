// The vocabularies of tests/data/tokenizers as a GGUF file would have them: the names must mean
// what tokenizer.json spells out, so the ids are those that the reference library recorded.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/json.h"
#include "text/tokenizer/gguf_vocab.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

constexpr int32_t kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;

Json read_json(const std::string& path) {
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  char buffer[65536];
  for (size_t size = 0; (size = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) {
    text.append(buffer, size);
  }
  std::fclose(file);
  return Json::parse(text).value_or(Json());
}

struct Kind {
  const char* folder;
  const char* model;
  const char* pre;
};

void add_token(GgufVocab& vocab, const Json& id, std::string text, int32_t type) {
  const size_t place = size_t(id.as_integer());
  if (place >= vocab.tokens.size()) {
    vocab.tokens.resize(place + 1);
    vocab.token_types.resize(place + 1, kUnused);
  }
  vocab.tokens[place] = std::move(text);
  vocab.token_types[place] = type;
}

/// The spelling by which convert_hf_to_gguf.py writes a token.
std::string spelling(const Kind& kind, const std::string& token) {
  if (std::string_view(kind.model) != "bert") return token;
  if (token.starts_with('[') && token.ends_with(']')) return token;
  return token.starts_with("##") ? token.substr(2) : "\u2581" + token;
}

GgufVocab make_vocab(const Kind& kind, const Json& file) {
  GgufVocab vocab;
  vocab.model = kind.model;
  vocab.pre = kind.pre;
  const Json& model = *file.find("model");
  for (const auto& [token, id] : model.find("vocab")->as_object()) {
    const bool is_byte = token.size() == 6 && token.starts_with("<0x");
    add_token(vocab, id, spelling(kind, token), is_byte ? kByte : kNormal);
  }
  for (const Json& added : file.find("added_tokens")->as_array()) {
    add_token(vocab, *added.find("id"), added.find("content")->as_string(),
              added.find("special")->as_bool() ? kControl : kUserDefined);
  }
  vocab.scores.assign(vocab.tokens.size(), 0);
  if (const Json* merges = model.find("merges")) {
    // SentencePiece scores its BPE pieces in the order that it found them, best first.
    float score = -1;
    for (const Json& merge : merges->as_array()) {
      const std::string pair = merge.is_string() ? merge.as_string()
                                                 : merge.as_array()[0].as_string() + " " +
                                                       merge.as_array()[1].as_string();
      vocab.merges.push_back(pair);
      std::string joined = pair;
      joined.erase(pair.find(' '), 1);
      float& piece = vocab.scores[size_t(model.find("vocab")->find(joined)->as_integer())];
      if (piece == 0) piece = score--;
    }
  }
  if (const Json* unk = model.find("unk_token"); unk != nullptr && unk->is_string()) {
    vocab.unk = uint32_t(model.find("vocab")->find(unk->as_string())->as_integer());
  }
  return vocab;
}

struct GgufVocabGolden : testing::TestWithParam<Kind> {};

TEST_P(GgufVocabGolden, EncodesEveryTextAsTokenizerJsonDoes) {
  const std::string folder =
      std::string(TOKAMAK_TEST_DATA) + "/tokenizers/" + GetParam().folder + "/";
  const Json file = read_json(folder + "tokenizer.json");
  const Json golden = read_json(folder + "golden.json");
  ASSERT_TRUE(file.is_object() && golden.is_object());
  GgufVocab vocab = make_vocab(GetParam(), file);
  vocab.add_space_prefix = std::string_view(GetParam().folder) == "llama2_spm";
  const auto tokenizer = Tokenizer::from_gguf(vocab);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const Json& item : golden.find("encode")->as_array()) {
    const Json* expected = item.find("ids_no_special");
    if (expected == nullptr) expected = item.find("ids");
    SCOPED_TRACE(item.find("text")->dump());
    const auto ids = tokenizer->encode(item.find("text")->as_string(), {.add_special = false});
    ASSERT_TRUE(ids) << ids.error().message;
    Json::Array found(ids->begin(), ids->end());
    EXPECT_EQ(Json(found).dump(), expected->dump());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GgufVocabGolden,
    testing::Values(Kind{"gpt2", "gpt2", "gpt-2"}, Kind{"llama3", "gpt2", "llama-bpe"},
                    Kind{"qwen2", "gpt2", "qwen2"}, Kind{"qwen3_5", "gpt2", "qwen35"},
                    Kind{"deepseek", "gpt2", "deepseek-v3"}, Kind{"digits", "gpt2", "smollm"},
                    Kind{"llama2_spm", "llama", "default"}, Kind{"gemma_spm", "llama", "default"},
                    Kind{"gemma_spm", "gemma4", ""}, Kind{"wordpiece", "bert", ""}),
    [](const auto& kind) { return std::string(kind.param.folder) + "_" + kind.param.model; });

}  // namespace
}  // namespace tokamak
