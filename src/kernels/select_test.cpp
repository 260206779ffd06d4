// Selection: which variant takes a problem on a device, and the reasons that it keeps.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/problems_test.h"

namespace tokamak {
namespace {

/// Why that variant was not taken; "taken" where it was.
std::string reason(const Result<Selection>& selected, std::string_view variant) {
  if (!selected) return selected.error().message;
  if (selected->variant->name == variant) return "taken";
  for (const std::string& line : selected->passed_over) {
    if (line.starts_with(fmt::format("{}: ", variant))) return line.substr(variant.size() + 2);
  }
  return "not asked";
}

/// Why that variant does not take a linear product of rows x in, in steps of one token.
std::string product_reason(std::string_view variant, DType dtype, Dim rows, Dim in,
                           const DeviceInfo& device) {
  const Op op = Linear{};
  Problem problem = ordinary(op);
  problem.inputs[0].shape[1] = in;
  problem.inputs[1] = tensor({rows, in}, dtype);
  return reason(select_variant(problem, device), variant);
}

TEST(Select, TakesTheFirstThatFitsAndSaysWhyOthersDoNot) {
  const Op op = Linear{};
  DeviceInfo device = plain_webgpu();
  auto plain = select_variant(ordinary(op), device);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->variant->name, "linear.wgsl.matvec");
  EXPECT_EQ(
      plain->passed_over,
      (std::vector<std::string>{"linear.wgsl.matvec_software: device lacks subgroups",
                                "linear.wgsl.matvec_dot4_narrow: device lacks subgroups dot4",
                                "linear.wgsl.matvec_dot4_many_lanes: device lacks subgroups dot4",
                                "linear.wgsl.matvec_dot4_subgroup32: device lacks subgroups dot4",
                                "linear.wgsl.matvec_dot4_subgroup: device lacks subgroups dot4",
                                "linear.wgsl.matvec_registers_subgroup32: device lacks subgroups",
                                "linear.wgsl.matvec_registers_subgroup: device lacks subgroups",
                                "linear.wgsl.matvec_f16_subgroup: device lacks f16 subgroups",
                                "linear.wgsl.matvec_subgroup: device lacks subgroups"}));
  device.features = kFeatureF16 | kFeatureSubgroups;
  EXPECT_EQ(select_variant(ordinary(op), device)->variant->name, "linear.wgsl.matvec_f16_subgroup");
  Problem many = ordinary(op, 64);
  many.inputs[1].dtype = DType::kBF16;
  auto matmul = select_variant(many, device);
  ASSERT_TRUE(matmul);
  EXPECT_EQ(matmul->variant->name, "linear.wgsl.matmul");
  EXPECT_EQ(matmul->passed_over.back(),
            "linear.wgsl.matmul_f16: is for f16 weights, these are bf16");
}

TEST(Select, FewLongRowsOfSeveralTokensAreNoTiles) {
  const Op op = Linear{};
  DeviceInfo device = plain_webgpu();
  device.size.multiprocessors = 132;
  const auto name = [&](Dim rows, Dim columns, uint32_t tokens) {
    Problem problem = ordinary(op, tokens);
    problem.inputs[0].shape[1] = columns;
    problem.inputs[1] = tensor({rows, columns}, DType::kBF16);
    problem.outputs[0].shape[1] = rows;
    return select_variant(problem, device)->variant->name;
  };
  for (const uint32_t tokens : {2u, 64u})
    EXPECT_EQ(name(128, 2048, tokens), "linear.wgsl.row_pair");
  EXPECT_NE(name(128, 2048, 65), "linear.wgsl.row_pair");
  EXPECT_NE(name(128, 1016, 64), "linear.wgsl.row_pair");
  EXPECT_NE(name(4096, 2048, 64), "linear.wgsl.row_pair");
  device.size.multiprocessors = 8;
  EXPECT_NE(name(128, 2048, 64), "linear.wgsl.row_pair");
}

TEST(Select, AProcessorHasKernelsOfItsOwn) {
  const Op op = Linear{};
  DeviceInfo device = plain_webgpu();
  device.features = kFeatureSubgroups;
  EXPECT_EQ(select_variant(ordinary(op), device)->passed_over[0],
            "linear.wgsl.matvec_software: is tuned for software devices");
  device.software = true;
  Problem problem = ordinary(op);
  EXPECT_EQ(select_variant(problem, device)->variant->name, "linear.wgsl.matvec_software");
  problem.inputs[0].shape[1] = problem.inputs[1].shape[1] = 4096;
  const auto wide = select_variant(problem, device);
  EXPECT_EQ(wide->variant->name, "linear.wgsl.matvec_registers_subgroup");
  EXPECT_EQ(wide->passed_over[0],
            "linear.wgsl.matvec_software: x' of 4096 columns is more than the 2048 kept at once");
}

TEST(Select, ManyShortRowsShareSubgroups) {
  DeviceInfo device = plain_webgpu();
  device.features = kFeatureSubgroups | kFeatureDot4;
  device.subgroup_min = device.subgroup_max = 8;
  const auto why = [&](Dim rows, Dim in) {
    return product_reason("linear.wgsl.matvec_dot4_narrow", DType::kQ4_0, rows, in, device);
  };
  EXPECT_EQ(why(8192, 1152), "taken");
  EXPECT_EQ(why(8190, 1152), "is for many rows");
  EXPECT_EQ(why(8192, 2048), "64 units busy 64 lanes");
  device.subgroup_min = 4;
  EXPECT_EQ(why(8192, 1152), "subgroups may have 4 lanes, it needs 8");
}

/// Why that variant does not take a product in q4_0 with a norm in front.
std::string norm_reason(std::string_view variant, Epilogue epilogue, Dim rows, Dim in,
                        const DeviceInfo& device) {
  const Op op = FusedLinear{.prologue = Prologue::kNorm, .epilogue = epilogue};
  Problem problem = ordinary(op);
  problem.inputs[0].shape[1] = problem.inputs[2].shape[0] = in;
  problem.inputs[1] = tensor({rows, in}, DType::kQ4_0);
  return reason(select_variant(problem, device), variant);
}

TEST(Select, ShufflesTakeWideSubgroups) {
  DeviceInfo device = plain_webgpu();
  device.features = kFeatureSubgroups | kFeatureDot4;
  device.subgroup_min = 32;
  device.subgroup_max = 128;
  const auto why = [&](std::string_view variant, DType dtype, Dim in) {
    return product_reason(variant, dtype, 1152, in, device);
  };
  EXPECT_EQ(why("linear.wgsl.matvec_dot4_subgroup32", DType::kQ4_0, 2048), "taken");
  EXPECT_EQ(why("linear.wgsl.matvec_registers_subgroup32", DType::kBF16, 6912), "taken");
  const auto argmax = [&](std::string_view variant) {
    return norm_reason(variant, Epilogue::kArgmax, 2048, 2048, device);
  };
  EXPECT_EQ(argmax("fused_linear.wgsl.matvec_dot4_subgroup32"),
            "a subgroup may have 128 lanes, and an argmax takes 64");
  device.subgroup_max = 64;
  EXPECT_EQ(argmax("fused_linear.wgsl.matvec_dot4_subgroup32"), "taken");
  device.subgroup_min = 16;
  EXPECT_EQ(why("linear.wgsl.matvec_dot4_subgroup32", DType::kQ4_0, 2048),
            "subgroups may have 16 lanes, it needs 32");
}

TEST(Select, NarrowLaneGroupsTakeAnArgmaxBySubgroupsOfABlock) {
  DeviceInfo device = plain_webgpu();
  device.features = kFeatureSubgroups | kFeatureDot4;
  device.subgroup_min = 16;
  device.subgroup_max = 128;
  const auto why = [&] {
    return norm_reason("fused_linear.wgsl.matvec_dot4_narrow", Epilogue::kArgmax, 8192, 1152,
                       device);
  };
  EXPECT_EQ(why(), "a subgroup may have 128 lanes, and an argmax takes 64");
  device.subgroup_max = 64;
  EXPECT_EQ(why(), "taken");
}

TEST(Select, LongRowsInBytesHaveMoreLanes) {
  DeviceInfo device = full_webgpu();
  const auto why = [&](Dim in) {
    return product_reason("linear.wgsl.matvec_dot4_many_lanes", DType::kQ4_0, 2048, in, device);
  };
  EXPECT_EQ(why(4128), "taken");
  EXPECT_EQ(why(4096), "is for x' that takes long");
  device.limits.workgroup_bytes = 16384;
  EXPECT_EQ(why(4128), "a workgroup has 16384 bytes of memory, it needs 24576");
  device.limits.workgroup_threads = 256;
  EXPECT_EQ(why(4128), "a workgroup may have 256 lanes, it needs 640");
}

TEST(Select, WideRowsInBytesAreSharedEvenly) {
  DeviceInfo device = full_webgpu();
  const auto why = [&](Dim rows, Dim in, Epilogue epilogue = Epilogue::kNone) {
    return norm_reason("fused_linear.wgsl.matvec_dot4_even", epilogue, rows, in, device);
  };
  EXPECT_EQ(why(9216, 3072), "taken");
  EXPECT_EQ(why(6144, 4096), "taken");
  EXPECT_EQ(why(3072, 2048), "is for 3072 to 4096 columns, not 2048");
  EXPECT_EQ(why(10240, 8192), "is for 3072 to 4096 columns, not 8192");
  EXPECT_EQ(why(9216, 3072, Epilogue::kAdd), "is for a norm in front and nothing after it");
  EXPECT_EQ(why(16384, 4096), "takes 9 units a lane, these are 24");
  device.limits.workgroup_threads = 512;
  EXPECT_EQ(why(9216, 3072), "a workgroup may have 512 lanes, it needs 768");
}

TEST(Select, GatedNetworksHaveLaneGroupsThatTheirRowsBusy) {
  DeviceInfo device = full_webgpu();
  const auto taken = [&](Dim columns, DType dtype, DType down_dtype) -> std::string {
    const Op op = GatedFfn{.glu = {.prologue = Prologue::kNorm, .epilogue = Epilogue::kGlu}};
    Problem problem = ordinary(op);
    const Dim inner = 6 * columns;
    problem.inputs[0].shape[1] = columns;
    problem.inputs[1] = tensor({2 * inner, columns}, dtype);
    problem.inputs[2].shape[0] = columns;
    problem.inputs[3] = tensor({columns, inner}, down_dtype);
    problem.outputs[0].shape[1] = 2 * columns;
    const auto selected = select_variant(problem, device);
    return selected ? std::string(selected->variant->name) : selected.error().message;
  };
  EXPECT_EQ(taken(1152, DType::kQ4_0, DType::kQ4_0), "gated_ffn.wgsl.dot4_narrow");
  EXPECT_EQ(taken(1024, DType::kQ4_0, DType::kQ4_0), "gated_ffn.wgsl.dot4_subgroup32");
  EXPECT_EQ(taken(576, DType::kBF16, DType::kQ4_0), "gated_ffn.wgsl.subgroup32");
  device.subgroup_min = 16;
  EXPECT_EQ(taken(1152, DType::kQ4_0, DType::kQ4_0), "gated_ffn.wgsl.subgroup");
  device.limits.workgroup_threads = 256;
  device.features = 0;
  EXPECT_EQ(taken(1152, DType::kQ4_0, DType::kQ4_0), "gated_ffn.wgsl.plain");
}

TEST(Select, FewLongRowsInFloatsKeepTheirX) {
  DeviceInfo device = plain_webgpu();
  device.features = kFeatureSubgroups;
  const auto why = [&](Dim rows, Dim in) {
    return product_reason("linear.wgsl.matvec_registers_subgroup", DType::kBF16, rows, in, device);
  };
  EXPECT_EQ(why(1152, 6912), "taken");
  EXPECT_EQ(why(4096, 8192), "taken");
  EXPECT_EQ(why(4104, 8192), "is for few rows");
  EXPECT_EQ(why(1152, 2048), "is for 2056 to 8192 columns, not 2048");
  EXPECT_EQ(why(1152, 8200), "is for 2056 to 8192 columns, not 8200");
}

TEST(Select, ASmallBatchHasKernelsOfItsOwn) {
  DeviceInfo device = plain_webgpu();
  const auto name = [&](const Op& op, uint32_t tokens) {
    return select_variant(ordinary(op, tokens), device)->variant->name;
  };
  for (const uint32_t tokens : {2u, 8u}) {
    EXPECT_EQ(name(Linear{}, tokens), "linear.wgsl.small_batch");
    EXPECT_EQ(name(Qkv{32, 16}, tokens), "qkv.wgsl.small_batch");
    EXPECT_EQ(name(LinearGlu{}, tokens), "linear_glu.wgsl.small_batch");
  }
  const Op op = Linear{};
  const auto more = select_variant(ordinary(op, 9), device);
  EXPECT_EQ(more->variant->name, "linear.wgsl.matmul");
  EXPECT_EQ(std::ranges::count(more->passed_over,
                               "linear.wgsl.small_batch: is for at most 8 tokens, not 9"),
            1);
  device.features = kFeatureSubgroups;
  device.subgroup_min = device.subgroup_max = 32;
  EXPECT_EQ(name(Linear{}, 8), "linear.wgsl.small_batch_subgroup");
  device.subgroup_max = 64;
  EXPECT_EQ(name(Linear{}, 8), "linear.wgsl.small_batch");
}

TEST(Select, OddRowLengthsFallBackToTheGeneralKernel) {
  const Op op = Linear{};
  Problem odd = ordinary(op);
  odd.inputs[0].shape[1] = odd.inputs[1].shape[1] = 13;
  auto selected = select_variant(odd, plain_webgpu());
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->variant->name, "linear.wgsl.any");
  for (const char* reason : {"linear.wgsl.matvec: in = 13 is no multiple of 8",
                             "linear.wgsl.matmul: is for several tokens"}) {
    EXPECT_EQ(std::ranges::count(selected->passed_over, reason), 1) << reason;
  }
}

