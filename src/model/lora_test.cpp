// Adapters in a graph, the bytes of their stacks, and what is refused.
#include "model/lora.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/bits.h"
#include "graph/text.h"
#include "model/constant_bytes.h"
#include "model/lora_config.h"

namespace tokamak {
namespace {

struct Made {
  std::string name;
  std::vector<uint64_t> shape;
  DType dtype = DType::kF32;
};

/// Element i of a tensor is i + 1.
TensorFile file_of(const std::vector<Made>& tensors) {
  std::vector<std::byte> bytes;
  std::vector<TensorInfo> infos;
  for (const Made& one : tensors) {
    TensorInfo info{.name = one.name, .dtype = one.dtype, .shape = one.shape};
    info.offset = bytes.size();
    for (uint64_t i = 0; i < info.elements(); ++i) {
      const float value = float(i + 1);
      const uint16_t half = one.dtype == DType::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
      const auto* from = one.dtype == DType::kF32 ? reinterpret_cast<const std::byte*>(&value)
                                                  : reinterpret_cast<const std::byte*>(&half);
      bytes.insert(bytes.end(), from, from + dtype_bytes(one.dtype));
    }
    info.bytes = bytes.size() - info.offset;
    infos.push_back(std::move(info));
  }
  auto made = TensorFile::make({memory_source("adapter.safetensors", std::move(bytes))},
                               std::move(infos), Json(Json::Object{}));
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(TensorFile());
}

std::string a_of(const std::string& module) {
  return "base_model.model.model.layers.0." + module + ".lora_A.weight";
}
std::string b_of(const std::string& module) {
  return "base_model.model.model.layers.0." + module + ".lora_B.weight";
}

Json config_of(const std::string& more = "", uint32_t rank = 2) {
  const auto parsed =
      Json::parse(fmt::format(R"({{"peft_type": "LORA", "r": {}, "lora_alpha": 4{}{}}})", rank,
                              more.empty() ? "" : ", ", more));
  EXPECT_TRUE(parsed);
  return *parsed;
}

LoraFiles adapter_of(const std::vector<Made>& tensors, Json config = config_of()) {
  return {.name = "own",
          .where = "folder",
          .scale = 1,
          .config = std::move(config),
          .tensors = file_of(tensors)};
}

/// q and k of one x, two products of rows of one tensor, and one whose columns are in another
/// order.
constexpr const char* kModel = R"(input  @t: u32[T]
const  @table: f32[9,8] = weight "embed.weight"
const  @q: f32[16,8] = weight "model.layers.0.self_attn.q_proj.weight"
const  @k: f32[8,8] = weight "model.layers.0.self_attn.k_proj.weight"
const  @gate: f32[16,16] = weight "model.layers.0.mlp.gate_up_proj.weight"[0:16]
const  @up: f32[16,16] = weight "model.layers.0.mlp.gate_up_proj.weight"[16:32]
const  @order: u32[16] = order "model.layers.0.mlp.down_proj.g_idx"
const  @down: f32[8,16] = weight "model.layers.0.mlp.down_proj.weight"
%0: f32[T,8] = embed @t, @table {scale=1}
%1: f32[T,16] = linear %0, @q
%2: f32[T,8] = linear %0, @k
%3: f32[T,8] = add %0, %2
%4: f32[T,16] = linear %1, @gate
%5: f32[T,16] = linear %1, @up
%6: f32[T,16] = glu %4, %5 {activation=silu, first=0}
%7: f32[T,16] = gather_columns %6, @order
%8: f32[T,8] = linear %7, @down
%9: f32[T,8] = add %3, %8
return %9
)";

Graph model() {
  auto graph = parse_graph(kModel);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

std::string error_of(const std::vector<LoraFiles>& adapters) {
  Graph graph = model();
  const auto added = add_adapters(graph, adapters);
  return added ? "" : added.error().message;
}

const TensorDesc& constant(const Graph& graph, std::string_view ending) {
  for (const TensorDesc& value : graph.values) {
    if (value.name.ends_with(ending)) return value;
  }
  ADD_FAILURE() << "no " << ending;
  return graph.values[0];
}

TEST(Lora, AddsToProductsWhereTheirResultsAreUsed) {
  Graph graph = model();
  const std::vector<LoraFiles> adapters = {
      adapter_of({{a_of("self_attn.q_proj"), {2, 8}},
                  {b_of("self_attn.q_proj"), {16, 2}},
                  {a_of("self_attn.k_proj"), {2, 8}},
                  {b_of("self_attn.k_proj"), {8, 2}},
                  {a_of("mlp.down_proj"), {2, 16}},
                  {b_of("mlp.down_proj"), {8, 2}}}),
      adapter_of({{a_of("self_attn.k_proj"), {9, 8}}, {b_of("self_attn.k_proj"), {8, 9}}},
                 config_of("", 9))};
  const auto added = add_adapters(graph, adapters);
  ASSERT_TRUE(added) << added.error().message;
  // k has room for 9 of the second adapter; down reads what is in the order of its A.
  EXPECT_EQ(nodes_text(graph),
            R"(%0: f32[T,8] = embed @t, @table {scale=1}
%1: f32[T,16] = linear %0, @q
%2: f32[T,8] = linear %0, @k
%3: f32[T,24] = lora_down %0, @layers.0.self_attn.q_proj.lora_down {rank=24}
%4: f32[T,8] = lora_up %2, %3, @k.lora_up {first=8}
%5: f32[T,8] = add %0, %4
%6: f32[T,16] = lora_up %1, %3, @q.lora_up {first=0}
%7: f32[T,16] = linear %6, @gate
%8: f32[T,16] = linear %6, @up
%9: f32[T,16] = glu %7, %8 {activation=silu, first=0}
%10: f32[T,16] = gather_columns %9, @order
%11: f32[T,8] = linear %10, @down
%12: f32[T,8] = lora_down %9, @layers.0.mlp.down_proj.lora_down {rank=8}
%13: f32[T,8] = lora_up %11, %12, @down.lora_up {first=0}
%14: f32[T,8] = add %5, %13
return %14
)");
  auto again = parse_graph(to_text(graph));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(graph));
}

TEST(Lora, StacksHoldTheMatricesOfAllAdaptersFilledUpWithZeros) {
  Graph graph = model();
  const std::vector<LoraFiles> adapters = {
      adapter_of({{a_of("mlp.gate_up_proj"), {2, 16}, DType::kBF16},
                  {b_of("mlp.gate_up_proj"), {32, 2}, DType::kBF16}}),
      adapter_of({{a_of("mlp.gate_up_proj"), {1, 16}, DType::kBF16},
                  {b_of("mlp.gate_up_proj"), {32, 1}, DType::kBF16}},
                 config_of(R"("use_rslora": true)", 1)),
      adapter_of({{a_of("self_attn.k_proj"), {2, 8}}, {b_of("self_attn.k_proj"), {8, 2}}})};
  ASSERT_TRUE(add_adapters(graph, adapters));
  TensorFile all;
  for (size_t i = 0; i < adapters.size(); ++i) {
    auto joined = with_tensors(all, lora_prefix(i), adapters[i].tensors);
    ASSERT_TRUE(joined) << joined.error().message;
    all = *std::move(joined);
  }
  const auto values_of = [&](const TensorDesc& stack) {
    EXPECT_EQ(stack.dtype, DType::kBF16) << "factors 2 and 4 keep a bf16 as it is";
    const std::vector<std::byte> bytes = constant_bytes(all, stack);
    std::vector<float> values(bytes.size() / 2);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t half = 0;
      std::memcpy(&half, bytes.data() + 2 * i, sizeof half);
      values[i] = bf16_to_f32(half);
    }
    return values;
  };
  const std::vector<float> a = values_of(constant(graph, "gate_up_proj.lora_down"));
  ASSERT_EQ(a.size(), 3u * 8 * 16);
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t adapter = i / 128, row = i / 16 % 8;
    const bool is_there = adapter < 2 && row < 2 - adapter;
    EXPECT_EQ(a[i], is_there ? float(i % 128 + 1) : 0) << i;
  }
  // Rows 16 to 31 of B: of the first adapter times 4 / 2, of the second times 4 / sqrt(1).
  const std::vector<float> b = values_of(constant(graph, "up.lora_up"));
  ASSERT_EQ(b.size(), 3u * 16 * 8);
  for (size_t i = 0; i < b.size(); ++i) {
    const size_t adapter = i / 128, row = 16 + i / 8 % 16, column = i % 8;
    float expected = 0;
    if (adapter == 0 && column < 2) expected = 2 * float(row * 2 + column + 1);
    if (adapter == 1 && column < 1) expected = 4 * float(row + 1);
    EXPECT_EQ(b[i], expected) << i;
  }
}

