#include "golden/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "backend/cuda/device.h"
#include "backend/webgpu/adapters.h"
#include "base/check.h"
#include "kernels/cpu/tiles.h"

namespace tokamak::golden {
namespace {

const std::string kFormats = TOKAMAK_TEST_DATA "/formats/";

/// The folders and GGUF files of a folder, sorted, without ".gguf".
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool is_gguf = entry.path().extension() == ".gguf";
    if (is_gguf || entry.is_directory()) {
      names.push_back((is_gguf ? entry.path().stem() : entry.path().filename()).string());
    }
  }
  std::ranges::sort(names);
  return names;
}

// The one table of tolerances on logits.
/// Sums in f64, so what is left is where transformers itself rounds. Measured: 5e-6.
constexpr double kCpu = 5e-5;
/// Sums in f32, and exp and tanh as exact as a device makes them. Measured on llvmpipe: 5e-6.
constexpr double kWebGpu = 5e-4;
/// Keys and values lose 13 bits of mantissa: half a thousandth each. Measured: 1.2e-3.
constexpr double kF16Cache = 5e-3;
/// Keys and values become one of 255 numbers, up to half a 127th of their head's largest away.
/// Measured: 1.9e-2.
constexpr double kQ8Cache = 0.05;

/// Matrix units take f16: every factor of every product loses 13 bits of mantissa.
constexpr double kMatrixUnits = 5e-3;
/// Those of processors take bf16: three bits less than f16. Measured: 8.6e-3.
constexpr double kBf16Tiles = 0.02;

OpenOptions with(const char* backend, const char* kv) {
  OpenOptions options;
  options.backend = backend;
  options.kv = kv;
  options.self_test = options.use_tuned = false;  // whatever is known of this device
  options.use_matrix = false;
  return options;
}

/// The same for that number of ranks.
OpenOptions ranks(const char* backend, const char* kv, uint32_t count) {
  OpenOptions options = with(backend, kv);
  for (uint32_t i = 0; i < count; ++i) options.gpus.push_back(i);
  return options;
}

/// The same for that number of devices with some layers each.
OpenOptions layers(const char* backend, const char* kv, uint32_t count) {
  OpenOptions options = ranks(backend, kv, count);
  options.split = "layers";
  return options;
}

/// The first WebGPU device, or why there is none.
const Result<DeviceInfo>& gpu() {
  static const Result<DeviceInfo> found = []() -> Result<DeviceInfo> {
    TOK_TRY(const auto backend, open_webgpu_backend({}));
    return backend->device();
  }();
  return found;
}

bool has_cuda() {
  static const bool has = open_cuda_backend({}).has_value();
  return has;
}

}  // namespace

const std::vector<DeviceSetup>& setups() {
  const auto plain = [&](const char* kv) {
    OpenOptions options = with("webgpu", kv);
    options.use_f16 = options.use_subgroups = false;
    options.default_limits = true;
    return options;
  };
  OpenOptions matrix = with("webgpu", "f16");
  matrix.use_matrix = true;
  static const std::vector<DeviceSetup> all = [&] {
    std::vector<DeviceSetup> setups = {
        {"cpu", with("cpu-reference", "f32"), kCpu},
        {"cpu_fast", with("cpu", "f32"), kWebGpu},
        {"webgpu_f32", with("webgpu", "f32"), kWebGpu},
        {"webgpu_f16", with("webgpu", "f16"), kF16Cache},
        {"webgpu_plain", plain("f32"), kWebGpu},
        {"webgpu_plain_f16", plain("f16"), kF16Cache},
        {"webgpu_matrix", matrix, kMatrixUnits, kFeatureSubgroupMatrix},
    };
    // CUDA is there: a GPU, or the emulator of tests/emulator.
    if (has_cuda()) setups.push_back({"cuda_f16", with("cuda", "f16"), kF16Cache});
    return setups;
  }();
  return all;
}

const DeviceSetup& setup_named(std::string_view name) {
  const bool are_several = name.ends_with("ranks") || name.ends_with("stages");
  const std::vector<DeviceSetup>& of = are_several ? rank_setups() : setups();
  const auto found = std::ranges::find(of, name, &DeviceSetup::name);
  TOK_CHECK(found != of.end());
  return *found;
}

const std::vector<DeviceSetup>& family_setups() {
  static const std::vector<DeviceSetup> some = [] {
    std::vector<DeviceSetup> found = setups();
    std::erase_if(found, [](const DeviceSetup& setup) {
      return setup.name == "webgpu_f16" || setup.name == "webgpu_plain" ||
             setup.name == "webgpu_plain_f16";
    });
    return found;
  }();
  return some;
}

const std::vector<DeviceSetup>& q8_setups() {
  static const std::vector<DeviceSetup> all = {{"cpu_q8", with("cpu-reference", "q8"), kQ8Cache},
                                               {"cpu_fast_q8", with("cpu", "q8"), kQ8Cache},
                                               {"webgpu_q8", with("webgpu", "q8"), kQ8Cache}};
  return all;
}

const std::vector<DeviceSetup>& tile_setups() {
  static const std::vector<DeviceSetup> all = [] {
    OpenOptions tiles = with("cpu", "f32");
    tiles.use_matrix = true;
    return std::vector<DeviceSetup>{{"cpu_tiles", tiles, kBf16Tiles, kFeatureBf16Tiles}};
  }();
  return all;
}

