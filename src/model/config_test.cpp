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

/// The table of a model with 4096 positions.
RopeTable rope(Parsed& parsed, double theta, uint32_t head_dim) {
  uint32_t positions = 4096;
  return read_rope(parsed.reader, theta, head_dim, positions);
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(double(found[i]) / expected[i], 1, 1e-6) << i;
  }
}

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

TEST(ConfigReader, ReadsNumbersInWhicheverTypeTheyAreStored) {
  Parsed p(R"({"a": 3.0, "b": 0.0, "c": 1, "d": 0, "e": 1.0})");
  EXPECT_EQ(p.reader.size("a"), 3u);
  EXPECT_EQ(p.reader.count("b", 7), 0u);
  EXPECT_TRUE(p.reader.flag("c", false));
  EXPECT_FALSE(p.reader.flag("d", true));
  EXPECT_EQ(p.error(), "");
  for (const char* text : {R"({"a": 3.5})", R"({"a": 1e300})", R"({"a": 2147483648.0})",
                           R"({"a": -1.0})", R"({"a": true})"}) {
    Parsed wrong(text);
    wrong.reader.size("a");
    EXPECT_NE(wrong.error().find("a is "), std::string::npos) << text;
  }
  Parsed two(R"({"a": 2})");
  two.reader.flag("a", false);
  EXPECT_EQ(two.error(), "config.json: a is 2, expected true or false.");
}

TEST(ConfigReader, ReadsShares) {
  Parsed p(R"({"a": 0, "b": 1, "c": 0.25, "d": null, "e": 1.5})");
  EXPECT_EQ(p.reader.share("a", 0.5), 0);
  EXPECT_EQ(p.reader.share("b", 0.5), 1);
  EXPECT_EQ(p.reader.share("c", 0.5), 0.25);
  EXPECT_EQ(p.reader.share("d", 0.5), 0.5);
  EXPECT_EQ(p.error(), "");
  p.reader.share("e", 0.5);
  EXPECT_EQ(p.error(), "config.json: e is 1.5, expected a number from 0 to 1.");
}

TEST(ConfigReader, RefusesByNameWhatIsNotFinite) {
  Parsed p(R"({"unused": [0, Infinity], "eps": NaN, "theta": -Infinity, "list": [1, Infinity]})");
  EXPECT_EQ(p.error(), "");
  p.reader.positive("eps");
  EXPECT_EQ(p.error(), "config.json: eps is NaN, expected a number above 0.");
  Parsed share(R"({"theta": Infinity, "big": 99999999999999999999})");
  share.reader.share("theta", 1);
  EXPECT_EQ(share.error(), "config.json: theta is Infinity, expected a number from 0 to 1.");
  Parsed size(R"({"big": 99999999999999999999})");
  size.reader.size("big");
  EXPECT_EQ(
      size.error(),
      "config.json: big is 99999999999999999999, expected an integer between 1 and 2147483647.");
  Parsed list(R"({"list": [1, Infinity]})");
  list.reader.positives("list", 2);
  EXPECT_NE(list.error(), "");
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

TEST(ConfigReader, ReadsListsOfCounts) {
  Parsed p(R"({"a": [3, 0], "b": [], "c": [1, -1]})");
  EXPECT_EQ(p.reader.counts("a"), (std::vector<uint32_t>{3, 0}));
  EXPECT_TRUE(p.reader.counts("b").empty());
  EXPECT_TRUE(p.reader.counts("d").empty());
  EXPECT_EQ(p.error(), "");
  p.reader.counts("c");
  EXPECT_EQ(p.error(),
            "config.json: c is [1, -1], expected a list of integers between 0 and 2147483647.");
}

TEST(Rope, ProportionalTurnsTheFirstPairsAsInAWholeHead) {
  Parsed p(R"({"rope_type": "proportional", "partial_rotary_factor": 0.6, "factor": 2})");
  const RopeTable table = rope(p, 10000.0, 8);
  EXPECT_EQ(p.error(), "");
  // 0.6 of 4 pairs: 2, the frequencies 1 and 10000^(-2/8), halved.
  EXPECT_EQ(table.inverse_frequencies, (std::vector<float>{0.5f, 0.05f, 0, 0}));
  Parsed beyond(R"({"rope_type": "proportional", "partial_rotary_factor": 1.5})");
  rope(beyond, 10000.0, 8);
  EXPECT_EQ(beyond.error(), "config.json: partial_rotary_factor is 1.5, expected at most 1.");
}

TEST(Rope, DefaultAndLinear) {
  Parsed p(R"({"rope_type": "linear", "factor": 8.0})");
  const RopeTable table = rope(p, 10000.0, 4);
  EXPECT_EQ(p.error(), "");
  EXPECT_FLOAT_EQ(table.inverse_frequencies[0], 1.0f / 8);
  EXPECT_FLOAT_EQ(table.inverse_frequencies[1], 0.01f / 8);
}

TEST(Rope, Llama3KeepsHighAndDividesLowFrequencies) {
  Parsed p(R"({"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64})");
  const RopeTable table = rope(p, 500000.0, 64);
  EXPECT_EQ(p.error(), "");
  EXPECT_FLOAT_EQ(table.inverse_frequencies[0], 1.0f);
  const float lowest = float(std::pow(500000.0, -62.0 / 64.0));
  EXPECT_FLOAT_EQ(table.inverse_frequencies[31], lowest / 8);
}

