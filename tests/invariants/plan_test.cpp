// The texts and plans of every model in tests/data/models, for devices that need not be there.
#include "golden/reference.h"
#include "invariants/plan_checks.h"

namespace tokamak::invariants {
namespace {

DeviceInfo device_with(Features features) {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = "test device";
  device.features = features;
  if (features & kFeatureSubgroups) device.subgroup_min = device.subgroup_max = 32;
  return device;
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all = {make_cpu_backend()->device()};
  for (const Features features : {Features{0}, Features{kFeatureF16},
                                  Features{kFeatureF16 | kFeatureSubgroups}, kAllFeatures}) {
    all.push_back(device_with(features));
  }
  return all;
}

struct ModelPlan : testing::TestWithParam<std::string> {};

TEST_P(ModelPlan, GraphsAndPlansPrintAndParseBack) {
  auto files = read_model_files(golden::model_folder(GetParam()));
  ASSERT_TRUE(files) << files.error().message;
  for (const DeviceInfo& device : devices()) {
    for (const char* kv : {"f32", "f16"}) {
      for (const uint32_t chunk : {1u, 64u, 512u, 1024u}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", backend_name(device.backend),
                                 features_text(device.features), kv, chunk));
        OpenOptions options;
        options.kv = kv;
        options.chunk = chunk;
        const auto compiled = Engine::compile(*files, device, options);
        ASSERT_TRUE(compiled) << compiled.error().message;
        const Graph& unfused = compiled->main.unfused();
        expect_same_text(unfused);
        EXPECT_GE(compiled->main.fused_graphs.size(), 4u);
        for (const auto& [key, fused] : compiled->main.fused_graphs) {
          expect_same_text(fused.graph);
          EXPECT_LT(fused.graph.nodes.size(), unfused.nodes.size());
        }
        expect_sound(compiled->main.plan);
        std::vector<std::string> phases;
        for (const Phase& phase : compiled->main.plan.phases) phases.push_back(phase.name);
        std::vector<std::string> expected = {"decode", "sampled", "greedy"};
        if (chunk > 1) expected.insert(expected.begin(), {"prefill", "small_batch"});
        const bool is_gpu = device.backend == BackendKind::kWebGpu && !device.software;
        if (is_gpu && std::min(chunk, compiled->context) > 64) {
          expected.insert(expected.begin() + 1, "short_64");
        }
        const bool has_matrix = (device.features & kFeatureSubgroupMatrix) != 0;
        if (has_matrix && std::min(chunk, compiled->context) > 512) {
          expected.insert(expected.begin() + 1, "short");
        }
        EXPECT_EQ(phases, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelPlan, testing::ValuesIn(golden::model_names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace tokamak::invariants
