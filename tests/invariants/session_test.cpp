// The rules for any sequence on any device: the way tokens are fed, what ran before and which
// passes made the plan change nothing in the answer.
#include <algorithm>
#include <cstring>

#include "golden/reference.h"
#include "graph/text.h"
#include "kernels/select.h"

namespace tokamak::golden {
namespace {

constexpr size_t kTokensFed = 120;  // crosses every window of the test models more than three times

/// Two runs of one setup: the same stored weights, keys and values, other orders of summing.
double own_tolerance(const DeviceSetup& setup) {
  if (setup.name == "cpu") return 0;
  // A last bit of difference before the rounding to f16 becomes one of 2^-11 after it.
  return setup.options.kv == "f16" ? setup.tolerance : 2e-5;
}

struct SessionInvariant : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string& model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());
  std::vector<uint32_t> ids;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    const Json golden = read_json(model_folder(model) + "/golden.json");
    ASSERT_NE(golden.find("prompts"), nullptr);
    ids = ids_of(*golden.find("prompts")->as_array().back().find("ids"));
    ASSERT_GE(ids.size(), kTokensFed);
    ids.resize(kTokensFed);
  }

  std::unique_ptr<Engine> open_with(const std::function<void(OpenOptions&)>& change,
                                    bool all_logits = true) {
    DeviceSetup changed = setup;
    if (setup.name == "cpu") changed.options.disabled_passes = kRoundingPasses;
    change(changed.options);
    return open(model_folder(model), changed, all_logits);
  }
  std::unique_ptr<Engine> open_plain(bool all_logits = true) {
    return open_with([](OpenOptions&) {}, all_logits);
  }
};

/// Logits after every token, fed `piece` at a time after a piece of `first`.
std::vector<float> feed_in_pieces(Engine& engine, std::span<const uint32_t> ids, size_t piece,
                                  size_t first = 0) {
  std::vector<float> rows;
  auto session = engine.start();
  EXPECT_TRUE(session) << session.error().message;
  for (size_t at = 0, count = first == 0 ? piece : first; session && at < ids.size();) {
    count = std::min(count, ids.size() - at);
    const auto logits = session->feed(ids.subspan(at, count));
    EXPECT_TRUE(logits) << logits.error().message;
    if (!logits) break;
    rows.insert(rows.end(), logits->begin(), logits->end());
    at += count;
    count = piece;
  }
  return rows;
}

void expect_same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  ASSERT_FALSE(one.empty());
  ASSERT_EQ(one.size(), other.size());
  EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(float)), 0)
      << "relative difference " << relative_error(one, other);
}

TEST_P(SessionInvariant, PrefillEqualsDecoding) {
  const auto engine = open_plain();
  ASSERT_NE(engine, nullptr);
  const std::vector<float> at_once = logits_of(*engine, ids);
  EXPECT_LE(relative_error(at_once, feed_in_pieces(*engine, ids, 1)), own_tolerance(setup));
}

TEST_P(SessionInvariant, PiecesOfAnySizeEqualOne) {
  const auto engine = open_plain();
  ASSERT_NE(engine, nullptr);
  const std::vector<float> at_once = logits_of(*engine, ids);
  for (const size_t piece : {7u, 16u, 33u, 119u}) {
    EXPECT_LE(relative_error(at_once, feed_in_pieces(*engine, ids, piece)), own_tolerance(setup))
        << piece;
  }
}

TEST_P(SessionInvariant, ChunksOfAnySizeEqualOne) {
  const auto whole = open_plain();
  ASSERT_NE(whole, nullptr);
  const std::vector<float> expected = logits_of(*whole, ids);
  for (const uint32_t chunk : {1u, 7u, 16u, 33u, 512u}) {
    const auto engine = open_with([&](OpenOptions& options) { options.chunk = chunk; });
    ASSERT_NE(engine, nullptr);
    EXPECT_LE(relative_error(expected, logits_of(*engine, ids)), own_tolerance(setup)) << chunk;
    if (chunk == 1) continue;  // whatever comes first
    // Chunks that begin inside a page of the cache.
    for (const size_t first : {1u, 9u, 15u}) {
      EXPECT_LE(relative_error(expected, feed_in_pieces(*engine, ids, chunk, first)),
                own_tolerance(setup))
          << chunk << " after " << first;
    }
  }
}

TEST_P(SessionInvariant, LastLogitsAreTheLastOfAll) {
  const auto all = open_plain(), last = open_plain(false);
  ASSERT_NE(all, nullptr);
  ASSERT_NE(last, nullptr);
  const size_t vocab = all->compiled().facts.vocab;
  const std::vector<float> rows = logits_of(*all, ids);
  ASSERT_EQ(rows.size(), ids.size() * vocab);
  EXPECT_LE(relative_error(std::span(rows).last(vocab), logits_of(*last, ids)),
            own_tolerance(setup));
  const auto one_by_one = open_with([](OpenOptions& options) { options.chunk = 1; }, false);
  ASSERT_NE(one_by_one, nullptr);
  const std::vector<float> after = logits_of(*one_by_one, ids);
  ASSERT_EQ(after.size(), vocab);
  EXPECT_LE(relative_error(std::span(rows).last(vocab), after), own_tolerance(setup));
}

