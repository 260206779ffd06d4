// Every pass alone, and all together, compute on random graphs what the graph computed before.
#include <algorithm>
#include <map>

#include "backend/group.h"
#include "compile/shard.h"
#include "golden/reference.h"
#include "graph/text.h"
#include "invariants/plan_checks.h"
#include "invariants/random_graph.h"
#include "model/weights.h"

namespace tokamak::invariants {
namespace {

using golden::relative_error;

constexpr uint32_t kStepTokens = 11;
/// Both sides sum in f64 and round once per value.
constexpr double kOnCpu = 2e-6;
/// Sums in f32 of up to 32 terms, a dozen nodes one after another, differences of large values.
constexpr double kOnWebGpu = 5e-5;

/// A step of eleven tokens, then one of one.
std::vector<float> results_of(const Graph& graph, const TensorFile& constants, Backend& backend) {
  CaptureOptions options{.phases = {{"prefill", 16}, {"decode", 1}}, .forced = {}};
  options.ranks = backend.device().ranks;
  auto plan = capture(graph, backend.device(), options);
  EXPECT_TRUE(plan) << plan.error().message;
  if (!plan) return {};
  expect_sound(*plan);
  const auto reader = [&](const TensorDesc& constant, Share share, const WriteBytes& write) {
    return read_constant(constants, constant, share, write);
  };
  auto program = backend.compile(*std::move(plan), reader);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return {};
  std::vector<float> all;
  std::vector<uint32_t> tokens(kStepTokens);
  for (uint32_t i = 0; i < kStepTokens; ++i) tokens[i] = (i * 7 + 3) % kVocab;
  for (size_t phase = 0; phase < 2; ++phase) {
    StepRequest request;
    request.phase = phase;
    request.tokens = std::span(tokens).first(phase == 0 ? kStepTokens : 1);
    request.slots = {
        {.count = uint32_t(request.tokens.size()), .position = phase == 0 ? 0 : kStepTokens}};
    request.done = [&](Result<std::span<const float>> result) {
      EXPECT_TRUE(result) << result.error().message;
      if (result) all.insert(all.end(), result->begin(), result->end());
    };
    const auto submitted = (*program)->submit(request);
    EXPECT_TRUE(submitted) << submitted.error().message;
    const auto waited = (*program)->wait();
    EXPECT_TRUE(waited) << waited.error().message;
  }
  EXPECT_EQ(all.size(), size_t{kVocab} * (kStepTokens + 1));
  return all;
}

/// How often each pass fired; "" counts the graphs.
using Counts = std::map<std::string, uint32_t>;

/// Passes that take what another one made, or ops that random graphs do not have.
bool needs_others(const fuse::Pass& pass) {
  constexpr std::string_view kAll[] = {"snake_conv",       "conv_add",     "add_layer_norm",
                                       "library_products", "rounded_gate", "rounded_norm",
                                       "rounded_results"};
  if (std::ranges::count(kAll, pass.name) != 0) return true;
  const bool knows_experts = pass.name == "expert_glu" || pass.name == "scale_route";
  const bool knows_caches = pass.name == "qk" || pass.name == "rope_append";
  if (pass.steps == fuse::Steps::kMany) return knows_experts || knows_caches;
  return pass.name != "norm_linear" && pass.name != "residual" && pass.name != "gate_linear";
}

void check(uint32_t seed, Backend& reference, Backend& backend, double tolerance, Counts& counts) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const RandomGraph made = random_graph(seed);
  const std::vector<float> expected = results_of(made.graph, made.constants, reference);
  EXPECT_LE(relative_error(expected, results_of(made.graph, made.constants, backend)), tolerance);
  const bool on_cpu = backend.device().backend == BackendKind::kCpu;
  for (const fuse::Pass& pass : fuse::passes()) {
    if (pass.steps != fuse::Steps::kMany && !on_cpu)
      continue;  // kernels of devices take one token there
    Graph fused = made.graph;
    const uint32_t count = fuse::run(pass, fused);
    if (count == 0) continue;
    counts[std::string(pass.name)] += count;
    const auto valid = verify(fused);
    ASSERT_TRUE(valid) << pass.name << ": " << valid.error().message;
    EXPECT_LE(relative_error(expected, results_of(fused, made.constants, backend)), tolerance)
        << pass.name << "\n"
        << nodes_text(made.graph);
  }
  for (const fuse::Steps steps : {fuse::Steps::kMany, fuse::Steps::kOne}) {
    if (steps == fuse::Steps::kOne && !on_cpu) continue;
    Graph fused = made.graph;
    ASSERT_TRUE(fuse::run_pipeline(fused, steps));
    EXPECT_LE(relative_error(expected, results_of(fused, made.constants, backend)), tolerance)
        << nodes_text(fused);
  }
  ++counts[""];
}

TEST(Fusion, RandomGraphsComputeTheSameOnTheCpu) {
  const std::unique_ptr<Backend> cpu = make_cpu_backend();
  Counts counts;
  for (uint32_t seed = 1; seed <= 300; ++seed) check(seed, *cpu, *cpu, kOnCpu, counts);
  for (const fuse::Pass& pass : fuse::passes()) {
    if (needs_others(pass)) continue;
    EXPECT_GT(counts[std::string(pass.name)], 50u) << pass.name << " found too little to do";
    fmt::print("{}: {} replacements in {} graphs\n", pass.name, counts[std::string(pass.name)],
               counts[""]);
  }
}

TEST(Fusion, RandomGraphsComputeTheSameOnWebGpu) {
  for (const golden::DeviceSetup& setup : golden::setups()) {
    if (setup.name != "webgpu_f32" && setup.name != "webgpu_plain") continue;
    golden::require_device(setup);
    if (IsSkipped()) return;
    auto backend = open_backend(setup.options);
    ASSERT_TRUE(backend) << backend.error().message;
    const std::unique_ptr<Backend> cpu = make_cpu_backend();
    Counts counts;
    for (uint32_t seed = 1; seed <= 12; ++seed) check(seed, *cpu, **backend, kOnWebGpu, counts);
    for (const fuse::Pass& pass : fuse::passes()) {
      if (pass.steps != fuse::Steps::kMany || needs_others(pass)) continue;
      EXPECT_GT(counts[std::string(pass.name)], 1u) << pass.name << " found too little to do";
    }
  }
}

/// Regions that come out even on few of these numbers, and sums that are added up at the end.
TEST(Fusion, RandomGraphsAreCutForRanksAndComputeTheSameOnTheCpu) {
  const std::unique_ptr<Backend> cpu = make_cpu_backend();
  for (uint32_t ranks = 2; ranks <= 4; ++ranks) {
    std::vector<std::unique_ptr<Backend>> parts(ranks);
    std::ranges::generate(parts, [] { return make_cpu_backend(); });
    auto group = make_group(std::move(parts));
    ASSERT_TRUE(group) << group.error().message;
    uint32_t feed_forwards = 0, recurrences = 0;
    for (uint32_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(fmt::format("{} ranks, seed {}", ranks, seed));
      const RandomGraph made = random_graph(seed);
      ShardReport report;
      Graph cut = shard(made.graph, ranks, &report);
      const auto valid = verify(cut);
      ASSERT_TRUE(valid) << valid.error().message;
      const std::vector<float> expected = results_of(made.graph, made.constants, *cpu);
      const double error = relative_error(expected, results_of(cut, made.constants, **group));
      EXPECT_LE(error, kOnCpu) << nodes_text(cut);
      feed_forwards += report.feed_forwards;
      recurrences += report.attentions;
    }
    EXPECT_GE(feed_forwards, 20u) << "too little was cut";
    EXPECT_GE(recurrences, ranks == 2 ? 10u : 0u) << "those have one or two heads of keys";
  }
}

TEST(Fusion, RandomGraphsForALibraryRoundAndNoMoreOnTheCpu) {
  const std::unique_ptr<Backend> cpu = make_cpu_backend();
  // Each of some products rounds x, and perhaps the weights, by a half of it.
  constexpr double kRounding = 0x1p-8, kProducts = 4;
  const auto pass = std::ranges::find(fuse::passes(), "library_products", &fuse::Pass::name);
  uint32_t count = 0;
  double largest = 0;
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const RandomGraph made = random_graph(seed);
    Graph fused = made.graph;
    const fuse::Target target = {.has_library = true, .min_library_weights = 0};
    const auto counts = fuse::run_pipeline(fused, fuse::Steps::kMany, {}, target);
    ASSERT_TRUE(counts);
    const uint32_t own = (*counts)[size_t(pass - fuse::passes().begin())];
    count += own;
    if (own == 0) continue;
    const double error = relative_error(results_of(made.graph, made.constants, *cpu),
                                        results_of(fused, made.constants, *cpu));
    EXPECT_LE(error, kProducts * kRounding) << nodes_text(fused);
    largest = std::max(largest, error);
  }
  EXPECT_GT(count, 50u);
  EXPECT_GT(largest, 0x1p-12) << "nothing was rounded";
}

TEST(Fusion, RandomGraphsPrintAndParseBack) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    RandomGraph made = random_graph(seed);
    expect_same_text(made.graph);
    ASSERT_TRUE(fuse::run_pipeline(made.graph, fuse::Steps::kMany));
    expect_same_text(made.graph);
  }
}

}  // namespace
}  // namespace tokamak::invariants
