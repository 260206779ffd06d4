#include "report/profile/profile_page.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tokamak {
namespace {

class ProfilePageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto engine = Engine::open({.model = TOKAMAK_TEST_DATA "/models/gemma3_mm",
                                .backend = "cpu",
                                .context = 32,
                                .chunk = 8});
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
    const Phase& phase = engine_->compiled().main.plan.phases.back();
    profile_ = {.phase = phase.name,
                .phase_index = engine_->compiled().main.plan.phases.size() - 1,
                .tokens = 1,
                .depth = 3,
                .launches = uint32_t(phase.steps.size())};
    for (size_t i = 0; i < phase.steps.size(); ++i) {
      profile_.steps.push_back(double(i + 1) * 1e-6);
      profile_.seconds += profile_.steps.back();
    }
  }
  Json data() const {
    auto json =
        page_data(*engine_, profile_, {1e9, 1e12, 1e-6}, {"today", "1.2", "tokamak profile"});
    EXPECT_TRUE(json) << json.error().message;
    return json.value_or(Json());
  }

  std::unique_ptr<Engine> engine_;
  Profile profile_;
};

TEST_F(ProfilePageTest, DataHasEveryStepOnce) {
  const Json json = data();
  const Json::Array& steps = json.find("steps")->as_array();
  const Plan& plan = engine_->compiled().main.plan;
  ASSERT_EQ(steps.size(), plan.phases.back().steps.size());
  uint64_t moved = 0;
  for (const Json& step : steps) moved += uint64_t(step.find("bytes")->as_integer());
  EXPECT_EQ(moved, phase_cost(plan, plan.phases.back(), 1, 4).bytes);
  EXPECT_EQ(*steps[2].find("us"), Json(3.0));
  EXPECT_EQ(json.find("buffers")->as_array().size(), plan.buffers.size());
  EXPECT_GT(json.find("unfused_steps")->as_integer(), int64_t(steps.size()));
}

TEST_F(ProfilePageTest, LaunchesNameTheirWeightsAndLayers) {
  const Json json = data();
  std::set<int64_t> layers;
  size_t nameless = 0;
  for (const Json& step : json.find("steps")->as_array()) {
    if (!step.find("layer")->is_null()) layers.insert(step.find("layer")->as_integer());
    const bool chooses = *step.find("op") == Json("next_token");
    nameless += step.find("weights")->as_array().empty() && !chooses ? 1 : 0;
  }
  EXPECT_EQ(layers, (std::set<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(nameless, 0u);
  const Json& first = json.find("steps")->as_array()[1];
  EXPECT_EQ(first.find("weights")->as_array()[0],
            Json("layers.0.self_attn.q_proj.weight.qkv bf16[128,64]"));
  EXPECT_EQ(layer_of("layers.12.mlp.experts.3.weight"), 12u);
  EXPECT_EQ(layer_of("kv.7"), 7u);
  for (const char* name :
       {"", ".", "embed_tokens.weight", "rope.sliding", "a.1b", "x.99999999999"}) {
    EXPECT_EQ(layer_of(name), std::nullopt) << name;
  }
}

TEST_F(ProfilePageTest, ReportsWhereItsFiguresComeFrom) {
  const std::string origin = data().find("origin")->dump();
  for (const char* fact : {"today", "1.2, commit ", "tokamak profile", "gemma3_mm (",
                           "32 tokens, in chunks of 8", "KV cache"}) {
    EXPECT_NE(origin.find(fact), std::string::npos) << fact << " in " << origin;
  }
}

TEST(Roofline, IsMeasuredOnTheDevice) {
  const auto backend = make_cpu_backend();
  const auto found = measure_roofline(*backend, steady_clock());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GT(found->flops, 1e6);
  EXPECT_GT(found->bandwidth, 1e6);
  EXPECT_GT(found->launch_seconds, 0);
}

TEST_F(ProfilePageTest, EveryOperationStandsBesideWhatItBecame) {
  const Json json = data();
  size_t unfused = 0, joined = 0;
  const Json::Array& rows = json.find("fusion")->as_array();
  EXPECT_EQ(rows.size(), engine_->compiled().main.fused(profile_.phase_index).graph.nodes.size());
  for (const Json& row : rows) {
    const size_t count = row.find("unfused")->as_array().size();
    unfused += count;
    joined += count > 1 ? 1 : 0;
  }
  EXPECT_EQ(unfused, engine_->compiled().main.unfused(profile_.phase_index).nodes.size());
  EXPECT_GE(joined, 12u) << "qkv and gate_up of six layers";
}

TEST_F(ProfilePageTest, PassesAreCountedInThePhaseThatIsShown) {
  const auto count = [](const Json& json, std::string_view pass) {
    for (const Json& one : json.find("passes")->as_array()) {
      if (*one.find("name") == Json(std::string(pass))) return one.find("count")->as_integer();
    }
    return int64_t{-1};
  };
  const Json greedy = data();
  EXPECT_EQ(count(greedy, "head_argmax"), 1);
  EXPECT_EQ(count(greedy, "step_attention"), 6);
  EXPECT_EQ(count(greedy, "qkv"), 6);
  const Phase& prefill = engine_->compiled().main.plan.phases.front();
  profile_.phase = prefill.name;
  profile_.phase_index = 0;
  profile_.tokens = prefill.max_tokens;
  profile_.steps.assign(prefill.steps.size(), 1e-6);
  const Json many = data();
  EXPECT_EQ(count(many, "head_argmax"), 0);
  EXPECT_EQ(count(many, "step_attention"), 0);
  EXPECT_EQ(count(many, "qkv"), 6);
}

TEST_F(ProfilePageTest, PageNeedsNothingBesideItself) {
  const std::string page = profile_page(data());
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "<link"}) {
    // The name space of SVG is a name, not an address.
    std::string text = page;
    const std::string svg = "http://www.w3.org/2000/svg";
    for (size_t at = text.find(svg); at != std::string::npos; at = text.find(svg)) {
      text.erase(at, svg.size());
    }
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  }
  EXPECT_EQ(page.find("/*data*/"), std::string::npos);
}

