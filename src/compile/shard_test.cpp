#include "compile/shard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text.h"

namespace tokamak {
namespace {

/// A layer of attention with 3 heads for keys, each for 2 of queries, then a feed-forward one.
constexpr std::string_view kLayer = R"(input  @t: u32[T]
input  @pages: u32[4]
const  @table: bf16[640,48] = weight "table"
const  @norm: f32[48] = weight "norm"
const  @q: bf16[48,48] = weight "q"
const  @k: bf16[24,48] = weight "k"
const  @v: bf16[24,48] = weight "v"
const  @o: bf16[48,48] = weight "o"
const  @o_bias: f32[48] = weight "o_bias"
const  @gate: bf16[80,48] = weight "gate"
const  @up: bf16[80,48] = weight "up"
const  @down: bf16[48,80] = weight "down"
const  @rope: f32[64,8] = rope {factor=1} [1 0.5 0.25 0.1]
state  @kv: f32[64,2,3,8]
%0: f32[T,48] = embed @t, @table {scale=1}
%1: f32[T,48] = rms_norm %0, @norm {eps=1e-06}
%2: f32[T,48] = linear %1, @q
%3: f32[T,48] = rope %2, @rope {head_dim=8, short_rows=0}
%4: f32[T,24] = linear %1, @k
%5: f32[T,24] = linear %1, @v
%6: f32[64,2,3,8] = kv_append %4, %5, @kv, @pages
%7: f32[T,48] = attention %3, %6, @pages {scale=0.3, window=0, chunks=false, softcap=0, causal=true, rounded=none}
%8: f32[T,48] = linear %7, @o, @o_bias
%9: f32[T,48] = add %0, %8
%10: f32[T,80] = linear %9, @gate
%11: f32[T,80] = linear %9, @up
%12: f32[T,80] = glu %10, %11 {activation=silu, first=0}
%13: f32[T,48] = linear %12, @down
%14: f32[T,48] = add %9, %13
%15: f32[O,48] = last_row %14
%16: f32[O,640] = linear %15, @table
return %16
)";

Graph layer() {
  auto graph = parse_graph(kLayer);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

void expect_parts(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    EXPECT_NE(text.find(part), text.npos) << part << " is missing in\n" << text;
  }
}

TEST(Shard, HeadsColumnsAndLogitsAreCutAndSumsAreAdded) {
  ShardReport report;
  const Graph cut = shard(layer(), 2, &report);
  ASSERT_TRUE(verify(cut)) << verify(cut).error().message;
  EXPECT_EQ(report.attentions, 1u);
  EXPECT_EQ(report.feed_forwards, 1u);
  EXPECT_EQ(report.whole, 0u);
  EXPECT_TRUE(report.logits);
  EXPECT_EQ(to_text(cut), R"(input  @t: u32[T]
input  @pages: u32[4]
const  @table: bf16[640,48] = weight "table"
const  @norm: f32[48] = weight "norm"
const  @q/ranks: bf16[32,48] = weight "q"[0:32] ~cut=32,32,1,0,48
const  @k/ranks: bf16[16,48] = weight "k"[0:16] ~cut=16,16,1,0,24
const  @v/ranks: bf16[16,48] = weight "v"[0:16] ~cut=16,16,1,0,24
const  @o/ranks: bf16[48,32] = weight "o" columns ~cut=32,32,1,0,48
const  @o_bias/ranks: f32[48] = weight "o_bias"[0:48] ~cut=48,48,1,0,48
const  @gate/ranks: bf16[40,48] = weight "gate"[0:40] ~cut=40,40,1,0,80
const  @up/ranks: bf16[40,48] = weight "up"[0:40] ~cut=40,40,1,0,80
const  @down/ranks: bf16[48,40] = weight "down" columns ~cut=40,40,1,0,80
const  @rope: f32[64,8] = rope {factor=1} [1 0.5 0.25 0.1]
state  @kv: f32[64,2,2,8]
const  @table/ranks: bf16[320,48] = weight "table"[0:320] ~cut=320,320,1,0,640
%0: f32[T,48] = embed @t, @table {scale=1}
%1: f32[T,48] = rms_norm %0, @norm {eps=1e-06}
%2: f32[T,32] = linear %1, @q/ranks
%3: f32[T,32] = rope %2, @rope {head_dim=8, short_rows=0}
%4: f32[T,16] = linear %1, @k/ranks
%5: f32[T,16] = linear %1, @v/ranks
%6: f32[64,2,2,8] = kv_append %4, %5, @kv, @pages
%7: f32[T,32] = attention %3, %6, @pages {scale=0.3, window=0, chunks=false, softcap=0, causal=true, rounded=none}
%8: f32[T,48] = linear %7, @o/ranks, @o_bias/ranks
%9: f32[T,48] = all_reduce %8, %0 {ranks=2, parts=1, last=false}
%10: f32[T,40] = linear %9, @gate/ranks
%11: f32[T,40] = linear %9, @up/ranks
%12: f32[T,40] = glu %10, %11 {activation=silu, first=0}
%13: f32[T,48] = linear %12, @down/ranks
%14: f32[T,48] = all_reduce %13, %9 {ranks=2, parts=1, last=false}
%15: f32[O,48] = last_row %14
%16: f32[O,320] = linear %15, @table/ranks
%17: f32[O,640] = all_gather %16 {ranks=2, columns=640, last=true}
return %17
)");
  const auto parsed = parse_graph(to_text(cut));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(to_text(*parsed), to_text(cut));
}

/// Eight ranks share three heads of keys two by two, and two have nothing to do.
TEST(Shard, RanksShareHeadsOfKeysWhereThereAreFewer) {
  const Graph cut = shard(layer(), 8);
  const std::string text = to_text(cut);
  EXPECT_NE(text.find(R"(@k/ranks: bf16[8,48] = weight "k"[0:8] ~cut=8,8,2,0,24)"), text.npos);
  EXPECT_NE(text.find(R"(@q/ranks: bf16[8,48] = weight "q"[0:8] ~cut=8,16,2,8,48)"), text.npos)
      << text;
  EXPECT_NE(text.find("state  @kv: f32[64,2,1,8]"), text.npos);
}

TEST(Shard, WhatAnotherNodeReadsStaysWhole) {
  std::string text(kLayer);
  const std::string read_twice = "%12: f32[T,80] = glu %10, %11 {activation=silu, first=0}\n";
  text.replace(text.find(read_twice), read_twice.size(),
               "%12: f32[T,80] = glu %10, %10 {activation=silu, first=0}\n"
               "%20: f32[T,80] = add %11, %12\n");
  text.replace(text.find("linear %12, @down"), 17, "linear %20, @down");
  auto graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_NE(to_text(shard(*graph, 2)).find("@gate/ranks"), std::string::npos)
      << "every reader is within";
  text.replace(text.find("return %16"), 10, "return %20");
  graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  ShardReport report;
  EXPECT_EQ(to_text(shard(*graph, 2, &report)).find("@gate/ranks"), std::string::npos);
  EXPECT_EQ(report.feed_forwards, 0u);
}

TEST(Shard, GraphsOfOneProgramShareStates) {
  Graph whole = layer();
  for (Node& node : whole.nodes) {
    // Nobody cuts heads whose queries are added to something else.
    if (auto* attention = std::get_if<Attention>(&node.op)) attention->scale = 0.5f;
  }
  EXPECT_TRUE(shard_all({layer(), whole}, 2));
  std::string text(kLayer);
  text.replace(text.find("%8: f32[T,48] = linear %7"), 25, "%8: f32[T,48] = linear %3");
  text.replace(text.find("return %16"), 10, "return %7");
  const auto other = parse_graph(text);
  ASSERT_TRUE(other) << other.error().message;
  const auto both = shard_all({layer(), *other}, 2);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().message,
            "The state \"kv\" would be cut in another way for other steps of the model: it runs on "
            "one GPU only.");
}