TEST(Select, NamesEveryReasonWhenNothingFits) {
  const Op op = Attention{};
  Problem odd = ordinary(op);
  odd.inputs[1].shape[3] = 7;
  auto selected = select_variant(odd, plain_webgpu());
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(selected.error().message.find("head_dim = 7 is odd"), std::string::npos);
}

TEST(Select, TakesTheFirstOfTheForcedThatFits) {
  const Op op = Linear{};
  const DeviceInfo device = plain_webgpu();
  const ForcedVariants forced = {{"linear", "linear.wgsl.matmul"}, {"linear", "linear.wgsl.any"}};
  const auto one = select_variant(ordinary(op), device, forced);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->variant->name, "linear.wgsl.any");
  EXPECT_EQ(reason(one, "linear.wgsl.matvec"), "linear.wgsl.any is forced");
  EXPECT_EQ(one->passed_over.back(), "linear.wgsl.matmul: is for several tokens");
  EXPECT_EQ(select_variant(ordinary(op, 64), device, forced)->variant->name, "linear.wgsl.matmul");
  const auto none = select_variant(ordinary(op), device, {{"linear", "linear.wgsl.matmul"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "No forced variant computes linear f32[T,64] f16[64,64] -> f32[T,64] in steps of 1 on "
            "\"plain\" (linear.wgsl.matmul: is for several tokens); those that do are "
            "linear.wgsl.matvec, linear.wgsl.any.");
}

TEST(Select, FollowsAdviceWhereItCan) {
  const Op op = Linear{};
  const DeviceInfo device = plain_webgpu();
  const std::string problem = problem_text(ordinary(op));
  VariantAdvice advice;
  const auto name = [&](uint32_t tokens = 1) {
    return select_variant(ordinary(op, tokens), device, {}, advice)->variant->name;
  };
  advice.tuned[problem] = {"linear.wgsl.any",
                           {{"linear.wgsl.any", 12.1e-6}, {"linear.wgsl.matvec", 15e-6}}};
  EXPECT_EQ(name(), "linear.wgsl.any");
  EXPECT_EQ(name(64), "linear.wgsl.matmul") << "another problem";
  const auto matvec_reason = [&] {
    return reason(select_variant(ordinary(op), device, {}, advice), "linear.wgsl.matvec");
  };
  EXPECT_EQ(matvec_reason(), "tuned: 15.0 us against 12.1 us");
  advice.preferred = {{"linear", "linear.cpu"}, {"linear", "linear.wgsl.matvec_subgroup"}};
  EXPECT_EQ(name(), "linear.wgsl.any") << "no wish fits";
  advice.preferred.emplace("linear", "linear.wgsl.matvec");
  EXPECT_EQ(name(), "linear.wgsl.matvec") << "a model's wish comes before";
  advice.preferred = {{"linear", "linear.wgsl.any"}};
  EXPECT_EQ(matvec_reason(), "the model prefers linear.wgsl.any");
  advice.wrong["linear.wgsl.any"] = "case 1: element 3";
  EXPECT_EQ(name(), "linear.wgsl.matvec");
  const auto chosen = select_variant(ordinary(op), device, {}, advice);
  EXPECT_EQ(chosen->passed_over.back(),
            "linear.wgsl.any: computes wrongly on this device: case 1: element 3");
  advice.tuned[problem] = {"a kernel of another version", {}};
  EXPECT_EQ(name(), "linear.wgsl.matvec");
  const auto forced = select_variant(ordinary(op), device, {{"linear", "linear.wgsl.any"}}, advice);
  ASSERT_FALSE(forced);
  EXPECT_NE(forced.error().message.find("computes wrongly"), std::string::npos);
}

TEST(Select, PassesOverWhatRoundsWherePrecisionIsExact) {
  const Op op = Linear{};
  const DeviceInfo device = {.backend = BackendKind::kCpu, .features = kFeatureVectors};
  const VariantAdvice exact = {.exact = true};
  EXPECT_EQ(select_variant(ordinary(op), device)->variant->name, "linear.cpu.vectors");
  const auto chosen = select_variant(ordinary(op), device, {}, exact);
  EXPECT_EQ(chosen->variant->name, "linear.cpu.exact");
  EXPECT_EQ(chosen->passed_over.back(),
            "linear.cpu.vectors: rounds what it multiplies, which exact precision rules out");
  EXPECT_FALSE(select_variant(ordinary(op), device, {{"linear", "linear.cpu.vectors"}}, exact));
}

TEST(Select, NamesProblemsByWhatMatters) {
  const Op op = Linear{};
  const Problem one = ordinary(op), many = ordinary(op, 64);
  EXPECT_EQ(problem_text(one), "linear f32[T,64] f16[64,64] -> f32[T,64] in steps of 1");
  EXPECT_NE(problem_text(one), problem_text(many));
  Problem cut = one;
  cut.cut = {32, 96};
  EXPECT_EQ(problem_text(cut), "linear f32[T,64] f16[64,64] -> f32[T,64] rows 32/96 in steps of 1");
}

TEST(Select, ChecksNamesOfOpsAndVariants) {
  EXPECT_TRUE(check_variants({{"linear", "linear.wgsl.any"}, {"rope", "rope.cpu"}}));
  const auto op = check_variants({{"linaer", "x"}});
  ASSERT_FALSE(op);
  EXPECT_TRUE(op.error().message.starts_with(
      "There is no op \"linaer\" (did you mean linear?); there are embed, linear,"));
  const auto variant = check_variants({{"rope", "linear.wgsl.any"}});
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().message,
            "rope has no variant \"linear.wgsl.any\"; it has rope.cpu.threads, "
            "rope.cpu.own_angles_threads, rope.wgsl.wide, rope.wgsl, rope.cpu, "
            "rope.cpu.own_angles, rope.cuda.wide, rope.cuda.");
}

TEST(CudaVariants, AreWebGpusThatAreNotForProcessorsCores) {
  size_t software = 0;
  for (const KernelVariant& row : all_variants()) {
    if (row.backend != BackendKind::kWebGpu) continue;
    std::string name(row.name);
    const KernelVariant* own = find_variant(name.replace(name.find(".wgsl"), 5, ".cuda"));
    const bool is_software = row.name.ends_with("software");
    software += is_software ? 1 : 0;
    ASSERT_EQ(own == nullptr, is_software) << row.name;
    EXPECT_TRUE(is_software || own->backend == BackendKind::kCuda) << row.name;
  }
  EXPECT_GT(software, 0u);
}

}  // namespace
}  // namespace tokamak
