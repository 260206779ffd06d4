// The ops that only steps of one token have, but products with what is around them.
#include "graph/kv_cache.h"
#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Writer = SelfTestWriter;
constexpr double kSum = kSelfTestSum, kFunction = kSelfTestFunction;
const SelfTestSteps kOne = {1, {1, 1}};

/// Two products in a launch, their sums read by a third.
void add_gated_ffn(std::vector<SelfTestCase>& all) {
  for (const auto& [type, inner] : {std::pair{"bf16", 1064u}, {"q4_0", 4256u}}) {
    Writer w(fmt::format("gated_ffn {}", type), GatedFfn::kName);
    const DType dtype = dtype_from_name(type).value();
    constexpr uint32_t kColumns = 64;
    const auto front =
        w.graph().add_node(FusedLinear{.clears = true},
                           {w.row(64), w.random("front", {kColumns, 64}, DType::kBF16, 0.1f)});
    const GatedFfn op{
        .glu = {.prologue = Prologue::kNorm, .epilogue = Epilogue::kGlu, .eps = 1e-5f},
        .adds_x = true};
    const ValueId sums =
        w.graph()
            .add_node(op, {front[0], w.random("gate_up", {2 * inner, kColumns}, dtype, 0.1f),
                           w.random("norm", {kColumns}),
                           w.random("down", {kColumns, inner}, dtype, 0.1f), front[1]})
            .front();
    const ValueId y = w.graph()
                          .add_node(FusedLinear{.prologue = Prologue::kNorm, .eps = 1e-5f},
                                    {sums, w.random("w", {24, kColumns}, DType::kBF16, 0.1f),
                                     w.random("v", {kColumns})})
                          .front();
    all.push_back(w.finish(y, kOne, 2 * kSum));
  }
}

/// Keys in splits, whose results the next product merges.
void add_split_attention(std::vector<SelfTestCase>& all) {
  constexpr uint32_t kHeads = 4, kHeadDim = 64;
  struct Split {
    std::string_view op_tested;
    uint32_t splits;
    DType cache = DType::kF16;
  };
  constexpr uint32_t kLong = StepAttention::kLongContextSplits;
  for (const auto& [op_tested, splits, cache_type] :
       {Split{StepAttention::kName, 3}, Split{FusedLinear::kName, 3},
        Split{StepAttention::kName, kLong}, Split{StepAttention::kName, 3, kQ8Cache},
        Split{StepAttention::kName, kLong, kQ8Cache}}) {
    Writer w(
        fmt::format("{} {} 4/2x64 in {} splits", op_tested, cache_type_name(cache_type), splits),
        op_tested);
    uint32_t slots = 0;
    const ValueId pages = w.pages(2, slots);
    const ValueId cache = w.graph().kv_cache("cache", cache_type, slots, 2, kHeadDim);
    const RopeTable recipe{{1, 0.5f, 0.1f}, 1.25f};
    const ValueId table = w.constant("table", {8, 6}, rope_table(recipe, 8));
    const ValueId row = w.row((kHeads + 4) * kHeadDim, 2);
    const ValueId norms = w.random("norms", {2 * kHeadDim});
    const StepAttention op{.heads = kHeads, .eps = 1e-5f, .scale = 0.2f, .splits = splits};
    const ValueId parts = w.graph().add_node(op, {row, table, cache, pages, norms}).front();
    const ValueId m = w.random("w", {24, kHeads * kHeadDim}, DType::kBF16, 0.1f);
    const FusedLinear merge{.prologue = Prologue::kMergeSplits, .splits = splits};
    const ValueId y = w.graph().add_node(merge, {parts, m}).front();
    all.push_back(w.finish(y, kOne, self_test_attention(cache_type)));
  }
}

void add_argmax(std::vector<SelfTestCase>& all) {
  for (const std::string_view op : {BlockArgmax::kName, NextToken::kName}) {
    Writer w(fmt::format("{} of 131", op), op);
    const ValueId pairs = w.graph().add_node(BlockArgmax{}, {w.row(131, 3)}).front();
    const ValueId ids = w.graph().sampled("ids", {1}, DType::kF32);
    const bool ends = op == NextToken::kName;
    const ValueId y = ends ? w.graph().add_node(NextToken{}, {pairs, ids}).front() : pairs;
    all.push_back(w.finish(y, kOne, 0));
  }
}

