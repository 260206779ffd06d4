// Every row of the registry, without a checkpoint: a tiny config and the weights that its
// architecture wishes for. It has a plan for every backend, and computes the same token by token,
// in batches and on every kind of device.
#include <algorithm>
#include <filesystem>
#include <set>

#include "golden/reference.h"
#include "invariants/batch_requests.h"
#include "invariants/wish_file.h"
#include "report/support/config_fields.h"
#include "report/support/support_operations.h"

namespace tokamak::invariants {
namespace {

using namespace golden;

constexpr uint32_t kContext = 96;
constexpr size_t kTokens = 40;

using Configs = std::map<std::string, std::vector<Json>, std::less<>>;

std::set<std::filesystem::path> sorted_entries(const std::string& folder) {
  std::set<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(TOKAMAK_TEST_DATA "/" + folder)) {
    entries.insert(entry.path());
  }
  return entries;
}

/// Configs of the recorded models of plain weights, by the architecture that they name.
const Configs& all_configs() {
  static const Configs all = [] {
    Configs found;
    for (const char* kind : {"models", "embeddings", "rerank", "speech"}) {
      for (const std::filesystem::path& folder : sorted_entries(kind)) {
        if (!exists(folder / "config.json")) continue;
        Json config = read_json((folder / "config.json").string());
        const bool is_packed =
            config.find("quantization") != nullptr || config.find("quantization_config") != nullptr;
        const Json* names = config.find("architectures");
        if (is_packed || names == nullptr) continue;
        const std::string name = names->as_array()[0].as_string();
        found[name].push_back(std::move(config));
      }
    }
    for (const std::filesystem::path& recipe : sorted_entries("families")) {
      Json config = *read_json(recipe.string()).find("config");
      found[config.find("architectures")->as_array()[0].as_string()].push_back(std::move(config));
    }
    return found;
  }();
  return all;
}

/// Its own configs, or those of another name of the same architecture.
std::vector<Json> configs_of(const Architecture& architecture) {
  const auto own = all_configs().find(architecture.name);
  if (own != all_configs().end()) return own->second;
  for (const Architecture& other : architectures()) {
    const auto found = all_configs().find(other.name);
    if (found != all_configs().end() && other.build == architecture.build) return found->second;
  }
  return {};
}

std::vector<std::string> names_where(bool (*wanted)(const Architecture&)) {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) {
    if (wanted(architecture)) names.emplace_back(architecture.name);
  }
  return names;
}

struct Row : testing::TestWithParam<std::string> {
  const Architecture& architecture =
      *std::ranges::find(architectures(), std::string_view(GetParam()), &Architecture::name);
  ModelFiles files;
  ModelFacts facts;

  void SetUp() override {
    const std::vector<Json> configs = configs_of(architecture);
    ASSERT_FALSE(configs.empty())
        << "a recorded model of this architecture is missing below " TOKAMAK_TEST_DATA;
    files.name = GetParam();
    files.description.config = configs.front();
    files.description.config.set("architectures", Json::Array{GetParam()});
    const ConfigReader reader = files.description.reader();
    auto own = architecture.facts(reader);
    ASSERT_TRUE(own) << own.error().message;
    facts = *std::move(own);
    auto made = wish_file(architecture, reader);
    ASSERT_TRUE(made) << made.error().message;
    files.tensors = *std::move(made);
  }

  std::vector<uint32_t> ids() const {
    std::vector<uint32_t> out;
    for (size_t i = 0; i < kTokens; ++i) out.push_back(uint32_t(i * 37 + 11) % facts.vocab);
    return out;
  }

  std::unique_ptr<Engine> load(const DeviceSetup& setup,
                               const std::function<void(OpenOptions&)>& change) {
    OpenOptions options = setup.options;
    options.context = kContext;
    options.all_logits = true;
    change(options);
    auto backend = open_backend(options);
    EXPECT_TRUE(backend) << backend.error().message;
    if (!backend) return nullptr;
    auto engine = Engine::load(files, *std::move(backend), options, steady_clock());
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? *std::move(engine) : nullptr;
  }
  std::unique_ptr<Engine> on_cpu(const std::function<void(OpenOptions&)>& change) {
    return load(setups().front(), change);
  }
};

/// Any architecture.
struct AnyRow : Row {};