/// A layer of the gated delta rule with 2 heads of keys, each for 2 of values.
constexpr std::string_view kRecurrence = R"(input  @t: u32[T]
const  @table: bf16[40,48] = weight "table"
const  @qkv: bf16[64,48] = weight "qkv"
const  @z: bf16[32,48] = weight "z"
const  @ab: bf16[8,48] = concat "a"[0:4] "b"[0:4]
const  @taps: f32[64,4] = weight "taps"
const  @rates: f32[2,4] = concat "A_log" "bias"
const  @norm: f32[8] = weight "norm"
const  @out: bf16[48,32] = weight "out"
state  @conv: f32[3,64]
state  @delta: f32[4,8,8]
%0: f32[T,48] = embed @t, @table {scale=1}
%1: f32[T,64] = linear %0, @qkv
%2: f32[T,32] = linear %0, @z
%3: f32[T,8] = linear %0, @ab
%4: f32[T,64], %5: f32[3,64] = short_conv %1, @taps, @conv {activation=silu, gated=false}
%6: f32[T,32], %7: f32[4,8,8] = gated_delta %4, %3, @rates, @delta {key_heads=2, tiled=false, negated=false}
%8: f32[T,32] = rms_norm %6, @norm {eps=1e-06}
%9: f32[T,32] = glu %2, %8 {activation=silu, first=0}
%10: f32[T,48] = linear %9, @out
%11: f32[T,48] = add %0, %10
return %11
)";