TEST(Lora, ReportsWhatDoesNotFit) {
  const auto q = [](std::vector<uint64_t> a, std::vector<uint64_t> b) {
    return std::vector{adapter_of(
        {{a_of("self_attn.q_proj"), std::move(a)}, {b_of("self_attn.q_proj"), std::move(b)}})};
  };
  EXPECT_EQ(error_of(q({2, 8}, {16, 2})), "");
  EXPECT_EQ(error_of(q({2, 9}, {16, 2})),
            "adapter.safetensors: tensor \"" + a_of("self_attn.q_proj") +
                "\" is f32[2, 9], expected [rank, 8] as the model's layers.0.self_attn.q_proj "
                "takes.");
  EXPECT_EQ(error_of(q({2, 8}, {8, 2})),
            "adapter.safetensors: tensor \"" + b_of("self_attn.q_proj") +
                "\" is f32[8, 2], expected [16, 2] as the model's layers.0.self_attn.q_proj gives "
                "and A has.");
  EXPECT_EQ(error_of(q({3, 8}, {16, 3})),
            "adapter.safetensors: tensor \"" + a_of("self_attn.q_proj") +
                "\" is f32[3, 8], expected [2, 8] by r of adapter_config.json.");
  EXPECT_EQ(
      error_of({adapter_of({{a_of("self_attn.q_proj"), {2, 8}}})}),
      "adapter.safetensors: tensor \"" + a_of("self_attn.q_proj") + "\" has no lora_B beside it.");
  EXPECT_EQ(error_of({adapter_of({{a_of("self_attn.o_proj"), {2, 8}}},
                                 config_of(R"("base_model_name_or_path": "org/base")"))}),
            "adapter.safetensors: tensor \"" + a_of("self_attn.o_proj") +
                "\" is for \"layers.0.self_attn.o_proj\", which this model has no adaptable "
                "product of; its layers have mlp.down_proj, mlp.gate_up_proj, self_attn.k_proj, "
                "self_attn.q_proj. The adapter was made for \"org/base\".");
  EXPECT_EQ(error_of({adapter_of({{"base_model.model.model.embed.lora_embedding_A", {2, 8}}})}),
            "adapter.safetensors: tensor \"base_model.model.model.embed.lora_embedding_A\" is no "
            "lora_A.weight or lora_B.weight of a module, and nothing else is read.");
  EXPECT_EQ(error_of({adapter_of({})}), "folder: the adapter has no tensors.");
}

