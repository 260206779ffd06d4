#include "report/inspect/inspect.h"

#include <gtest/gtest.h>

#include "base/wrap.h"
#include "graph/text.h"
#include "plan/text.h"

namespace tokamak {
namespace {

size_t widest_line(std::string_view text) {
  size_t widest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, columns_of(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

/// The words of a fact, without the line ends between them.
std::string fact(const std::string& text, const std::string& title) {
  const size_t start = ("\n" + text).find("\n" + title + "  ");
  if (start == text.npos) return "";
  std::string found;
  for (size_t at = start; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (at != start && text[at] != ' ') break;
    const size_t first = at == start ? at : text.find_first_not_of(' ', at);
    found += (found.empty() ? "" : " ") + text.substr(first, end - first);
    at = end + 1;
  }
  return found;
}

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

TEST_F(InspectTest, SummaryHasSizesAsTheGraphHasThem) {
  const Json out = json(InspectView::kSummary);
  EXPECT_EQ(*out.find("layers"), Json(6));
  EXPECT_EQ(*out.find("width"), Json(64));
  EXPECT_EQ(*out.find("heads"), Json(2));
  EXPECT_EQ(*out.find("kv_heads"), Json(1));
  EXPECT_EQ(*out.find("head_dim"), Json(32));
  EXPECT_EQ(*out.find("fusions")->find("qkv"), Json(6));
  EXPECT_EQ(*out.find("launches")->find("decode")->find("fused"),
            Json(uint64_t{compiled_.main.plan.phases[2].steps.size()}));
  EXPECT_GT(out.find("launches")->find("decode")->find("unfused")->as_integer(),
            out.find("launches")->find("decode")->find("fused")->as_integer());
}

TEST_F(InspectTest, FusionsSayOfWhichStepTheyAre) {
  const auto text = show(InspectView::kSummary, InspectForm::kTable);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("per decode step: scale_embed 1, "), text->npos) << *text;
}

TEST_F(InspectTest, FusionsAreThoseThatFired) {
  const auto text = show(InspectView::kSummary, InspectForm::kTable);
  ASSERT_TRUE(text);
  const std::string fired = fact(*text, "fusions");
  EXPECT_NE(fired.find("qkv 6"), fired.npos) << fired;
  EXPECT_EQ(fired.find(" 0"), fired.npos) << fired;
  EXPECT_EQ(*json(InspectView::kSummary).find("fusions")->find("scale_route"), Json(0));
}

TEST_F(InspectTest, SummarySpellsOutHeads) {
  const auto text = show(InspectView::kSummary, InspectForm::kTable);
  ASSERT_TRUE(text);
  EXPECT_EQ(fact(*text, "heads"), "heads          2 query heads, 1 KV head, head_dim 32");
}

TEST_F(InspectTest, TheModelIsCalledWhatItWasAskedFor) {
  const auto told = [&] {
    const auto text = show(InspectView::kSummary, InspectForm::kTable);
    EXPECT_TRUE(text);
    return fact(*text, "model");
  };
  EXPECT_EQ(told(), "model          gemma3_mm (built-in)");
  options_.model = "org/name";
  EXPECT_EQ(told(), "model          org/name");
}

/// The summary of a model of tests/data.
std::string told_of(const std::string& model, const std::string& title) {
  OpenOptions options{.model = TOKAMAK_TEST_DATA "/" + model};
  const auto files = read_model_files(options.model);
  EXPECT_TRUE(files) << files.error().message;
  const auto cpu = make_cpu_backend();
  const auto compiled = Engine::compile(*files, cpu->device(), options);
  EXPECT_TRUE(compiled) << compiled.error().message;
  const auto text = inspect(*files, *compiled, cpu->device(), options, {});
  EXPECT_TRUE(text);
  return fact(*text, title);
}

TEST(InspectQuantization, CountsTheBitsOfAWeightInMatrices) {
  EXPECT_EQ(told_of("models/llama_untied", "quantization"),
            "quantization   none (bf16), 16.00 bits per weight");
  // 4.5 bits in a block of q4_0, but the largest matrix is in q6_k.
  EXPECT_EQ(told_of("gguf/llama-q4_0.gguf", "quantization"),
            "quantization   Q4_0, 4.68 bits per weight");
  // A group of 64: 32 bytes of numbers, 2 each for its scale and its zero.
  EXPECT_EQ(told_of("models/llama_mlx4_g64", "quantization"),
            "quantization   affine4_g64_f16, 4.50 bits per weight");
}

/// The tables of a screen, on a device with long names of kernels.
TEST(InspectScreen, HasAHundredColumns) {
  const DeviceInfo device{.backend = BackendKind::kWebGpu,
                          .features = kFeatureF16 | kFeatureSubgroups};
  for (const char* model : {"gemma3_mm", "gemma4_moe", "llama_gptq4_g128_actorder", "lfm2",
                            "qwen3_5_text", "qwen3_moe"}) {
    OpenOptions options{.model = fmt::format(TOKAMAK_TEST_DATA "/models/{}", model)};
    const auto files = read_model_files(options.model);
    ASSERT_TRUE(files) << files.error().message;
    const auto compiled = Engine::compile(*files, device, options);
    ASSERT_TRUE(compiled) << compiled.error().message;
    for (const InspectView view :
         {InspectView::kSummary, InspectView::kGraph, InspectView::kFused, InspectView::kPlan,
          InspectView::kWeights, InspectView::kMemory}) {
      const auto text = inspect(*files, *compiled, device, options, {.view = view});
      ASSERT_TRUE(text);
      EXPECT_LE(widest_line(*text), kScreenColumns) << model << "\n" << *text;
    }
  }
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
  EXPECT_EQ(bytes, phase_cost(compiled_.main.plan, compiled_.main.plan.phases[0], 1, 1).bytes);
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
  EXPECT_EQ(*total.find("bytes"), Json(footprint(compiled_.main.plan).total()));
  EXPECT_EQ(*total.find("buffers"), Json(uint64_t{compiled_.main.plan.buffers.size()}));
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

TEST_F(InspectTest, ReportsWhatBecomesOfTheModelsWishes) {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  files_.description.hints = *Json::parse(
      R"({"kv": "f32", "kernels": {"linear_glu": ["linear_glu.wgsl.matvec_subgroup", "linear_glu.wgsl.any"],
                     "rope_append": "rope_append.cpu", "route": "route.wgsl"}})");
  const auto told = [&] {
    const auto compiled = Engine::compile(files_, device, options_);
    EXPECT_TRUE(compiled) << compiled.error().message;
    const auto text = inspect(files_, *compiled, device, options_, {});
    EXPECT_TRUE(text);
    return fact(*text, "tokamak.json");
  };
  EXPECT_EQ(
      told(),
      "tokamak.json   kv f32, linear_glu.wgsl.matvec_subgroup (device lacks subgroups), "
      "linear_glu.wgsl.any "
      "(in 18 of 18 steps), rope_append.cpu (is for cpu), route.wgsl (the plan has no route)");
  options_.kv = "f16";
  options_.forced = {{"linear_glu", "linear_glu.wgsl.matvec"},
                     {"linear_glu", "linear_glu.wgsl.matmul"}};
  EXPECT_TRUE(
      told().starts_with("tokamak.json   kv f32 (--kv f16 comes first), "
                         "linear_glu.wgsl.matvec_subgroup (--force comes "
                         "first), linear_glu.wgsl.any (--force comes first)"))
      << told();
  files_.description.hints = Json(Json::Object{});
  EXPECT_EQ(told(), "tokamak.json   wishes for nothing");
}

TEST_F(InspectTest, AModelsWishIsItsCachesType) {
  const auto states = [&] {
    const auto compiled = Engine::compile(files_, cpu_->device(), options_);
    EXPECT_TRUE(compiled) << compiled.error().message;
    for (const Buffer& buffer : compiled->main.plan.buffers) {
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
  const std::string last = fmt::format("  n{} [label=", compiled_.main.fused().nodes.size() - 1);
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