TEST_P(SessionInvariant, AnEarlierSequenceLeavesNoTrace) {
  const auto engine = open_plain(false);
  ASSERT_NE(engine, nullptr);
  const std::vector<uint32_t> first(ids.begin(), ids.begin() + 20);
  const std::vector<float> fresh = logits_of(*engine, first);
  std::vector<uint32_t> other(ids.rbegin(), ids.rend());
  ASSERT_FALSE(logits_of(*engine, other).empty());
  expect_same_bits(fresh, logits_of(*engine, first));
}

/// Wherever a prompt and the next one part, and whatever the states can go back to.
TEST_P(SessionInvariant, APrefixThatIsKeptChangesNothing) {
  const auto engine = open_plain(false), other = open_plain(false);
  ASSERT_TRUE(engine && other);
  constexpr size_t kPrompt = 40;
  for (const size_t shared : {0u, 17u, 90u, 119u, 120u}) {
    std::vector<uint32_t> next(ids.begin(), ids.begin() + std::ptrdiff_t(shared));
    next.insert(next.end(), ids.rbegin(), ids.rbegin() + kPrompt);
    const std::vector<float> fresh = logits_of(*other, next);
    ASSERT_FALSE(logits_of_request(*engine, ids).empty());
    const uint64_t before = (*engine->scheduler())->stats().cached_tokens;
    EXPECT_LE(relative_error(fresh, logits_of_request(*engine, next)), own_tolerance(setup))
        << shared;
    const uint64_t kept = (*engine->scheduler())->stats().cached_tokens - before;
    EXPECT_TRUE(shared < kTokensFed || kept + 2 * kPageTokens > shared) << kept;
  }
}

TEST_P(SessionInvariant, TheSameEngineOpenedTwiceGivesTheSameBits) {
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < 2; ++run) {
    const auto engine = open_plain(false);
    ASSERT_NE(engine, nullptr);
    auto session = engine->start();
    ASSERT_TRUE(session) << session.error().message;
    auto logits = session->feed(ids);
    std::vector<float>& rows = runs.emplace_back();
    for (int step = 0; step < 12; ++step) {
      ASSERT_TRUE(logits) << logits.error().message;
      rows.insert(rows.end(), logits->begin(), logits->end());
      const auto best = uint32_t(argmax(*logits));
      logits = session->feed({&best, 1});
    }
  }
  expect_same_bits(runs[0], runs[1]);
}

/// Logits after a prompt and after a few tokens that are fed one by one, which have passes of
/// their own.
std::vector<float> logits_of_both(Engine& engine, std::span<const uint32_t> ids) {
  auto session = engine.start();
  EXPECT_TRUE(session) << session.error().message;
  std::vector<float> all;
  for (const std::span<const uint32_t> part :
       {ids.first(ids.size() - 3), ids.subspan(ids.size() - 3, 1), ids.subspan(ids.size() - 2, 1),
        ids.last(1)}) {
    auto logits = session->feed(part);
    EXPECT_TRUE(logits) << logits.error().message;
    if (logits) all.insert(all.end(), logits->begin(), logits->end());
  }
  return all;
}

/// Everything that passes decide for a model.
std::string graphs_of(const Engine& engine, OpenOptions options,
                      const fuse::DisabledPasses& disabled) {
  options.disabled_passes = disabled;
  const auto compiled = Engine::compile(engine.files(), engine.device(), options);
  EXPECT_TRUE(compiled) << compiled.error().message;
  if (!compiled) return "";
  std::string all;
  for (const auto& [key, fused] : compiled->main.fused_graphs) all += to_text(fused.graph);
  return all;
}

/// Each engine of these has kernels of its own to compile: one kind of device for each model.
struct PassInvariant : SessionInvariant {};

/// All passes, none, and all but one of those that find something to do.
TEST_P(PassInvariant, NoPassChangesTheAnswer) {
  const std::span<const uint32_t> some = std::span(ids).first(40);
  std::vector<fuse::DisabledPasses> sets(2);
  for (const fuse::Pass& pass : fuse::passes()) {
    sets[1].emplace(pass.name);
    sets.push_back({std::string(pass.name)});
  }
  std::vector<float> expected;
  std::string whole;
  size_t compared = 0;
  const double tolerance = setup.name == "cpu" ? 1e-6 : own_tolerance(setup);
  std::unique_ptr<Engine> engine;
  for (const fuse::DisabledPasses& disabled : sets) {
    if (engine != nullptr && graphs_of(*engine, setup.options, disabled) == whole) continue;
    engine = open_with([&](OpenOptions& options) { options.disabled_passes = disabled; });
    ASSERT_NE(engine, nullptr);
    const std::vector<float> logits = logits_of_both(*engine, some);
    if (expected.empty()) {
      expected = logits;
      whole = graphs_of(*engine, setup.options, disabled);
    }
    EXPECT_LE(relative_error(expected, logits), tolerance)
        << "without " << (disabled.empty() ? "any" : *disabled.begin());
    ++compared;
  }
  EXPECT_GE(compared, 5u);
}