TEST(Rope, RefusesAnUnknownType) {
  for (const char* type : {"dynamic", "longrope"}) {
    Parsed p(fmt::format(R"({{"rope_type": "{}", "factor": 2}})", type).c_str());
    rope(p, 10000.0, 4);
    EXPECT_EQ(p.error(), fmt::format("config.json: rope_type is \"{}\"; this engine knows default, "
                                     "linear, llama3, proportional and yarn.",
                                     type));
  }
}

// The frequencies were computed in f64 by a program that knows the formulas of arXiv:2309.00071
// alone: theta^(-2i/d) / factor and theta^(-2i/d), blended over the pairs that turn beta_fast to
// beta_slow times within the original positions.
TEST(Rope, YarnKeepsHighAndDividesLowFrequencies) {
  Parsed p(R"({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64,
               "attn_factor": 0.5})");
  const RopeTable table = rope(p, 10000.0, 16);
  EXPECT_EQ(p.error(), "");
  expect_near(table.inverse_frequencies,
              {1, 0.23717082, 0.05, 0.0079056942, 0.0025, 0.00079056942, 0.00025, 7.9056942e-05});
  EXPECT_FLOAT_EQ(table.factor, 1.138629436f);  // 0.1 ln 4 + 1
  // The block on the cards of Qwen 2.5 and Qwen 3.
  Parsed qwen(R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768})");
  expect_near(rope(qwen, 1e6, 32).inverse_frequencies,
              {1, 0.4216965, 0.17782794, 0.074989421, 0.031622777, 0.013335214, 0.0047799013,
               0.0016599616, 0.00055, 0.0001686786, 4.4456985e-05, 1.8747355e-05, 7.9056942e-06,
               3.3338036e-06, 1.4058533e-06, 5.9284343e-07});
}

TEST(Rope, YarnHeedsWhatElseItsBlockSays) {
  Parsed whole(R"({"rope_type": "yarn", "factor": 8, "original_max_position_embeddings": 512,
                   "beta_fast": 16, "beta_slow": 2, "truncate": false, "mscale": 0.707,
                   "mscale_all_dim": 1.5})");
  const RopeTable table = rope(whole, 10000.0, 16);
  EXPECT_EQ(whole.error(), "");
  expect_near(table.inverse_frequencies, {1, 0.31622777, 0.07160846, 0.0073249973, 0.00125,
                                          0.00039528471, 0.000125, 3.9528471e-05});
  EXPECT_FLOAT_EQ(table.factor, 0.8743062169f);  // (0.0707 ln 8 + 1) / (0.15 ln 8 + 1)
  // A field of 0 or null counts as absent; both mscale must be there to count.
  Parsed unset(R"({"rope_type": "yarn", "factor": 8, "beta_fast": 0, "beta_slow": null,
                   "mscale": 0.707, "mscale_all_dim": 0})");
  EXPECT_FLOAT_EQ(rope(unset, 10000.0, 16).factor, 1.207944154f);  // 0.1 ln 8 + 1
  EXPECT_EQ(unset.error(), "");
  Parsed given(R"({"rope_type": "yarn", "factor": 8, "mscale": 2, "mscale_all_dim": 3,
                   "attention_factor": 1.25})");
  EXPECT_FLOAT_EQ(rope(given, 10000.0, 16).factor, 1.25f);
}