TEST_P(AnyRow, HasAPlanOnEveryBackend) {
  if (architecture.build == nullptr) return;
  OpenOptions options;
  if (!facts.causal && !facts.score) options.pooling = "mean";
  for (const SupportBackend& backend : support_backends()) {
    const auto compiled = Engine::compile(files, backend.device, options);
    EXPECT_TRUE(compiled) << compiled.error().message;
    if (!compiled) continue;
    EXPECT_TRUE(verify(compiled->main.unfused()))
        << verify(compiled->main.unfused()).error().message;
    EXPECT_TRUE(verify(compiled->main.fused())) << verify(compiled->main.fused()).error().message;
  }
}

TEST_P(AnyRow, ReadsEveryFieldOfItsConfigs) {
  for (const Json& config : configs_of(architecture)) {
    FieldTrials trials(architecture, config, {});
    EXPECT_EQ(trials.unread(), std::vector<std::string>())
        << "let the architecture read them, or give config_fields.cpp the reason why it need not";
  }
}

/// Values that the field may have as well.
std::vector<Json> others_of(const Json& value) {
  if (value.is_bool()) return {Json(!value.as_bool())};
  if (value.is_integer()) {
    const int64_t n = value.as_integer();
    return {Json(2 * n), Json(n / 2), Json(n + 1), Json(n + 2)};
  }
  if (value.is_number()) return {Json(value.as_number() * 2), Json(value.as_number() / 2)};
  return {};
}

struct Undecided {
  std::string_view architecture;  // the beginning of its name
  std::string_view path;          // its end
  std::string_view reason;
};

/// Fields that are read, and whose other values change nothing in the recorded configs.
constexpr Undecided kUndecided[] = {
    {"Cohere2", "sliding_window_pattern", "layer_types decides"},
    {"", "beta_fast", "rounds to the same dimension of so small a head"},
    {"FalconH1", "mamba_expand", "mamba_d_ssm decides"},
    {"GraniteMoeHybrid", "rope_theta", "no layer turns"},
    {"InternLM2", "rope_scaling.factor", "of positions beyond the context, which ends before them"},
    {"KaniTTS2", "speaker_emb_dim", "without the tensor of speakers"},
    {"KaniTTS2", "tie_word_embeddings", "tie_embedding decides"},
    {"MiniMaxM2", "rotary_dim", "partial_rotary_factor decides"},
    {"Qwen2", "sliding_window", "max_window_layers leaves no layer"},
    {"Qwen3", "max_window_layers", "no windows in the config, or fewer layers"},
    {"Qwen3", "intermediate_size", "every layer has experts"},
    {"Qwen3_5", "full_attention_interval", "layer_types decides"},
    {"SmolLM3", "no_rope_layer_interval", "no_rope_layers decides"},
    {"", "text_config.tie_word_embeddings", "the outer field decides"},
    {"Qwen", "use_sliding_window", "no window in the config, or fewer layers"},
};

bool may_be_undecided(std::string_view architecture, std::string_view path) {
  return std::ranges::any_of(kUndecided, [&](const Undecided& one) {
    return architecture.starts_with(one.architecture) && path.ends_with(one.path);
  });
}

TEST_P(AnyRow, ForgetsNoFieldThatItReads) {
  std::map<std::string, bool> matters;  // in one of the configs
  for (const Json& config : configs_of(architecture)) {
    FieldTrials trials(architecture, config, {});
    for (const std::string& path : field_paths(config)) {
      const std::vector<Json> others = others_of(field_at(config, path));
      if (trials.ignores(path) || others.empty()) continue;
      bool& known = matters[path];
      known = known || trials.decides(path, others);
    }
  }
  for (const auto& [path, does] : matters) {
    EXPECT_TRUE(does || may_be_undecided(architecture.name, path))
        << path << " is read and forgotten";
  }
}

/// Those that give text.
struct TextRow : Row {};

void leave_out_all_passes(OpenOptions& options) {
  for (const fuse::Pass& pass : fuse::passes()) {
    options.disabled_passes.insert(std::string(pass.name));
  }
}

TEST_P(TextRow, FusedEqualsUnfusedOnTheCpu) {
  const auto fused =
      on_cpu([](OpenOptions& options) { options.disabled_passes = kRoundingPasses; });
  const auto unfused = on_cpu(leave_out_all_passes);
  ASSERT_TRUE(fused != nullptr && unfused != nullptr);
  const std::vector<float> expected = logits_of(*unfused, ids());
  EXPECT_LE(relative_error(expected, logits_of(*fused, ids())), setups().front().tolerance);
  EXPECT_GT(relative_error(expected, std::vector<float>(expected.size())), 0.1) << "all zeros";
}

