// Low-rank adapters beside a model. What they must give is what the model gives whose weights have
// the adapter in them, W + s B A, by plain arithmetic.
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "base/packing.h"
#include "golden/reference.h"

namespace tokamak::golden {
namespace {

constexpr std::string_view kWeight = ".weight";
constexpr double kAlpha = 3;
constexpr uint32_t kMoreOfB = 6;

/// Tensors in memory.
class Tensors {
 public:
  void add(const std::string& name, DType dtype, std::vector<uint64_t> shape,
           std::span<const std::byte> bytes) {
    infos_.push_back({.name = name,
                      .dtype = dtype,
                      .shape = std::move(shape),
                      .offset = bytes_.size(),
                      .bytes = bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  TensorFile file() && {
    auto made = TensorFile::make({memory_source("made", std::move(bytes_))}, std::move(infos_),
                                 Json(Json::Object{}));
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(TensorFile());
  }

 private:
  std::vector<TensorInfo> infos_;
  std::vector<std::byte> bytes_;
};

std::vector<float> floats(const TensorFile& file, const TensorInfo& info) {
  const auto bytes = file.data(info);
  EXPECT_TRUE(bytes);
  std::vector<float> values(size_t(info.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = number_at(info.dtype, bytes->data() + i * dtype_bytes(info.dtype));
  }
  return values;
}

std::string prefixed(std::string_view tensor, std::string_view ending) {
  tensor.remove_suffix(kWeight.size());
  return fmt::format("base_model.model.{}{}", tensor, ending);
}

/// A random adapter for every matrix of every layer whose name has `part`. One of two that are
/// stacked in the graph has another rank than the other.
LoraFiles make_adapter(const std::string& name, const TensorFile& model, std::string_view part,
                       uint32_t rank, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-0.15f, 0.15f);
  Tensors tensors;
  for (const TensorInfo& info : model.tensors()) {
    if (info.shape.size() != 2 || !info.name.contains("layers.")) continue;
    if (!info.name.contains("_proj") || !info.name.contains(part)) continue;
    const auto add = [&](std::string_view ending, uint64_t rows, uint64_t columns) {
      std::vector<float> values(size_t(rows * columns));
      for (float& one : values) one = value(random);
      tensors.add(prefixed(info.name, ending), DType::kF32, {rows, columns},
                  std::as_bytes(std::span(values)));
    };
    const uint32_t own = info.name.contains("in_proj_b") ? rank + kMoreOfB : rank;
    add(".lora_A.weight", own, info.shape[1]);
    add(".lora_B.weight", info.shape[0], own);
  }
  Json config;
  config.set("peft_type", "LORA").set("r", rank).set("lora_alpha", kAlpha);
  config.set("rank_pattern", Json(Json::Object{{"in_proj_b", rank + kMoreOfB}}));
  return {.name = name,
          .where = name,
          .scale = 2,
          .config = std::move(config),
          .tensors = std::move(tensors).file()};
}

/// The model with the adapter in its weights, which are f32 then.
TensorFile merged(const TensorFile& model, const LoraFiles& adapter) {
  Tensors tensors;
  for (const TensorInfo& info : model.tensors()) {
    const TensorInfo* a = adapter.tensors.find(prefixed(info.name, ".lora_A.weight"));
    if (a == nullptr) {
      tensors.add(info.name, info.dtype, info.shape, *model.data(info));
      continue;
    }
    const TensorInfo* b = adapter.tensors.find(prefixed(info.name, ".lora_B.weight"));
    std::vector<float> w = floats(model, info);
    const std::vector<float> down = floats(adapter.tensors, *a), up = floats(adapter.tensors, *b);
    const auto rank = size_t(a->shape[0]), in = size_t(a->shape[1]);
    for (size_t row = 0; row < info.shape[0]; ++row) {
      for (size_t column = 0; column < in; ++column) {
        double sum = 0;
        for (size_t r = 0; r < rank; ++r) sum += double(up[row * rank + r]) * down[r * in + column];
        float& own = w[row * in + column];
        own = float(own + sum * adapter.scale * kAlpha / double(rank));
      }
    }
    tensors.add(info.name, DType::kF32, info.shape, std::as_bytes(std::span(w)));
  }
  return std::move(tensors).file();
}

/// A model with two adapters, of different ranks, none of which is whole eights, and modules.
struct Adapted {
  explicit Adapted(const std::string& model, std::string_view part_of_two = "self_attn") {
    auto read = read_model_files(model_folder(model));
    EXPECT_TRUE(read) << read.error().message;
    if (!read) return;
    files = *std::move(read);
    adapters = {make_adapter("one", files.tensors, "", 5, 1),
                make_adapter("two", files.tensors, part_of_two, 11, 2)};
  }

  static std::unique_ptr<Engine> load(ModelFiles own, const DeviceSetup& setup,
                                      uint32_t sequences = 1) {
    OpenOptions options = setup.options;
    options.context = 96;
    options.chunk = 24;
    options.sequences = sequences;
    if (setup.options.backend == "cpu-reference") options.disabled_passes = kRoundingPasses;
    auto backend = open_backend(options);
    EXPECT_TRUE(backend) << backend.error().message;
    if (!backend) return nullptr;
    const Clock clock = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
    auto engine = Engine::load(std::move(own), *std::move(backend), options, clock);
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? *std::move(engine) : nullptr;
  }
  std::unique_ptr<Engine> load_plain() const { return load(files, setup_named("cpu")); }
  std::unique_ptr<Engine> load_merged(const LoraFiles& adapter) const {
    ModelFiles own = files;
    own.tensors = merged(files.tensors, adapter);
    return load(std::move(own), setup_named("cpu"));
  }
  std::unique_ptr<Engine> load_adapted(uint32_t sequences = 1,
                                       const DeviceSetup& setup = setup_named("cpu")) const {
    ModelFiles own = files;
    own.adapters = adapters;
    return load(std::move(own), setup, sequences);
  }

  ModelFiles files;
  std::vector<LoraFiles> adapters;
};

std::vector<uint32_t> prompt_of(uint32_t count, uint32_t vocab) {
  std::vector<uint32_t> ids(count);
  for (uint32_t i = 0; i < count; ++i) ids[i] = (i * i * 37 + 11) % vocab;
  return ids;
}

/// Logits after a prompt of several chunks, then after some tokens and one more.
std::vector<std::vector<float>> logits_at(Engine& engine) {
  std::vector<std::vector<float>> all;
  auto session = engine.start();
  EXPECT_TRUE(session) << session.error().message;
  const std::vector<uint32_t> ids = prompt_of(40, engine.compiled().facts.vocab);
  size_t at = 0;
  for (const size_t count : {35u, 4u, 1u}) {
    const auto logits = session->feed(std::span(ids).subspan(at, count));
    EXPECT_TRUE(logits) << logits.error().message;
    if (!logits) return all;
    all.emplace_back(logits->begin(), logits->end());
    at += count;
  }
  return all;
}

/// Against the model with each adapter in its weights, and without any.
void expect_merged_logits(const Adapted& model, Engine& engine, double tolerance) {
  const auto plain_engine = model.load_plain();
  ASSERT_NE(plain_engine, nullptr);
  const auto plain = logits_at(*plain_engine), unadapted = logits_at(engine);
  ASSERT_EQ(plain.size(), unadapted.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_LE(relative_error(plain[i], unadapted[i]), tolerance);
  }
  for (const LoraFiles& adapter : model.adapters) {
    SCOPED_TRACE(adapter.name);
    const auto other = model.load_merged(adapter);
    ASSERT_NE(other, nullptr);
    ASSERT_TRUE(engine.use_adapter(adapter.name));
    const auto expected = logits_at(*other), actual = logits_at(engine);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(relative_error(expected[i], actual[i]), tolerance);
      EXPECT_GE(relative_error(plain[i], actual[i]), 0.1) << "the adapter does nothing";
    }
  }
}

struct Asked {
  uint32_t adapter = 0, tokens = 0;
};

/// All at once where `at_once`, else one after the other.
std::vector<Generation> run(Engine& engine, const std::vector<Asked>& asked, bool at_once) {
  const auto scheduler = engine.scheduler();
  EXPECT_TRUE(scheduler) << scheduler.error().message;
  std::vector<Generation> all(asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    Request request{.prompt = prompt_of(asked[i].tokens, engine.compiled().facts.vocab)};
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 14;
    request.adapter = asked[i].adapter;
    request.done = [&all, i](Result<Generation> done) {
      EXPECT_TRUE(done) << done.error().message;
      if (done) all[i] = *std::move(done);
    };
    EXPECT_TRUE((*scheduler)->add(std::move(request)));
    if (!at_once) {
      EXPECT_TRUE((*scheduler)->run());
    }
  }
  EXPECT_TRUE((*scheduler)->run());
  return all;
}

struct Lora : testing::TestWithParam<std::string> {
  const Adapted model{GetParam()};
};

TEST_P(Lora, GivesTheLogitsOfTheModelWithTheAdapterInItsWeightsOnTheCpu) {
  const auto engine = model.load_adapted();
  ASSERT_NE(engine, nullptr);
  expect_merged_logits(model, *engine, 3e-6);
  const auto unknown = engine->use_adapter("three");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "There is no adapter \"three\"; the model was opened with one, two.");
}

TEST_P(Lora, IsCutForRanksAsItsProductsOnTheCpu) {
  for (const std::string_view ranks : {"cpu_2_ranks", "cpu_3_ranks"}) {
    SCOPED_TRACE(ranks);
    const auto engine = model.load_adapted(1, setup_named(ranks));
    ASSERT_NE(engine, nullptr);
    EXPECT_EQ(engine->compiled().main.cut.whole, 0u);
    expect_merged_logits(model, *engine, 3e-6);
  }
}

const std::vector<Asked> kMixed = {{1, 40}, {2, 40}, {0, 40}, {2, 17}, {1, 1}, {0, 33}};

TEST_P(Lora, MixesAdaptersInAStepAndGivesEachTheTokensThatItGivesAloneOnTheCpu) {
  const auto alone = model.load_adapted(), together = model.load_adapted(4);
  ASSERT_TRUE(alone && together);
  const auto expected = run(*alone, kMixed, false), actual = run(*together, kMixed, true);
  for (size_t i = 0; i < kMixed.size(); ++i) {
    EXPECT_FALSE(actual[i].ids.empty());
    EXPECT_EQ(actual[i].ids, expected[i].ids) << "request " << i;
  }
  EXPECT_NE(actual[0].ids, actual[1].ids);
  EXPECT_NE(actual[0].ids, actual[2].ids);
}

TEST_P(Lora, SharesNoBeginningWithAnotherAdapterOnTheCpu) {
  const auto engine = model.load_adapted(4);
  ASSERT_NE(engine, nullptr);
  const auto done = run(*engine, {{1, 40}, {2, 40}, {0, 40}, {2, 40}, {1, 40}}, false);
  for (size_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(done[i].cached_tokens > 0, i >= 3) << "request " << i;
  }
  EXPECT_EQ(done[3].ids, done[1].ids);
  EXPECT_EQ(done[4].ids, done[0].ids);
}

INSTANTIATE_TEST_SUITE_P(Models, Lora,
                         testing::Values("llama_untied", "phi3_fused", "qwen2_bias", "gemma3_hub"),
                         [](const auto& one) { return one.param; });

/// in_proj_a and in_proj_b of Qwen3.5 are one product here.
TEST(LoraOfStackedWeights, GivesTheLogitsOfTheModelWithTheAdapterInItsWeights) {
  const Adapted model("qwen3_5_text", "linear_attn");
  for (const std::string_view name : {"cpu", "cpu_2_ranks"}) {
    SCOPED_TRACE(name);
    const auto engine = model.load_adapted(1, setup_named(name));
    ASSERT_NE(engine, nullptr);
    expect_merged_logits(model, *engine, 3e-6);
  }
}

TEST(LoraOnWebGpu, GivesWhatTheCpuGives) {
  const DeviceSetup& setup = setup_named("webgpu_f32");
  require_device(setup);
  if (IsSkipped()) return;
  const Adapted model("llama_untied");
  const auto engine = model.load_adapted(4, setup), alone = model.load_adapted();
  ASSERT_TRUE(engine && alone);
  expect_merged_logits(model, *engine, setup.tolerance);
  const auto expected = run(*alone, kMixed, false), actual = run(*engine, kMixed, true);
  size_t equal = 0;
  for (size_t i = 0; i < kMixed.size(); ++i) equal += actual[i].ids == expected[i].ids ? 1 : 0;
  // A device may turn where two tokens are as probable to within its rounding.
  EXPECT_GE(equal, kMixed.size() - 1);
}

}  // namespace
}  // namespace tokamak::golden