TEST(Rope, YarnExtendsTheModelsPositions) {
  const auto positions = [](const char* block, uint32_t own) {
    Parsed p(block);
    read_rope(p.reader, 10000.0, 16, own);
    EXPECT_EQ(p.error(), "");
    return own;
  };
  EXPECT_EQ(positions(R"({"rope_type": "yarn", "factor": 4})", 100), 400u);
  EXPECT_EQ(positions(R"({"rope_type": "yarn", "factor": 4,
                          "original_max_position_embeddings": 80})",
                      100),
            320u);
  EXPECT_EQ(positions(R"({"rope_type": "yarn", "factor": 2,
                          "original_max_position_embeddings": 10})",
                      100),
            100u);
  EXPECT_EQ(positions(R"({"rope_type": "yarn", "factor": 1e30})", 100), uint32_t(INT32_MAX));
  EXPECT_EQ(positions(R"({"rope_type": "linear", "factor": 4})", 100), 100u);
  // Without a factor it is how many times the original positions the model has.
  Parsed ratio(R"({"rope_type": "yarn", "factor": null, "original_max_position_embeddings": 64})");
  Parsed same(R"({"rope_type": "yarn", "factor": 64, "original_max_position_embeddings": 64})");
  EXPECT_EQ(rope(ratio, 10000.0, 16), rope(same, 10000.0, 16));
}

TEST(Rope, YarnRefusesWhatHasNoMeaning) {
  const auto error = [](const char* block) {
    Parsed p(block);
    rope(p, 10000.0, 16);
    return p.error();
  };
  EXPECT_EQ(error(R"({"rope_type": "yarn", "factor": 4, "beta_fast": 1, "beta_slow": 2})"),
            "config.json: beta_fast is 1, expected at least beta_slow (2) with rope_type "
            "\"yarn\".");
  EXPECT_EQ(error(R"({"rope_type": "yarn", "factor": 4, "rope_theta": 1})"),
            "config.json: rope_theta is 1, expected more than 1 with rope_type \"yarn\".");
  EXPECT_EQ(error(R"({"rope_type": "yarn", "factor": -1})"),
            "config.json: factor is -1, expected a number above 0.");
}

TEST(Rope, LongRopeHasAPartForShortAndOneForLongSequences) {
  Parsed p(R"({"type": "su", "short_factor": [1.0, 2.0], "long_factor": [4.0, 8.0]})");
  const RopeTable table = read_longrope(p.reader, 10000.0, 4, 64, 4096);
  EXPECT_EQ(p.error(), "");
  EXPECT_EQ(table.short_rows, 64u);
  EXPECT_FLOAT_EQ(table.short_frequencies[1], 0.01f / 2);
  EXPECT_FLOAT_EQ(table.inverse_frequencies[0], 1.0f / 4);
  EXPECT_FLOAT_EQ(table.inverse_frequencies[1], 0.01f / 8);
  EXPECT_FLOAT_EQ(table.factor, std::sqrt(2.0f));  // sqrt(1 + ln 64 / ln 64)
}

TEST(Rope, LongRopeTakesGivenFactors) {
  Parsed own(R"({"short_factor": [1], "long_factor": [1], "attention_factor": 1.5})");
  EXPECT_FLOAT_EQ(read_longrope(own.reader, 10000.0, 2, 64, 4096).factor, 1.5f);
  Parsed ratio(R"({"short_factor": [1], "long_factor": [1], "factor": 0.5})");
  EXPECT_FLOAT_EQ(read_longrope(ratio.reader, 10000.0, 2, 64, 4096).factor, 1.0f);
}