/// Logits after every token, fed one by one.
std::vector<float> token_by_token(Engine& engine, const std::vector<uint32_t>& tokens) {
  std::vector<float> rows;
  auto session = engine.start();
  EXPECT_TRUE(session) << session.error().message;
  for (const uint32_t token : tokens) {
    if (!session) break;
    const auto row = session->feed({&token, 1});
    EXPECT_TRUE(row) << row.error().message;
    if (!row) break;
    rows.insert(rows.end(), row->begin(), row->end());
  }
  return rows;
}

TEST_P(TextRow, TokenByTokenEqualsAtOnceOnTheCpu) {
  const auto engine =
      on_cpu([](OpenOptions& options) { options.disabled_passes = kRoundingPasses; });
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(token_by_token(*engine, ids()), logits_of(*engine, ids()));
}

TEST_P(TextRow, NumberOfThreadsChangesNoBitOnTheCpu) {
  const auto with = [&](uint32_t threads) {
    const auto fast = std::ranges::find(setups(), "cpu_fast", &DeviceSetup::name);
    return load(*fast, [&](OpenOptions& options) { options.threads = threads; });
  };
  const auto one = with(1), five = with(5);
  ASSERT_TRUE(one != nullptr && five != nullptr);
  EXPECT_EQ(logits_of(*one, ids()), logits_of(*five, ids()));
  EXPECT_EQ(token_by_token(*one, ids()), token_by_token(*five, ids()));
}

TEST_P(TextRow, BatchesPrefixesAndPreemptionChangeNothingOnTheCpu) {
  const auto open_for = [&](uint32_t sequences, uint32_t cache_tokens) {
    return on_cpu([&](OpenOptions& options) {
      options.disabled_passes = kRoundingPasses;
      options.all_logits = false;
      options.speculate = "off";
      options.chunk = 24;
      options.sequences = sequences;
      options.cache_tokens = cache_tokens;
    });
  };
  const auto alone = open_for(1, 0), together = open_for(3, kContext + 16);
  ASSERT_TRUE(alone != nullptr && together != nullptr);
  const std::vector<Request> requests = requests_for(facts.vocab);
  const Outcome outcome = run_all(*together, requests);
  expect_same(run_alone(*alone, requests), outcome, true);
  // Models of which all layers slide keep what a whole prompt leaves, and no beginnings of it.
  const auto has_pages = [](const Buffer& one) {
    return one.use == BufferUse::kTable && one.tensor.window == 0;
  };
  if (std::ranges::any_of(together->compiled().main.plan.buffers, has_pages)) {
    EXPECT_GT(outcome.stats.cached_tokens, 0u) << "beginnings that are shared are computed once";
  }
}

/// Those that give text, on a driver.
struct TextRowOnDevices : Row {};

TEST_P(TextRowOnDevices, ComputesWhatTheCpuDoes) {
  const auto cpu = on_cpu([](OpenOptions&) {});
  ASSERT_NE(cpu, nullptr);
  const std::vector<float> expected = logits_of(*cpu, ids());
  for (const DeviceSetup& setup : setups()) {
    if (setup.name != "webgpu_f32" && setup.name != "cuda_f16") continue;
    require_device(setup);
    if (IsSkipped()) return;
    const auto engine = load(setup, [](OpenOptions&) {});
    ASSERT_NE(engine, nullptr);
    EXPECT_LE(relative_error(expected, logits_of(*engine, ids())), setup.tolerance) << setup.name;
  }
}

const auto kName = [](const auto& info) { return info.param; };

bool is_any(const Architecture&) {
  return true;
}

/// By its own config: of one name there may be models that embed.
bool gives_text(const Architecture& architecture) {
  const std::vector<Json> configs = configs_of(architecture);
  if (configs.empty() || architecture.build == nullptr) return false;
  const auto facts = architecture.facts({configs.front(), "config.json"});
  return facts && facts->causal && !facts->score && !facts->hears && !facts->speaks;
}

INSTANTIATE_TEST_SUITE_P(Registry, AnyRow, testing::ValuesIn(names_where(is_any)), kName);
INSTANTIATE_TEST_SUITE_P(Registry, TextRow, testing::ValuesIn(names_where(gives_text)), kName);
INSTANTIATE_TEST_SUITE_P(Registry, TextRowOnDevices, testing::ValuesIn(names_where(gives_text)),
                         kName);

}  // namespace
}  // namespace tokamak::invariants
