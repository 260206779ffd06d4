#include "quantize/plan.h"

#include <gtest/gtest.h>

#include "quantize/made_gguf_test.h"

namespace tokamak {
namespace {

/// The names of the types that matrices get.
std::vector<std::string_view> types_of(const QuantizationPlan& plan, std::string_view part) {
  std::vector<std::string_view> types;
  for (const TensorPlan& tensor : plan.tensors) {
    if (tensor.to.name.contains(part)) types.push_back(dtype_name(tensor.to.dtype));
  }
  return types;
}

QuantizationPlan plan_of(const GgufFile& file, std::string_view target,
                         std::vector<std::string> texts = {}) {
  std::vector<TypeOverride> overrides;
  for (const std::string& text : texts) {
    auto parsed = parse_override(text);
    EXPECT_TRUE(parsed) << parsed.error().message;
    overrides.push_back(*std::move(parsed));
  }
  const auto found = find_target_type(target);
  EXPECT_TRUE(found) << found.error().message;
  auto plan = plan_quantization(file, **found, overrides);
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

/// Sixteen layers of matrices of 256 columns.
MadeGguf sixteen_layers(bool has_output = true) {
  MadeGguf made;
  made.add("token_embd.weight", {8, 256});
  if (has_output) made.add("output.weight", {8, 256});
  made.add("output_norm.weight", {256});
  for (int i = 0; i < 16; ++i) {
    const std::string layer = fmt::format("blk.{}.", i);
    for (const char* name : {"attn_v", "attn_output", "ffn_gate", "ffn_down", "ffn_gate_inp"}) {
      made.add(layer + name + ".weight", {4, 256});
    }
  }
  return made;
}

TEST(QuantizationPlan, GivesMoreBitsToWhatTheMixNames) {
  const MadeGguf made = sixteen_layers();
  const GgufFile file = made.file();
  const auto plan = plan_of(file, "Q4_K_M");
  EXPECT_EQ(plan.file_type, 15u);
  // The first and the last eighth, and every third layer between: 0 1 4 7 10 13 14 15.
  const std::vector<std::string_view> more{"q6_k", "q6_k", "q4_k", "q4_k", "q6_k", "q4_k",
                                           "q4_k", "q6_k", "q4_k", "q4_k", "q6_k", "q4_k",
                                           "q4_k", "q6_k", "q6_k", "q6_k"};
  EXPECT_EQ(types_of(plan, "attn_v"), more);
  EXPECT_EQ(types_of(plan, "ffn_down"), more);
  EXPECT_EQ(types_of(plan, "ffn_gate.weight"), std::vector<std::string_view>(16, "q4_k"));
  EXPECT_EQ(types_of(plan, "ffn_gate_inp"), std::vector<std::string_view>(16, "f32"));
  EXPECT_EQ(types_of(plan, "output.weight")[0], "q6_k");
  EXPECT_EQ(types_of(plan, "token_embd")[0], "q4_k");
  EXPECT_EQ(types_of(plan, "output_norm")[0], "f32");

  const auto small = plan_of(file, "q4_k_s");
  EXPECT_EQ(types_of(small, "attn_v")[3], "q5_k");
  EXPECT_EQ(types_of(small, "attn_v")[4], "q4_k");
  EXPECT_EQ(types_of(small, "ffn_down")[1], "q5_k");
  EXPECT_EQ(types_of(small, "ffn_down")[2], "q4_k");
}

TEST(QuantizationPlan, TakesTheEmbeddingForTheOutputWhereThatIsMissing) {
  const MadeGguf made = sixteen_layers(false);
  const GgufFile file = made.file();
  EXPECT_EQ(types_of(plan_of(file, "q4_k_m"), "token_embd")[0], "q6_k");
  EXPECT_EQ(types_of(plan_of(file, "q4_k"), "token_embd")[0], "q4_k");
}

TEST(QuantizationPlan, FallsBackWhereColumnsAreNoBlocks) {
  MadeGguf made;
  made.add("a.weight", {2, 64}).add("b.weight", {2, 48});
  const GgufFile file = made.file();
  const auto type = [&](const char* target, const char* name) {
    return types_of(plan_of(file, target), name)[0];
  };
  EXPECT_EQ(type("q4_k", "a.weight"), "q5_0");
  EXPECT_EQ(type("q5_k", "a.weight"), "q5_1");
  EXPECT_EQ(type("q6_k", "a.weight"), "q8_0");
  EXPECT_EQ(type("q2_k", "a.weight"), "q4_0");
  EXPECT_EQ(type("q3_k", "a.weight"), "q4_0");
  EXPECT_EQ(type("q4_k", "b.weight"), "f16");
  EXPECT_EQ(type("q8_0", "b.weight"), "f16");
  EXPECT_EQ(plan_of(file, "q4_k").tensors[0].note,
            "64 columns are no blocks of 256: in place of q4_k");
}

TEST(QuantizationPlan, TakesTheFirstOverride) {
  const MadeGguf made = sixteen_layers();
  const GgufFile file = made.file();
  const auto plan =
      plan_of(file, "q4_k_m", {"blk\\.0\\.attn_v=q8_0", "attn_v=f16", "^output\\.w=f32"});
  EXPECT_EQ(types_of(plan, "attn_v")[0], "q8_0");
  EXPECT_EQ(types_of(plan, "attn_v")[1], "f16");
  EXPECT_EQ(types_of(plan, "output.weight")[0], "f32");
  EXPECT_EQ(types_of(plan, "attn_output")[0], "q4_k");
}

TEST(QuantizationPlan, RefusesOverridesThatDoNothing) {
  const auto message = [](const std::string& text) {
    const auto parsed = parse_override(text);
    return parsed ? "no error" : parsed.error().message;
  };
  EXPECT_NE(message("attn_v").find("PATTERN=TYPE"), std::string::npos);
  EXPECT_NE(message("a=q9").find("q4_k_m"), std::string::npos);
  EXPECT_NE(message("a=q4_k_m").find("mix"), std::string::npos);
  EXPECT_NE(message("(=f16").find("(=f16"), std::string::npos);

  const MadeGguf made = sixteen_layers();
  const GgufFile file = made.file();
  std::vector<TypeOverride> overrides;
  overrides.push_back(*parse_override("attn_q=f16"));
  const auto plan = plan_quantization(file, **find_target_type("q8_0"), overrides);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("attn_q=f16"), std::string::npos) << plan.error().message;
}

}  // namespace
}  // namespace tokamak
