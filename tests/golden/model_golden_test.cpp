// Every small model of tests/data against the recorded answers of transformers, on the CPU and in
// every setup of WebGPU. Prints the largest error of each.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "golden/made_checkpoint.h"
#include "golden/reference.h"

namespace tokamak::golden {
namespace {

/// How many of the cases that could run gave the recorded answers.
struct Ledger : testing::Environment {
  static inline uint32_t passed = 0, ran = 0;
  void TearDown() override {
    if (ran != 0) fmt::print("goldens: {} of {}\n", passed, ran);
  }
};
[[maybe_unused]] const auto* const g_ledger = testing::AddGlobalTestEnvironment(new Ledger);

/// The five best recorded tokens come in the recorded order, or are too close to tell apart.
void expect_order(const Json& top, std::span<const float> logits, double allowed) {
  std::vector<uint32_t> order(logits.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&](uint32_t id) { return logits[id]; });
  for (size_t rank = 0; rank < top.as_array().size(); ++rank) {
    const Json::Array& entry = top.as_array()[rank].as_array();
    const auto id = uint32_t(entry[0].as_integer());
    EXPECT_TRUE(order[rank] == id ||
                std::abs(entry[1].as_number() - double(logits[order[rank]])) < 2 * allowed)
        << "rank " << rank << " is " << order[rank] << ", expected " << id;
  }
}

struct ModelGolden : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string& model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());
  const bool is_gguf = file_exists(gguf_file(model));
  const bool is_made = file_exists(family_file(model));
  std::string path = is_gguf ? gguf_file(model) : model_folder(model);
  Json golden;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    ++Ledger::ran;
    golden = read_json(is_gguf   ? path.substr(0, path.rfind('.')) + ".golden.json"
                       : is_made ? family_file(model)
                                 : path + "/golden.json");
    ASSERT_NE(golden.find("prompts"), nullptr);
    ASSERT_FALSE(golden.find("prompts")->as_array().empty());
    if (is_made) path = made_checkpoint(model, golden);
  }
  void TearDown() override {
    if (!IsSkipped() && !HasFailure()) ++Ledger::passed;
    if (is_made) std::filesystem::remove_all(path);
  }
};

TEST_P(ModelGolden, LastLogitsAndGreedyTokens) {
  const auto engine = open(path, setup);
  ASSERT_NE(engine, nullptr);
  double worst = 0;
  for (const Json& prompt : golden.find("prompts")->as_array()) {
    SCOPED_TRACE(prompt.find("name")->as_string());
    const std::vector<float> expected = floats_of(*prompt.find("logits_last"));
    auto session = engine->start();
    ASSERT_TRUE(session) << session.error().message;
    auto logits = session->feed(ids_of(*prompt.find("ids")));
    ASSERT_TRUE(logits) << logits.error().message;
    const double error = relative_error(expected, *logits);
    worst = std::max(worst, error);
    EXPECT_LE(error, setup.tolerance);
    const double largest = std::abs(
        *std::ranges::max_element(expected, {}, [](float value) { return std::abs(value); }));
    expect_order(*prompt.find("logits_stats")->find("top5"), *logits, setup.tolerance * largest);

    std::vector<uint32_t> greedy;
    std::vector<uint32_t> wanted = ids_of(*prompt.find("greedy")->find("ids"));
    // A family has no kernels of its own, so its later steps are for the CPU.
    if (is_made && setup.options.backend != "cpu-reference") wanted.resize(1);
    while (greedy.size() < wanted.size()) {
      greedy.push_back(uint32_t(argmax(*logits)));
      logits = session->feed({&greedy.back(), 1});
      ASSERT_TRUE(logits) << logits.error().message;
    }
    EXPECT_EQ(greedy, wanted);
  }
  fmt::print("golden {} {}: last logits within {:.1e} of the largest\n", model, setup.name, worst);
}

TEST_P(ModelGolden, LogitsOfEveryPosition) {
  const auto engine = open(path, setup, true);
  ASSERT_NE(engine, nullptr);
  const size_t vocab = engine->compiled().facts.vocab;
  TensorFile arrays;
  if (file_exists(path + "/golden.safetensors")) {
    auto opened = open_safetensors_file(path + "/golden.safetensors");
    ASSERT_TRUE(opened) << opened.error().message;
    arrays = *std::move(opened);
  }
  double worst = 0;
  for (const Json& prompt : golden.find("prompts")->as_array()) {
    const std::string name = prompt.find("name")->as_string();
    SCOPED_TRACE(name);
    const std::vector<float> logits = logits_of(*engine, ids_of(*prompt.find("ids")));
    const std::vector<uint32_t> best = ids_of(*prompt.find("argmax_per_position"));
    ASSERT_EQ(logits.size(), best.size() * vocab);
    for (size_t position = 0; position < best.size(); ++position) {
      const auto row = std::span(logits).subspan(position * vocab, vocab);
      const size_t own = argmax(row);
      // The recorded margins are large only at the end: elsewhere two tokens may be too close.
      const double allowed = 2 * setup.tolerance * std::abs(double(row[own]));
      EXPECT_LE(double(row[own]) - double(row[best[position]]), allowed)
          << "position " << position << ": " << own << ", expected " << best[position];
    }
    if (const TensorInfo* recorded = arrays.find(name + ".logits")) {
      const auto bytes = arrays.data(*recorded);
      ASSERT_TRUE(bytes) << bytes.error().message;
      std::vector<float> expected(bytes->size() / sizeof(float));
      std::memcpy(expected.data(), bytes->data(), expected.size() * sizeof(float));
      const double error = relative_error(expected, logits);
      worst = std::max(worst, error);
      EXPECT_LE(error, setup.tolerance);
    }
  }
  if (worst > 0) {
    fmt::print("golden {} {}: all logits within {:.1e} of the largest\n", model, setup.name, worst);
  }
}