TEST(Shard, RecurrencesAreCutByHeads) {
  const auto graph = parse_graph(kRecurrence);
  ASSERT_TRUE(graph) << graph.error().message;
  const Graph cut = shard(*graph, 2);
  ASSERT_TRUE(verify(cut)) << verify(cut).error().message;
  const std::string text = to_text(cut);
  expect_parts(
      text, {R"(@qkv/ranks: bf16[32,48] = concat "qkv"[0:8] ~cut=8,8,1,0,16 )"
             R"("qkv"[16:24] ~cut=8,8,1,0,16 "qkv"[32:48] ~cut=16,16,1,0,32)",
             R"(@ab/ranks: bf16[4,48] = concat "a"[0:2] ~cut=2,2,1,0,4 "b"[0:2] ~cut=2,2,1,0,4)",
             R"(@rates/ranks: f32[2,2] = concat "A_log" "bias" columns ~cut=2,2,1,0,4)",
             "state  @conv: f32[3,32]", "state  @delta: f32[2,8,8]", "gated_delta", "key_heads=1",
             "all_reduce"});
  EXPECT_EQ(to_text(shard(*graph, 3)).find("all_reduce"), text.npos) << "heads stay together";
  std::string tiled(kRecurrence);
  tiled.replace(tiled.find("tiled=false"), 11, "tiled=true");
  EXPECT_EQ(to_text(shard(*parse_graph(tiled), 2)).find("all_reduce"), text.npos);
}

/// A scan of Mamba-2 with 4 heads of 8, of which two each have B and C of 4 of their own; its
/// result is normalised by groups of 16.
constexpr std::string_view kScan = R"(input  @t: u32[T]
const  @table: bf16[40,48] = weight "table"
const  @xbc: bf16[48,48] = weight "in"[32:80]
const  @z: bf16[32,48] = weight "in"[0:32]
const  @dt: bf16[4,48] = weight "in"[80:84]
const  @taps: f32[48,4] = concat "taps"[0:32] * 0.5 "taps"[32:40] * 0.25 "taps"[40:48] * 2
const  @bias: f32[48] = weight "bias"
const  @params: f32[3,4] = concat "A_log" "dt_bias" "D"
const  @ones: f32[16] = fill 1
const  @zeros: f32[32] = fill 0
const  @norm: f32[32] = weight "norm"
const  @out: bf16[48,32] = weight "out"
state  @conv: f32[3,48]
state  @scan: f32[4,4,8]
%0: f32[T,48] = embed @t, @table {scale=1}
%1: f32[T,48] = linear %0, @xbc
%2: f32[T,32] = linear %0, @z
%3: f32[T,4] = linear %0, @dt
%4: f32[T,48], %5: f32[3,48] = short_conv %1, @taps, @conv, @bias {activation=silu, gated=false}
%6: f32[T,32], %7: f32[4,4,8] = selective_scan %4, %3, @params, @scan {groups=2, negated=false, dt_factor=1, low=0, high=0}
%8: f32[T,32] = glu %2, %6 {activation=silu, first=0}
%9: f32[T,32] = rms_norm %8, @ones {eps=1e-06}
%10: f32[T,32] = standardize %9, @zeros, @norm
%11: f32[T,48] = linear %10, @out
%12: f32[T,48] = add %0, %11
return %12
)";

std::string cut_text_of(std::string text, uint32_t ranks) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().message;
  if (!graph) return "";
  const Graph cut = shard(*graph, ranks);
  EXPECT_TRUE(verify(cut)) << verify(cut).error().message;
  return to_text(cut);
}