std::string config_error(const std::string& more) {
  const Json config = config_of(more);
  const auto read = read_lora_config({config, "adapter_config.json"});
  return read ? "" : read.error().message;
}

TEST(LoraConfig, TakesWhatPeftWritesOfAPlainAdapter) {
  EXPECT_EQ(config_error(R"("bias": "none", "use_dora": false, "modules_to_save": null,
                            "target_modules": "all-linear", "fan_in_fan_out": false,
                            "layers_to_transform": null, "rank_pattern": {}, "alpha_pattern": {},
                            "init_lora_weights": "gaussian", "inference_mode": true)"),
            "");
}

TEST(LoraConfig, RefusesWhatChangesTheModelOtherwise) {
  EXPECT_EQ(config_error(R"("use_dora": true)"),
            "adapter_config.json: use_dora is true, which this engine does not do: DoRA scales "
            "whole rows of the model.");
  EXPECT_EQ(config_error(R"("modules_to_save": ["lm_head"])"),
            "adapter_config.json: modules_to_save is [\"lm_head\"], which this engine does not do: "
            "modules that were trained as a whole are weights of another model.");
  EXPECT_EQ(config_error(R"("bias": "lora_only")"),
            "adapter_config.json: bias is \"lora_only\", expected \"none\": biases of the model "
            "are not changed.");
  EXPECT_NE(config_error(R"("init_lora_weights": "pissa_niter_4")"), "");
  EXPECT_NE(config_error(R"("alpha_pattern": {"(?!k_proj).*": 3})"), "");
  EXPECT_NE(config_error(R"("alpha_pattern": {"q_proj": 0})"), "");
  const auto other = Json::parse(R"({"peft_type": "IA3"})");
  const auto read = read_lora_config({*other, "adapter_config.json"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "adapter_config.json: peft_type is \"IA3\"; adapters of this engine are \"LORA\".");
}

TEST(LoraConfig, AlphaMayBeAModulesOwn) {
  const Json config = config_of(
      R"("alpha_pattern": {"q_proj": 8, "1.self_attn.k_proj": 6, ".*k_proj": 12,
                           "^model.layers.2.mlp.up_proj": 20, "model.layers.2.mlp.up_proj": 40})",
      4);
  const auto read = read_lora_config({config, "adapter_config.json"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->factor("model.layers.0.self_attn.q_proj", 4), 2);
  EXPECT_EQ(read->factor("model.layers.1.self_attn.k_proj", 2), 3) << "the first that matches";
  EXPECT_EQ(read->factor("model.layers.11.self_attn.k_proj", 4), 3) << "the end of another name";
  EXPECT_EQ(read->factor("model.layers.2.mlp.up_proj", 4), 5) << "a full name";
  EXPECT_EQ(read->factor("model.layers.3.mlp.up_proj", 4), 1);
}

TEST(Lora, NotesPatternsThatFitNoModule) {
  const auto adapter =
      adapter_of({{a_of("self_attn.q_proj"), {2, 8}}, {b_of("self_attn.q_proj"), {16, 2}}},
                 config_of(R"("alpha_pattern": {"model.layers.0.self_attn.q_proj": 8,
                                                "layer.0.q_proj": 8})"));
  Graph graph = model();
  std::vector<std::string> notes;
  ASSERT_TRUE(
      add_adapters(graph, {&adapter, 1}, [&](std::string_view text) { notes.emplace_back(text); }));
  EXPECT_EQ(notes, std::vector<std::string>{"folder: alpha_pattern has \"layer.0.q_proj\", which "
                                            "fits no module of the adapter."});
}

}  // namespace
}  // namespace tokamak