/// Two to four CUDA devices, where there are.
std::vector<DeviceSetup> cuda_ranks() {
  std::vector<DeviceSetup> found = rank_setups();
  std::erase_if(found, [](const DeviceSetup& one) { return one.options.backend != "cuda"; });
  return found;
}

std::string case_name(const testing::TestParamInfo<ModelGolden::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, ModelGolden,
                         testing::Combine(testing::ValuesIn(model_names()),
                                          testing::ValuesIn(setups())),
                         case_name);

/// Heads of every kind: plain, windows and a cap, beside recurrent layers.
INSTANTIATE_TEST_SUITE_P(Q8Cache, ModelGolden,
                         testing::Combine(testing::Values("llama_untied", "gemma3_softcap",
                                                          "qwen3_5_text"),
                                          testing::ValuesIn(q8_setups())),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Tiles, ModelGolden,
                         testing::Combine(testing::Values("llama_untied", "llama_tied_rope3",
                                                          "gemma3_hub", "qwen3_qknorm"),
                                          testing::ValuesIn(tile_setups())),
                         case_name);

/// Floats, latents, and packed matrices of several codes, dense and of experts.
INSTANTIATE_TEST_SUITE_P(Exact, ModelGolden,
                         testing::Combine(testing::Values("llama_untied", "gemma3_mlx4_g32",
                                                          "llama_gptq4_g128_actorder",
                                                          "deepseek_v2", "gpt_oss"),
                                          testing::ValuesIn(exact_setups())),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Families, ModelGolden,
                         testing::Combine(testing::ValuesIn(family_names()),
                                          testing::ValuesIn(family_setups())),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Gguf, ModelGolden,
                         testing::Combine(testing::ValuesIn(gguf_names()),
                                          testing::ValuesIn(setups())),
                         case_name);

/// Every model on 2, 3 or 4 ranks; all packings that models have, too.
std::vector<std::string> names_of_all() {
  std::vector<std::string> names = model_names();
  for (const auto& more : {family_names(), gguf_names()}) {
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}
const std::vector<std::string> kAllNames = names_of_all();
const std::string kStageNames[] = {"gemma3_hub", "qwen3_5_text", "gemma4_ple"};
INSTANTIATE_TEST_SUITE_P(
    Ranks, ModelGolden,
    testing::ValuesIn(in_turn(kAllNames, {{"cpu_2_ranks"}, {"cpu_3_ranks"}, {"cpu_4_ranks"}})),
    case_name);
/// Norms over all heads of queries and of keys: of heads that come out even and of others.
INSTANTIATE_TEST_SUITE_P(RanksOfNorms, ModelGolden,
                         testing::Combine(testing::Values("minimax_m2", "olmo2", "olmo3"),
                                          testing::Values(setup_named("cpu_2_ranks"),
                                                          setup_named("cpu_3_ranks"),
                                                          setup_named("cpu_4_ranks"))),
                         case_name);
/// Windows beside other layers; recurrent ones; values that are made in front of the first.
INSTANTIATE_TEST_SUITE_P(Stages, ModelGolden,
                         testing::ValuesIn(in_turn(kStageNames, {{"cpu_2_stages"}})), case_name);
/// One of each kind that is cut in another way: dense, experts, with a bias, packed, recurrent,
/// with norms over all heads.
INSTANTIATE_TEST_SUITE_P(CudaRanks, ModelGolden,
                         testing::Combine(testing::Values("llama_untied", "qwen3_moe", "gpt_oss",
                                                          "llama_mlx4_g64", "qwen3_5_text",
                                                          "olmo3"),
                                          testing::ValuesIn(cuda_ranks())),
                         case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ModelGolden);

/// Each packing once: op_parity_test has them all on every backend.
INSTANTIATE_TEST_SUITE_P(Formats, ModelGolden,
                         testing::Combine(testing::ValuesIn(format_names()),
                                          testing::Values(setups().front())),
                         case_name);

/// The vocabulary inside the file gives the ids that the one it was made from gave.
TEST(GgufGoldens, EncodeTextsAsRecorded) {
  for (const std::string& name : gguf_names()) {
    SCOPED_TRACE(name);
    const auto files = read_text_files(gguf_file(name));
    ASSERT_TRUE(files) << files.error().message;
    const auto tokenizer = make_tokenizer(*files);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const Json golden = read_json(TOKAMAK_TEST_DATA "/gguf/" + name + ".golden.json");
    for (const Json& c : golden.find("tokenizer")->as_array()) {
      const std::string& text = c.find("text")->as_string();
      const auto ids = tokenizer->encode(text, {.add_special = false});
      ASSERT_TRUE(ids) << ids.error().message;
      EXPECT_EQ(*ids, ids_of(*c.find("ids_no_special"))) << text;
    }
  }
}

/// A folder that got lost would not be missed otherwise.
TEST(ModelGoldens, CoverBothFamilies) {
  const std::vector<std::string> names = model_names();
  for (const char* name :
       {"gemma3_hub", "gemma3_mm", "gemma3_ropelinear", "gemma3_softcap", "lfm2", "llama_sharded",
        "llama_tied_rope3", "llama_untied", "qwen3_5_text", "qwen3_5_vl"}) {
    EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
  }
  EXPECT_EQ(gguf_names().size(), 5u);
  EXPECT_EQ(format_names().size(), 55u);
  EXPECT_TRUE(file_exists(model_folder("llama_untied") + "/golden.safetensors"));
}

}  // namespace
}  // namespace tokamak::golden