TEST(Shard, ScansAreCutByHeads) {
  const std::string text = cut_text_of(std::string(kScan), 2);
  expect_parts(
      text, {R"(@xbc/ranks: bf16[24,48] = concat "in"[32:48] ~cut=16,16,1,0,32 )"
             R"("in"[64:68] ~cut=4,4,1,0,8 "in"[72:76] ~cut=4,4,1,0,8)",
             R"(@dt/ranks: bf16[2,48] = weight "in"[80:82] ~cut=2,2,1,0,4)",
             R"("taps"[32:36] * 0.25 ~cut=4,4,1,0,8)",
             R"(@params/ranks: f32[3,2] = concat "A_log" "dt_bias" "D" columns ~cut=2,2,1,0,4)",
             "@zeros/ranks: f32[16] = fill 0", "state  @scan: f32[2,4,8]", "groups=1", "@ones {eps",
             "all_reduce"});
}

/// Four ranks share two groups, whose norms would need both halves; without them each has a head.
TEST(Shard, RanksShareGroupsOfScans) {
  EXPECT_EQ(cut_text_of(std::string(kScan), 4).find("all_reduce"), std::string::npos);
  std::string plain(kScan);
  plain.replace(plain.find("linear %10, @out"), 16, "linear %8, @out");
  const size_t norms = plain.find("%9: ");
  plain.erase(norms, plain.find("%11: ") - norms);
  const std::string text = cut_text_of(plain, 4);
  expect_parts(text, {R"("in"[64:68] ~cut=4,4,2,0,8)", "~cut=8,16,2,8,32",
                      "state  @scan: f32[1,4,8]", "all_reduce"});
}

TEST(Shard, ANormOverAllHeadsOfAScanIsOneOverAllRanks) {
  std::string text(kScan);
  text.replace(text.find("%9: f32[T,32] = rms_norm %8, @ones"), 34,
               "%9: f32[T,32] = rms_norm %8, @norm");
  text.replace(text.find("%10: f32[T,32] = standardize %9, @zeros, @norm\n"), 47, "");
  text.replace(text.find("linear %10"), 10, "linear %9");
  const std::string cut = cut_text_of(text, 2);
  expect_parts(
      cut, {"state  @scan: f32[2,4,8]", R"(@norm/ranks: f32[16] = weight "norm"[0:16] ~cut=)",
            "all_norm %8, @norm/ranks {ranks=2, columns=32, other_columns=0, eps=1e-06}",
            R"(@out/ranks: bf16[48,16] = weight "out" columns ~cut=16,16,1,0,32)", "all_reduce"});
  EXPECT_EQ(cut.find("all_gather"), cut.npos) << cut;
  const auto parsed = parse_graph(cut);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(to_text(*parsed), cut);
}

