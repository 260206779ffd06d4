#include "model/config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/arch.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Parsed {
  Json json;
  ConfigReader reader;
  explicit Parsed(const char* text) : json(*Json::parse(text)), reader(json, "config.json") {}
  std::string error() const {
    auto status = reader.status();
    return status ? "" : status.error().message;
  }
};

TEST(ConfigReader, ReadsAndKeepsTheFirstMistake) {
  Parsed p(R"({"a": 3, "b": 0, "c": "x", "d": [1, 2], "e": 7, "f": null})");
  EXPECT_EQ(p.reader.size("a"), 3u);
  EXPECT_EQ(p.reader.ids("d"), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(p.reader.ids("e"), (std::vector<uint32_t>{7}));
  EXPECT_EQ(p.reader.size("f", 9), 9u);
  EXPECT_EQ(p.error(), "");
  p.reader.size("b");
  p.reader.flag("c", false);
  EXPECT_EQ(p.error(), "config.json: b is 0, expected an integer between 1 and 2147483647.");
}

TEST(ConfigReader, NamesWhatIsMissingOrOfTheWrongKind) {
  Parsed missing("{}");
  missing.reader.size("hidden_size");
  EXPECT_EQ(missing.error(),
            "config.json: hidden_size is missing, expected an integer between 1 and 2147483647.");
  Parsed text(R"({"rms_norm_eps": "1e-5"})");
  text.reader.positive("rms_norm_eps");
  EXPECT_EQ(text.error(), "config.json: rms_norm_eps is \"1e-5\", expected a number above 0.");
  Parsed empty(R"({"eos_token_id": []})");
  empty.reader.ids("eos_token_id");
  EXPECT_EQ(empty.error(),
            "config.json: eos_token_id is [], expected a token id or a list of token ids.");
  const Json list{Json::Array{}};
  EXPECT_EQ(ConfigReader(list, "config.json").status().error().message,
            "config.json: found an array, expected an object.");
}

TEST(Rope, DefaultAndLinear) {
  Parsed p(R"({"rope_type": "linear", "factor": 8.0})");
  const RopeTable table = read_rope(p.reader, 10000.0, 4);
  EXPECT_EQ(p.error(), "");
  EXPECT_FLOAT_EQ(table.inverse_frequencies[0], 1.0f / 8);
  EXPECT_FLOAT_EQ(table.inverse_frequencies[1], 0.01f / 8);
}

TEST(Rope, Llama3KeepsHighAndDividesLowFrequencies) {
  Parsed p(R"({"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64})");
  const RopeTable table = read_rope(p.reader, 500000.0, 64);
  EXPECT_EQ(p.error(), "");
  EXPECT_FLOAT_EQ(table.inverse_frequencies[0], 1.0f);
  const float lowest = float(std::pow(500000.0, -62.0 / 64.0));
  EXPECT_FLOAT_EQ(table.inverse_frequencies[31], lowest / 8);
}

TEST(Rope, RefusesAnUnknownType) {
  Parsed p(R"({"rope_type": "yarn"})");
  read_rope(p.reader, 10000.0, 4);
  EXPECT_EQ(p.error(),
            "config.json: rope_type is \"yarn\"; this engine knows default, linear and llama3.");
}

TEST(Rope, TableHoldsCosinesThenSines) {
  const std::vector<float> table = rope_table({{1.0f, 0.5f}, 2.0f}, 3);
  ASSERT_EQ(table.size(), 12u);
  EXPECT_FLOAT_EQ(table[0], 2.0f);
  EXPECT_FLOAT_EQ(table[2], 0.0f);
  EXPECT_FLOAT_EQ(table[8], 2.0f * float(std::cos(2.0)));
  EXPECT_FLOAT_EQ(table[11], 2.0f * float(std::sin(1.0)));
}

TEST(Layers, FollowLayerTypesElseThePeriod) {
  Parsed listed(R"({"layer_types": ["full_attention", "sliding_attention"]})");
  EXPECT_EQ(*read_full_layers(listed.reader, 2, 6), (std::vector<bool>{true, false}));
  Parsed none("{}");
  EXPECT_EQ(*read_full_layers(none.reader, 4, 2), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(read_full_layers(listed.reader, 3, 6).error().message,
            "config.json: layer_types has 2 entries, expected 3 (num_hidden_layers).");
  Parsed unknown(R"({"layer_types": ["chunked_attention"]})");
  EXPECT_EQ(read_full_layers(unknown.reader, 1, 6).error().code, ErrorCode::kUnsupported);
}

TEST(Architecture, IsFoundByNameElseByModelType) {
  Parsed named(R"({"architectures": ["LlamaForCausalLM"], "model_type": "gemma3_text"})");
  EXPECT_EQ((*find_architecture(named.reader))->name, "LlamaForCausalLM");
  Parsed typed(R"({"model_type": "gemma3_text"})");
  EXPECT_EQ((*find_architecture(typed.reader))->name, "Gemma3ForCausalLM");
  Parsed unknown(R"({"architectures": ["FooForCausalLM"]})");
  auto missing = find_architecture(unknown.reader);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(missing.error().message.find("Gemma3ForCausalLM"), std::string::npos);
}

}  // namespace
}  // namespace tokamak