TEST_F(ProfilePageTest, NamesCannotEndTheScript) {
  Json json = data();
  json.set("model", "</script><!-- <script>");
  const std::string page = profile_page(json);
  EXPECT_EQ(page.find("</script><!--"), std::string::npos);
  const size_t start = page.find("id=\"data\">") + 10, end = page.find("</script>", start);
  const auto read = Json::parse(page.substr(start, end - start));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->dump(), json.dump());
}

TEST_F(ProfilePageTest, TraceHasTheLaunchesOneAfterTheOther) {
  const Json trace = profile_trace(*engine_, profile_);
  double at = 0;
  size_t launches = 0;
  for (const Json& event : trace.find("traceEvents")->as_array()) {
    if (*event.find("ph") != Json("X")) continue;
    EXPECT_NEAR(event.find("ts")->as_number(), at, 1e-6);
    at += event.find("dur")->as_number();
    ++launches;
  }
  EXPECT_EQ(launches, profile_.launches);
  EXPECT_NEAR(at, profile_.seconds * 1e6, 1e-6);
}

TEST(ProfileOfSequences, OneTokenIsAStepOfOneRow) {
  OpenOptions options;
  options.model = TOKAMAK_TEST_DATA "/models/gemma3_mm";
  options.backend = "cpu";
  options.context = 32;
  options.sequences = 4;
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto found = profile(**engine, {.tokens = 1, .repetitions = 1});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*engine)->compiled().main.plan.phases[found->phase_index].max_tokens, 1u);
}

TEST(ProfileOfRanks, HasALaneForEachRankAndTheTimeThatItWaits) {
  OpenOptions options;
  options.model = TOKAMAK_TEST_DATA "/models/gemma3_mm";
  options.backend = "cpu-reference";
  options.context = 32;
  options.chunk = 8;
  options.gpus = {0, 1};
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto found = profile(**engine, {.repetitions = 1});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->rank_times.size(), 2u);
  for (const RankTime& time : found->rank_times) {
    EXPECT_GT(time.meeting_seconds, 0);
    EXPECT_LT(time.meeting_seconds, time.seconds);
  }
  EXPECT_NE(profile_text(*found).find("\nrank 1: "), std::string::npos);
  const Phase& phase = (*engine)->compiled().main.plan.phases[found->phase_index];
  std::map<int64_t, std::vector<double>> starts;
  const Json trace = profile_trace(**engine, *found);
  for (const Json& event : trace.find("traceEvents")->as_array()) {
    if (*event.find("ph") != Json("X")) continue;
    starts[event.find("tid")->as_integer()].push_back(event.find("ts")->as_number());
  }
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(starts[2].size(), phase.steps.size());
  for (size_t i = 0; i + 1 < phase.steps.size(); ++i) {
    if (!is_collective(phase.steps[i].op)) continue;
    EXPECT_EQ(starts[1][i + 1], starts[2][i + 1]) << "after " << phase.steps[i].kernel->name;
  }
}

}  // namespace
}  // namespace tokamak