TEST(Rope, LongRopeRefusesListsOfAnotherLength) {
  Parsed longer(R"({"short_factor": [1.0, 1.0], "long_factor": [1.0, 1.0, 1.0]})");
  read_longrope(longer.reader, 10000.0, 4, 64, 4096);
  EXPECT_EQ(
      longer.error(),
      "config.json: long_factor has 3 entries, 3 of them numbers above 0; expected a list of 2 "
      "numbers above 0.");
  Parsed zero(R"({"short_factor": [1.0, 0], "long_factor": [1.0, 1.0]})");
  read_longrope(zero.reader, 10000.0, 4, 64, 4096);
  EXPECT_EQ(
      zero.error(),
      "config.json: short_factor has 2 entries, 1 of them numbers above 0; expected a list of "
      "2 numbers above 0.");
  Parsed missing(R"({"long_factor": [1.0]})");
  read_longrope(missing.reader, 10000.0, 2, 64, 4096);
  EXPECT_EQ(missing.error(),
            "config.json: short_factor is missing, expected a list of 1 numbers above 0.");
}

TEST(Rope, TableOfTwoPartsStartsAgain) {
  const RopeTable recipe{
      .inverse_frequencies = {0.5f}, .short_rows = 2, .short_frequencies = {1.0f}};
  const std::vector<float> table = rope_table(recipe, 5);
  EXPECT_FLOAT_EQ(table[2], float(std::cos(1.0)));      // row 1: short, position 1
  EXPECT_FLOAT_EQ(table[4], 1.0f);                      // row 2: long, position 0
  EXPECT_FLOAT_EQ(table[9], float(std::sin(2 * 0.5)));  // row 4: long, position 2
}

TEST(Rope, TablesCanBeMadeInPieces) {
  const RopeTable recipe{
      .inverse_frequencies = {0.5f, 0.1f}, .short_rows = 2, .short_frequencies = {1.0f, 0.3f}};
  std::vector<float> pieces = rope_table(recipe, 1);
  for (const uint32_t first : {1u, 3u}) {
    const std::vector<float> piece = rope_table(recipe, 2, first);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(pieces, rope_table(recipe, 5));
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

TEST(Layers, OptionalWindowsFollowUseSlidingWindow) {
  using Windows = std::vector<uint32_t>;
  Parsed off(R"({"use_sliding_window": false, "sliding_window": 8, "max_window_layers": 1})");
  EXPECT_EQ(*read_optional_windows(off.reader, 3), (Windows{0, 0, 0}));
  Parsed on(R"({"use_sliding_window": true, "sliding_window": 8, "max_window_layers": 1})");
  EXPECT_EQ(*read_optional_windows(on.reader, 3), (Windows{0, 8, 8}));
  Parsed null(R"({"use_sliding_window": true, "sliding_window": null, "max_window_layers": 0})");
  EXPECT_EQ(*read_optional_windows(null.reader, 2), (Windows{0, 0}));
  Parsed listed(R"({"use_sliding_window": true, "sliding_window": 8,
                    "layer_types": ["sliding_attention", "full_attention"]})");
  EXPECT_EQ(*read_optional_windows(listed.reader, 2), (Windows{8, 0}));
}

TEST(Layers, OptionalWindowsRefuseContradictions) {
  Parsed zero(R"({"use_sliding_window": true, "sliding_window": 0})");
  EXPECT_EQ(read_optional_windows(zero.reader, 2).error().message,
            "config.json: sliding_window is 0, expected an integer between 1 and 2147483647.");
  Parsed unused(R"({"layer_types": ["full_attention", "sliding_attention"]})");
  EXPECT_EQ(
      read_optional_windows(unused.reader, 2).error().message,
      "config.json: layer_types: entry 1 is \"sliding_attention\", but use_sliding_window is not "
      "true.");
}

TEST(Architecture, IsFoundByNameElseByModelType) {
  Parsed named(R"({"architectures": ["LlamaForCausalLM"], "model_type": "gemma3_text"})");
  EXPECT_EQ((*find_architecture(named.reader))->name, "LlamaForCausalLM");
  Parsed typed(R"({"model_type": "gemma3_text"})");
  EXPECT_EQ((*find_architecture(typed.reader))->name, "Gemma3ForCausalLM");
  Parsed empty(R"({"architectures": [], "model_type": "llama"})");
  EXPECT_TRUE(
      find_architecture(empty.reader)
          .error()
          .message.starts_with("config.json: architectures is empty, expected one of BertModel"));
  Parsed unknown(R"({"architectures": ["FooForCausalLM"]})");
  auto missing = find_architecture(unknown.reader);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(missing.error().message.starts_with(
      "config.json: architecture \"FooForCausalLM\" is not supported; docs/models.md has the "))
      << missing.error().message;
}

}  // namespace
}  // namespace tokamak