const std::vector<DeviceSetup>& exact_setups() {
  static const std::vector<DeviceSetup> all = [] {
    OpenOptions exact = with("cpu", "auto");
    exact.use_matrix = true;
    exact.precision = "exact";
    return std::vector<DeviceSetup>{{"cpu_exact", exact, kCpu}};
  }();
  return all;
}

const std::vector<DeviceSetup>& rank_setups() {
  static const std::vector<DeviceSetup> all = [] {
    std::vector<DeviceSetup> found = {{"cpu_2_ranks", ranks("cpu-reference", "f32", 2), kCpu},
                                      {"cpu_3_ranks", ranks("cpu-reference", "f32", 3), kCpu},
                                      {"cpu_4_ranks", ranks("cpu-reference", "f32", 4), kCpu},
                                      {"cpu_fast_2_ranks", ranks("cpu", "f32", 2), kWebGpu},
                                      {"cpu_2_stages", layers("cpu-reference", "f32", 2), kCpu}};
    const auto devices = list_cuda_devices();
    const size_t count = devices ? devices->size() : 0;
    for (uint32_t n = 2; n <= std::min<size_t>(count, 4); ++n) {
      found.push_back({fmt::format("cuda_{}_ranks", n), ranks("cuda", "f16", n), kF16Cache});
    }
    if (count >= 2) {
      OpenOptions meet = ranks("cuda", "f16", 2);
      meet.forced.emplace("all_reduce", "all_reduce.cuda");
      found.push_back({"cuda_2_ranks_that_meet", std::move(meet), kF16Cache});
    }
    return found;
  }();
  return all;
}

ModelSetups in_turn(std::span<const std::string> models,
                    std::initializer_list<std::initializer_list<std::string_view>> turns) {
  ModelSetups all;
  for (size_t i = 0; i < models.size(); ++i) {
    for (const std::string_view name : turns.begin()[i % turns.size()]) {
      all.emplace_back(models[i], setup_named(name));
    }
  }
  return all;
}

void require_device(const DeviceSetup& setup) {
  if ((setup.needs & kFeatureBf16Tiles) != 0 && tile_unit() == nullptr) {
    GTEST_SKIP() << setup.name << ": the processor has no units for tiles";
  }
  if (setup.options.backend != "webgpu") return;
  if (gpu()) {
    const Features missing = setup.needs & ~gpu()->features;
    if (missing == 0) return;
    GTEST_SKIP() << setup.name << ": the device lacks " << features_text(missing);
  }
  const std::string& reason = gpu().error().message;
  if (std::getenv("TOKAMAK_REQUIRE_GPU") != nullptr) {
    FAIL() << "TOKAMAK_REQUIRE_GPU is set, and there is no WebGPU device: " << reason;
  }
  GTEST_SKIP() << setup.name << ": " << reason;
}

std::unique_ptr<Engine> open(const std::string& model, const DeviceSetup& setup, bool all_logits) {
  OpenOptions options = setup.options;
  options.model = model;
  options.all_logits = all_logits;
  auto engine = Engine::open(options);
  if (engine) return *std::move(engine);
  ADD_FAILURE() << setup.name << ": " << engine.error().message;
  return nullptr;
}

std::vector<std::string> model_names() {
  return names_in(TOKAMAK_TEST_DATA "/models");
}

std::string model_folder(const std::string& name) {
  const std::string format = kFormats + name;
  return file_exists(format + "/config.json") ? format : TOKAMAK_TEST_DATA "/models/" + name;
}

std::vector<std::string> gguf_names() {
  return names_in(TOKAMAK_TEST_DATA "/gguf");
}

std::string gguf_file(const std::string& name) {
  const std::string format = kFormats + name + ".gguf";
  return file_exists(format) ? format : TOKAMAK_TEST_DATA "/gguf/" + name + ".gguf";
}

std::vector<std::string> format_names() {
  return names_in(kFormats);
}

std::vector<uint32_t> ids_of(const Json& json) {
  std::vector<uint32_t> ids;
  for (const Json& id : json.as_array()) ids.push_back(uint32_t(id.as_integer()));
  return ids;
}

std::vector<float> floats_of(const Json& json) {
  std::vector<float> values;
  for (const Json& value : json.as_array()) values.push_back(float(value.as_number()));
  return values;
}

std::vector<float> logits_of(Engine& engine, std::span<const uint32_t> ids) {
  auto session = engine.start();
  if (!session) {
    ADD_FAILURE() << session.error().message;
    return {};
  }
  auto logits = session->feed(ids);
  if (logits) return {logits->begin(), logits->end()};
  ADD_FAILURE() << logits.error().message;
  return {};
}

std::vector<float> logits_of_request(Engine& engine, std::span<const uint32_t> prompt) {
  std::vector<float> logits;
  Request request{.prompt = {prompt.begin(), prompt.end()}};
  request.params.max_tokens = 0;
  request.logits = [&](std::span<const float> own) { logits.assign(own.begin(), own.end()); };
  const auto done = engine.generate(std::move(request));
  if (!done) ADD_FAILURE() << done.error().message;
  return logits;
}

double relative_error(std::span<const float> expected, std::span<const float> actual) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (expected.size() != actual.size() || expected.empty()) return kInfinite;
  double largest = 0, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double(expected[i]) - double(actual[i]));
    if (!std::isfinite(difference)) return kInfinite;
    largest = std::max(largest, std::abs(double(expected[i])));
    error = std::max(error, difference);
  }
  return error / largest;
}

size_t argmax(std::span<const float> row) {
  return size_t(std::ranges::max_element(row) - row.begin());
}

}  // namespace tokamak::golden