/// The layer with norms of all queries and of all keys, as OLMo 2 has.
std::string layer_with_norms() {
  std::string text(kLayer);
  const auto replace = [&](std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("state  @kv",
          "const  @q_norm: f32[48] = weight \"q_norm\"\n"
          "const  @k_norm: f32[24] = weight \"k_norm\"\nstate  @kv");
  replace("%3: f32[T,48] = rope %2, @rope {head_dim=8, short_rows=0}\n", "");
  replace("%5: f32[T,24]",
          "%20: f32[T,48] = rms_norm %2, @q_norm {eps=1e-06}\n"
          "%21: f32[T,24] = rms_norm %4, @k_norm {eps=1e-06}\n"
          "%3: f32[T,48] = rope %20, @rope {head_dim=8, short_rows=0}\n%5: f32[T,24]");
  replace("kv_append %4", "kv_append %21");
  return text;
}

TEST(Shard, NormsOverAllHeadsShareACrossing) {
  const std::string two = cut_text_of(layer_with_norms(), 2);
  expect_parts(two, {"@q_norm/ranks: f32[32] = weight \"q_norm\"[0:32] ~cut=32,32,1,0,48",
                     "@k_norm/ranks: f32[16] = weight \"k_norm\"[0:16] ~cut=16,16,1,0,24",
                     "f32[T,32], %5: f32[T,16] = all_norm %2, @q_norm/ranks, %3, @k_norm/ranks "
                     "{ranks=2, columns=48, other_columns=24, eps=1e-06}",
                     "state  @kv: f32[64,2,2,8]"});
  ShardReport report;
  shard(*parse_graph(layer_with_norms()), 2, &report);
  EXPECT_EQ(report.attentions, 1u);
  EXPECT_EQ(report.whole, 0u);
  // Every head of keys is on two ranks of eight, and adds its squares twice.
  expect_parts(cut_text_of(layer_with_norms(), 8),
               {"{ranks=8, columns=48, other_columns=48, eps=1e-06}"});
  // Norms that differ in what they add have a launch each.
  std::string apart = layer_with_norms();
  apart.replace(apart.find("@k_norm {eps=1e-06}"), 19, "@k_norm {eps=1e-05}");
  expect_parts(cut_text_of(apart, 2), {"{ranks=2, columns=48, other_columns=0, eps=1e-06}",
                                       "{ranks=2, columns=24, other_columns=0, eps=1e-05}"});
}

/// A feed-forward layer with two adapters, the second without a part for the last product.
constexpr std::string_view kAdapters = R"(input  @t: u32[T]
const  @table: bf16[40,48] = weight "table"
const  @gate: bf16[80,48] = weight "gate_up"[0:80]
const  @up: bf16[80,48] = weight "gate_up"[80:160]
const  @down: bf16[48,80] = weight "down"
const  @a: f32[16,48] = lora "1/a"[0:8] * 1 "2/a"[0:8] * 1
const  @gate_b: f32[160,8] = lora "1/b"[0:80] * 2 "2/b"[0:80] * 0.5
const  @up_b: f32[160,8] = lora "1/b"[80:160] * 2 "2/b"[80:160] * 0.5
const  @down_a: f32[16,80] = lora "1/down_a"[0:8] * 1 ""[0:8] * 1
const  @down_b: f32[96,8] = lora "1/down_b"[0:48] * 2 ""[0:48] * 1
%0: f32[T,48] = embed @t, @table {scale=1}
%1: f32[T,80] = linear %0, @gate
%2: f32[T,80] = linear %0, @up
%3: f32[T,8] = lora_down %0, @a {rank=8}
%4: f32[T,80] = lora_up %1, %3, @gate_b {first=0}
%5: f32[T,80] = lora_up %2, %3, @up_b {first=0}
%6: f32[T,80] = glu %4, %5 {activation=silu, first=0}
%7: f32[T,48] = linear %6, @down
%8: f32[T,8] = lora_down %6, @down_a {rank=8}
%9: f32[T,48] = lora_up %7, %8, @down_b {first=0}
%10: f32[T,48] = add %0, %9
return %10
)";

TEST(Shard, AdaptersAreCutAsTheirProducts) {
  const std::string text = cut_text_of(std::string(kAdapters), 3);
  expect_parts(text, {R"(@up/ranks: bf16[32,48] = weight "gate_up"[80:112] ~cut=32,32,1,0,80)",
                      R"(@a: f32[16,48] = lora "1/a"[0:8] * 1 "2/a"[0:8] * 1)",
                      R"(@up_b/ranks: f32[64,8] = lora "1/b"[80:112] * 2 ~cut=32,32,1,0,80 )"
                      R"("2/b"[80:112] * 0.5 ~cut=32,32,1,0,80)",
                      R"(@down_a/ranks: f32[16,32] = lora "1/down_a"[0:8] * 1 ""[0:8] * 1 columns )"
                      "~cut=32,32,1,0,80",
                      "@down_b: f32[96,8]", "%9: f32[T,48] = lora_up %7, %8", "all_reduce %9, %0"});
  const auto parsed = parse_graph(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(to_text(*parsed), text);
  const auto up = std::ranges::find(parsed->values, "up_b/ranks", &TensorDesc::name);
  const auto stack = std::get<LoraStack>(of_rank(*up, 2).recipe);
  EXPECT_EQ(stack.parts[1].first_row, 144u);
  EXPECT_EQ(stack.parts[1].zeros, 16u);
  const auto down = std::ranges::find(parsed->values, "down_a/ranks", &TensorDesc::name);
  EXPECT_EQ(std::get<LoraStack>(of_rank(*down, 2).recipe).columns, (ColumnRange{64, 16, 80}));
}

TEST(Shard, AdaptersThatOthersReadKeepTheirProductWhole) {
  std::string text(kAdapters);
  text.replace(text.find("add %0, %9"), 10, "lora_up %9, %8, @down_b {first=0}");
  EXPECT_EQ(cut_text_of(text, 2).find("all_reduce"), text.npos);
}

/// Attention of 2 heads to latents of 16 and 4, whose queries lie in one tensor by heads of 12.
constexpr std::string_view kLatents = R"(input  @t: u32[T]
input  @pages: u32[4]
const  @table: bf16[40,48] = weight "table"
const  @still: bf16[16,48] = concat "q"[0:8] "q"[12:20]
const  @turned: bf16[8,48] = concat "q"[8:12] "q"[20:24]
const  @keys: bf16[16,16] = concat "kv"[0:8] "kv"[16:24]
const  @values: bf16[16,16] = concat "kv"[8:16] "kv"[24:32]
const  @latent: bf16[16,48] = weight "latent"
const  @turn: bf16[4,48] = weight "turn"
const  @out: bf16[48,16] = weight "out"
state  @kv: f32[64,20]
%0: f32[T,48] = embed @t, @table {scale=1}
%1: f32[T,16] = linear %0, @still
%2: f32[T,8] = linear %0, @turned
%3: f32[T,16] = linear %0, @latent
%4: f32[T,4] = linear %0, @turn
%5: f32[T,32] = head_linear %1, @keys {heads=2, transposed=true}
%6: f32[64,20] = latent_append %3, %4, @kv, @pages {rank=16}
%7: f32[T,32] = latent_attention %5, %2, %6, @pages {scale=0.3, splits=1}
%8: f32[T,16] = head_linear %7, @values {heads=2, transposed=false}
%9: f32[T,48] = linear %8, @out
return %9
)";

