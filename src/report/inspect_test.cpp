#include "report/inspect.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "plan/text.h"

namespace tokamak {
namespace {

/// gemma3_mm has a vision tower, which the text model leaves out.
class InspectTest : public testing::Test {
 protected:
  void SetUp() override {
    auto files = read_model_files(TOKAMAK_TEST_DATA "/models/gemma3_mm");
    ASSERT_TRUE(files) << files.error().message;
    files_ = *std::move(files);
    auto compiled = Engine::compile(files_, cpu_->device(), options_);
    ASSERT_TRUE(compiled) << compiled.error().message;
    compiled_ = *std::move(compiled);
  }

  Result<std::string> show(InspectView view, InspectForm form) const {
    return inspect(files_, compiled_, cpu_->device(), options_, {.view = view, .form = form});
  }
  Json json(InspectView view) const {
    const auto text = show(view, InspectForm::kJson);
    EXPECT_TRUE(text);
    return Json::parse(*text).value_or(Json());
  }

  const std::unique_ptr<Backend> cpu_ = make_cpu_backend();
  OpenOptions options_;
  ModelFiles files_;
  Engine::Compiled compiled_;
};

TEST_F(InspectTest, SummaryTellsSizesAsTheGraphHasThem) {
  const Json out = json(InspectView::kSummary);
  EXPECT_EQ(*out.find("layers"), Json(6));
  EXPECT_EQ(*out.find("width"), Json(64));
  EXPECT_EQ(*out.find("heads"), Json(2));
  EXPECT_EQ(*out.find("kv_heads"), Json(1));
  EXPECT_EQ(*out.find("head_dim"), Json(32));
  EXPECT_EQ(*out.find("fusions")->find("qkv"), Json(6));
  EXPECT_EQ(*out.find("launches")->find("decode")->find("fused"),
            Json(uint64_t{compiled_.plan.phases[2].steps.size()}));
  EXPECT_GT(out.find("launches")->find("decode")->find("unfused")->as_integer(),
            out.find("launches")->find("decode")->find("fused")->as_integer());
}

TEST_F(InspectTest, FusionsSayOfWhichStepTheyAre) {
  const auto text = show(InspectView::kSummary, InspectForm::kTable);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("per decode step: scale_embed 1, "), text->npos) << *text;
}

TEST_F(InspectTest, TextFormsParseBack) {
  for (const InspectView view : {InspectView::kGraph, InspectView::kFused}) {
    const auto text = show(view, InspectForm::kText);
    ASSERT_TRUE(text);
    const auto graph = parse_graph(*text);
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(to_text(*graph), *text);
  }
  const auto plan = show(InspectView::kPlan, InspectForm::kText);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(parse_plan(*plan));
}

TEST_F(InspectTest, GraphCostsAreThoseOfAStepOfOneToken) {
  uint64_t bytes = 0;
  const Json out = json(InspectView::kFused);
  for (const Json& node : out.find("nodes")->as_array()) {
    bytes += uint64_t(node.find("bytes")->as_integer());
  }
  EXPECT_EQ(bytes, phase_cost(compiled_.plan, compiled_.plan.phases[0], 1, 1).bytes);
}

TEST_F(InspectTest, WeightsNameWhatIsSkipped) {
  const auto table = show(InspectView::kWeights, InspectForm::kTable);
  ASSERT_TRUE(table);
  EXPECT_NE(table->find("skipped: vision_tower: 21 tensors"), std::string::npos);
  const Json out = json(InspectView::kWeights);
  uint64_t skipped = 0;
  for (const Json& tensor : out.find("tensors")->as_array()) {
    skipped += tensor.find("constant")->is_null() ? 1 : 0;
  }
  EXPECT_EQ(Json(skipped), *out.find("skipped")->find("tensors"));
}

TEST_F(InspectTest, MemoryAddsUpToTheFootprint) {
  const Json out = json(InspectView::kMemory);
  const Json& total = out.find("memory")->as_array().back();
  EXPECT_EQ(*total.find("what"), Json("total"));
  EXPECT_EQ(*total.find("bytes"), Json(footprint(compiled_.plan).total()));
  EXPECT_EQ(*total.find("buffers"), Json(uint64_t{compiled_.plan.buffers.size()}));
}

TEST_F(InspectTest, PlanGroupsTheReasonsForOtherKernels) {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  const auto compiled = Engine::compile(files_, device, options_);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const auto table = inspect(files_, *compiled, device, options_, {.view = InspectView::kPlan});
  ASSERT_TRUE(table);
  EXPECT_NE(table->find("step_attention.wgsl in 6 steps, passing over\n"
                        "  step_attention.wgsl.software: device lacks subgroups\n"
                        "  step_attention.wgsl.shared32: device lacks subgroups\n"
                        "  step_attention.wgsl.subgroup32: device lacks subgroups\n"
                        "  step_attention.wgsl.shared8: device lacks subgroups\n"
                        "  step_attention.wgsl.subgroup8: device lacks subgroups\n"),
            std::string::npos)
      << *table;
}

TEST_F(InspectTest, TellsWhatBecomesOfTheModelsWishes) {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  files_.description.hints =
      *Json::parse(R"({"kv": "f32", "kernels": {"qkv": ["qkv.wgsl.matvec_subgroup", "qkv.wgsl.any"],
                     "rope": "rope.cpu", "route": "route.wgsl"}})");
  const auto told = [&] {
    const auto compiled = Engine::compile(files_, device, options_);
    EXPECT_TRUE(compiled) << compiled.error().message;
    const auto text = inspect(files_, *compiled, device, options_, {});
    EXPECT_TRUE(text);
    const size_t start = text->find("tokamak.json");
    return text->substr(start, text->find('\n', start) - start);
  };
  EXPECT_EQ(
      told(),
      "tokamak.json   kv f32, qkv.wgsl.matvec_subgroup (device lacks subgroups), qkv.wgsl.any "
      "(in 12 of 12 steps), rope.cpu (is for cpu), route.wgsl (the plan has no route)");
  options_.kv = "f16";
  options_.forced = {{"qkv", "qkv.wgsl.matvec"}, {"qkv", "qkv.wgsl.matmul"}};
  EXPECT_TRUE(told().starts_with(
      "tokamak.json   kv f32 (--kv f16 comes first), qkv.wgsl.matvec_subgroup (--force comes "
      "first), qkv.wgsl.any (--force comes first)"))
      << told();
  files_.description.hints = Json(Json::Object{});
  EXPECT_EQ(told(), "tokamak.json   wishes for nothing");
}