/// The list that sampling draws from, of columns in more blocks than it has tokens, and a draw. Its
/// tolerance is one of the numbers of columns in it, which are exact.
void add_lists(std::vector<SelfTestCase>& all) {
  constexpr uint32_t kColumns = 2111;  // the noise allows some of every block: none would hide all
  for (const std::string_view op :
       {BlockMaxima::kName, TopKBlocks::kName, TopKTokens::kName, SampleToken::kName}) {
    Writer w(fmt::format("{} of {}", op, kColumns), op);
    const ValueId x = w.row(kColumns, 3);
    const auto node = [&](const Op& one, const std::vector<ValueId>& inputs) {
      return w.graph().add_node(one, inputs).front();
    };
    const Shape words = {token_words(kColumns)};
    const ValueId allowed = w.graph().sampled("allowed", words, DType::kU32);
    ValueId y = node(BlockMaxima{}, {x, allowed});
    if (op != BlockMaxima::kName) {
      const ValueId maxima = std::exchange(y, node(TopKBlocks{}, {y}));
      if (op != TopKBlocks::kName) y = node(TopKTokens{}, {x, maxima, y, allowed});
    }
    if (op == SampleToken::kName) {
      const ValueId drawn = w.graph().sampled("drawn", {1, 2 * kTopK + 2}, DType::kF32);
      y = node(SampleToken{}, {y, drawn, w.graph().sampled("occurred", words, DType::kU32)});
    }
    const bool is_exact = op == TopKBlocks::kName, is_sum = op == BlockMaxima::kName;
    all.push_back(w.finish(y, kOne, is_exact ? 0 : is_sum ? kFunction : kSum));
  }
}

/// The ops that hybrids and mixtures of experts have before and after their products.
void add_hybrids(std::vector<SelfTestCase>& all) {
  constexpr uint32_t kIn = 128, kOut = 40;
  const auto add = [&](std::string name, const FusedLinear& op, auto&& operands) {
    Writer w("fused_linear " + name, FusedLinear::kName);
    std::vector<ValueId> inputs = {w.row(kIn, 2)};
    inputs.push_back(w.random("w", {kOut, kIn}, DType::kBF16, 0.1f));
    operands(w, inputs);
    all.push_back(w.finish(w.graph().add_node(op, inputs).front(), kOne, 2 * kFunction));
  };
  add("head_norm, gated",
      {.prologue = Prologue::kHeadNorm, .eps = 1e-5f, .gated = true, .first = 8},
      [](Writer& w, std::vector<ValueId>& inputs) {
        inputs.push_back(w.random("norm", {32}));
        inputs.push_back(w.row(kIn + 8, 2));
      });
  add("norm_add, scaled, gate",
      {.prologue = Prologue::kNormAdd,
       .epilogue = Epilogue::kGate,
       .eps = 1e-5f,
       .scaled = true,
       .first = 3},
      [](Writer& w, std::vector<ValueId>& inputs) {
        inputs.push_back(w.row(kIn, 2));
        inputs.push_back(w.random("norm", {kIn}));
        inputs.push_back(w.random("k", {1}));
        inputs.push_back(w.row(kOut + 3));
      });
  add("conv", {.epilogue = Epilogue::kConv}, [](Writer& w, std::vector<ValueId>& inputs) {
    inputs.push_back(w.random("taps", {30, 4}));
    inputs.push_back(w.graph().recurrent("rows", {3, 30}));
  });
  for (const auto& [type, biased] : {std::pair{"bf16", false}, {"bf16", true}, {"q4_0", false}}) {
    Writer w(fmt::format("expert_mix {} 3 of 5, adding{}", type, biased ? ", biased" : ""),
             ExpertMix::kName);
    const auto routed = w.graph().route(w.row(5, 3), {.top_k = 3});
    std::vector<ValueId> inputs = {w.row(3 * 96)};
    inputs.push_back(w.random("w", {5 * 70, 96}, dtype_from_name(type).value(), 0.3f));
    inputs.insert(inputs.end(), {routed.chosen, routed.shares});
    if (biased) inputs.push_back(w.random("bias", {5 * 70}));
    inputs.push_back(w.row(70));
    const ValueId y = w.graph().add_node(ExpertMix{5, biased}, inputs).front();
    all.push_back(w.finish(y, kOne, 2 * kSum));
  }
}

}  // namespace

void add_token_cases(std::vector<SelfTestCase>& all) {
  add_gated_ffn(all);
  add_split_attention(all);
  add_argmax(all);
  add_lists(all);
  add_hybrids(all);
}

}  // namespace tokamak