TEST(Shard, AttentionToLatentsIsCutByHeads) {
  const auto graph = parse_graph(kLatents);
  ASSERT_TRUE(graph) << graph.error().message;
  const Graph cut = shard(*graph, 2);
  ASSERT_TRUE(verify(cut)) << verify(cut).error().message;
  const std::string text = to_text(cut);
  expect_parts(text, {R"(@still/ranks: bf16[8,48] = concat "q"[0:8] ~cut=12,12,1,0,24)",
                      R"(@turned/ranks: bf16[4,48] = concat "q"[8:12] ~cut=12,12,1,0,24)",
                      R"(@values/ranks: bf16[8,16] = concat "kv"[8:16] ~cut=16,16,1,0,32)",
                      "state  @kv: f32[64,20]", "head_linear %7, @values/ranks {heads=1"});
  const TensorDesc second =
      of_rank(*std::ranges::find(cut.values, "keys/ranks", &TensorDesc::name), 1);
  const auto* keys = std::get_if<Weight>(&second.recipe);
  ASSERT_NE(keys, nullptr);
  EXPECT_EQ(keys->parts.front().first_row, 16u);
  EXPECT_EQ(keys->parts.front().zeros, 0u);
  std::string apart(kLatents);
  apart.replace(apart.find("\"q\"[20:24]"), 10, "\"p\"[20:24]");
  EXPECT_EQ(to_text(shard(*parse_graph(apart), 2)).find("all_reduce"), text.npos);
}

TEST(RankCut, RowsThatAreNotThereAreZeros) {
  const RankCut cut = {.each = 40, .group = 40, .total = 100};
  EXPECT_EQ(cut.first(2), 80u);
  EXPECT_EQ(cut.end(2), 100u);
  EXPECT_EQ(cut.end(3), cut.first(3));
  TensorDesc matrix{.name = "w", .shape = {40, 8}, .dtype = DType::kBF16};
  Weight weight{{WeightPart("w", 4, 40)}};
  weight.parts[0].cut = cut;
  weight.column_cut = {.each = 8, .group = 8, .total = 12};
  matrix.recipe = weight;
  const auto part_of = [&](uint32_t rank) {
    return std::get<Weight>(of_rank(matrix, rank).recipe);
  };
  EXPECT_EQ(part_of(0).parts[0].first_row, 4u);
  EXPECT_EQ(part_of(0).parts[0].zeros, 0u);
  EXPECT_EQ(part_of(0).columns, (ColumnRange{0, 8, 12}));
  EXPECT_EQ(part_of(2).parts[0].first_row, 84u);
  EXPECT_EQ(part_of(2).parts[0].zeros, 20u);
  EXPECT_EQ(part_of(1).columns, (ColumnRange{8, 4, 12}));
  EXPECT_EQ(part_of(3).parts[0].zeros, 40u);
  EXPECT_EQ(part_of(3).columns, (ColumnRange{0, 0, 12}));
}

}  // namespace
}  // namespace tokamak