/// The tokens that the device chooses, and how it goes on after them, are those of the host.
TEST_P(SessionInvariant, GreedyOnTheDeviceIsGreedyOnTheHost) {
  const std::span<const uint32_t> some = std::span(ids).first(20);
  const auto engine = open_plain(false);
  ASSERT_NE(engine, nullptr);
  constexpr uint32_t kCount = 30;
  std::vector<uint32_t> chosen;
  std::vector<float> expected;
  {
    auto session = engine->start();
    ASSERT_TRUE(session);
    auto logits = session->feed(some);
    while (chosen.size() < kCount) {
      ASSERT_TRUE(logits) << logits.error().message;
      chosen.push_back(uint32_t(argmax(*logits)));
      logits = session->feed({&chosen.back(), 1});
    }
    ASSERT_TRUE(logits) << logits.error().message;
    expected.assign(logits->begin(), logits->end());
  }
  Request request{.prompt = {some.begin(), some.end()}};
  request.params.sampling.temperature = 0;
  request.params.max_tokens = kCount + 20;  // for nothing: it is ended while the device is further
  request.params.end_ids.emplace();
  uint32_t made = 0;
  request.callbacks.token = [&](uint32_t, const Logprobs*) { ++made; };
  request.callbacks.cancelled = [&] { return made == kCount; };
  const auto generated = engine->generate(std::move(request));
  ASSERT_TRUE(generated) << generated.error().message;
  EXPECT_EQ(generated->ids, chosen);
  std::vector<uint32_t> all(some.begin(), some.end());
  all.insert(all.end(), chosen.begin(), chosen.end());
  EXPECT_LE(relative_error(expected, logits_of_request(*engine, all)), own_tolerance(setup))
      << "the sequence is another one";
}

/// Models whose weights are packed: steps of one token round x to 16 bits, prompts do not.
struct PackedInvariant : SessionInvariant {};

/// All kernels but those for a processor's cores, which round nothing: what graphics devices run.
ForcedVariants without_software() {
  ForcedVariants forced;
  for (const KernelVariant& variant : all_variants()) {
    if (variant.backend != BackendKind::kWebGpu || variant.name.ends_with("software")) continue;
    forced.emplace(op_name_at(variant.op), variant.name);
  }
  return forced;
}

TEST_P(PackedInvariant, PrefillEqualsDecoding) {
  const auto engine = open_with([&](OpenOptions& options) {
    if (setup.options.backend != "cpu") options.forced = without_software();
  });
  ASSERT_NE(engine, nullptr);
  const double error = relative_error(logits_of(*engine, ids), feed_in_pieces(*engine, ids, 1));
  fmt::print("packed {} {}: decoding within {:.1e} of the prompt\n", model, setup.name, error);
  EXPECT_LE(error, setup.tolerance);
}

std::string name_of(const testing::TestParamInfo<SessionInvariant::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Models, PackedInvariant,
                         testing::Combine(testing::Values("gemma3_mlx4_g64", "llama_gptq4_g128",
                                                          "llama_mlx4_g64_mixed8"),
                                          testing::Values(setup_named("cpu_fast"),
                                                          setup_named("webgpu_f16"))),
                         name_of);

const std::string kModels[] = {"gemma3_hub", "gemma3_softcap",   "gemma4_moe",   "gemma4_ple",
                               "lfm2",       "llama_tied_rope3", "qwen3_5_text", "qwen3_moe"};

/// The setups of CUDA, where it is there: the smallest model in bf16, whose prompts the library
/// multiplies, and one whose states take part, too.
ModelSetups session_setups() {
  ModelSetups all = in_turn(kModels, {{"cpu", "webgpu_f32", "webgpu_plain_f16", "webgpu_matrix"},
                                      {"cpu", "webgpu_f16", "webgpu_plain", "webgpu_matrix"}});
  for (const DeviceSetup& setup : setups()) {
    if (setup.options.backend != "cuda") continue;
    for (const char* model : {"gemma3_hub", "qwen3_5_text"}) all.emplace_back(model, setup);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, SessionInvariant, testing::ValuesIn(session_setups()), name_of);
INSTANTIATE_TEST_SUITE_P(Ranks, SessionInvariant,
                         testing::Values(std::tuple("llama_tied_rope3",
                                                    setup_named("cpu_2_ranks"))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(
    Models, PassInvariant,
    testing::ValuesIn(in_turn(kModels, {{"cpu", "webgpu_f16"}, {"cpu", "webgpu_plain"}})), name_of);

}  // namespace
}  // namespace tokamak::golden