TEST_F(InspectTest, AModelsWishIsItsCachesType) {
  const auto states = [&] {
    const auto compiled = Engine::compile(files_, cpu_->device(), options_);
    EXPECT_TRUE(compiled) << compiled.error().message;
    for (const Buffer& buffer : compiled->plan.buffers) {
      if (buffer.use == BufferUse::kState) return buffer.tensor.dtype;
    }
    return DType::kU8;
  };
  EXPECT_EQ(states(), DType::kF32);
  files_.description.hints = Json(Json::Object{{"kv", "f16"}});
  EXPECT_EQ(states(), DType::kF16);
  options_.kv = "f32";
  EXPECT_EQ(states(), DType::kF32);
}

TEST_F(InspectTest, DotHasANodePerOperation) {
  const auto dot = show(InspectView::kFused, InspectForm::kDot);
  ASSERT_TRUE(dot);
  const std::string last = fmt::format("  n{} [label=", compiled_.fused.nodes.size() - 1);
  EXPECT_NE(dot->find(last), std::string::npos);
  EXPECT_TRUE(dot->starts_with("digraph"));
  EXPECT_TRUE(show(InspectView::kPlan, InspectForm::kDot));
}

TEST_F(InspectTest, RefusesFormsThatAViewDoesNotHave) {
  for (const InspectForm form : {InspectForm::kDot, InspectForm::kText}) {
    const auto out = show(InspectView::kMemory, form);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace tokamak
