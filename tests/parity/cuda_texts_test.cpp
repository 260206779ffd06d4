// Every kernel for CUDA at its parity problems: all its texts have a translation, and NVRTC, where
// it is, takes one of them for every generation of devices, without registers in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "backend/cuda/compile.h"
#include "base/environment.h"
#include "cases.h"
#include "kernel_check.h"
#include "kernels/cuda/translate.h"
#include "kernels/sources.h"

namespace tokamak::parity {
namespace {

/// A device to make plans for, which runs nothing.
class Described : public Backend {
 public:
  explicit Described(Features features) {
    device_.backend = BackendKind::kCuda;
    device_.name = "described";
    device_.features = features;
    device_.subgroup_min = device_.subgroup_max = 32;
    device_.size.multiprocessors = 132;
    device_.limits = {.workgroup_threads = 1024,
                      .workgroup_bytes = 65536,
                      .storage_buffers = 31,
                      .grid_dimension = 65535,
                      .binding_bytes = uint64_t{1} << 40,
                      .buffer_bytes = uint64_t{1} << 40};
  }
  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return 0; }
  Result<std::unique_ptr<Program>> compile(Plan, const ConstantReader&,
                                           const LoadProgress&) override {
    return unsupported("It runs nothing.");
  }

 private:
  DeviceInfo device_;
};

void add_texts(const KernelVariant& variant, const Plan& plan, std::vector<std::string>& texts) {
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      if (step.kernel != &variant) continue;
      const auto pieces = shader_pieces(step.launch, step.inputs.size(), step.outputs.size(),
                                        batch_access(plan, phase, step));
      Result<std::string> text = wgsl::translated(pieces);
      EXPECT_TRUE(text) << variant.name << ": " << text.error().message;
      if (text) texts.push_back(*std::move(text));
    }
  }
}

/// Those of the variant in all its cases, for one sequence and for several.
std::vector<std::string> texts_of(const KernelVariant& variant) {
  // Some kernels are for devices that multiply no bytes.
  static const Described all(kAllFeatures), without_bytes(kAllFeatures & ~kFeatureDot4);
  std::vector<std::string> texts;
  const ForcedVariants forced = {{std::string(op_name_at(variant.op)), std::string(variant.name)}};
  for (const Case& c : cases_of(op_name_at(variant.op))) {
    for (const Described* device : {&all, &without_bytes}) {
      for (const auto& plan : {plan_of(c, *device, forced), batch_plan_of(c, *device, forced)}) {
        if (plan) add_texts(variant, *plan, texts);  // else another variant's shape
      }
    }
  }
  return texts;
}

/// Generations of devices, by what their multiprocessors are: Turing, Ampere's two, Ada, Hopper,
/// Blackwell's two.
constexpr int kArchitectures[] = {75, 80, 86, 89, 90, 100, 120};

/// The spilled bytes that ptxas reports with "-v": those that a lane stores in memory and loads
/// again for want of registers.
int spilled_bytes(const std::string& log) {
  static const std::regex spilled("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  std::smatch found;
  EXPECT_TRUE(std::regex_search(log, found, spilled)) << log;
  return found.empty() ? 0 : std::stoi(found[1]) + std::stoi(found[2]);
}

/// Kernels that spill on some generation, with the bytes that they are known to: those of large
/// tiles take all registers that a lane can have (255, or 64 in a workgroup of 1,024 lanes), and
/// some compilers a few more.
int most_spilled(std::string_view kernel) {
  static constexpr std::pair<std::string_view, int> kKnown[] = {
      {"linear.cuda.matrix_large", 200},     // sm_90
      {"linear_glu.cuda.matrix_large", 72},  // sm_90
      {"linear_glu.cuda.matrix", 16},        // sm_90, with 8 columns and no loop, once a launch
      {"expert_linear.cuda.matmul", 24},     // sm_100 and sm_120
      {"attention.cuda.tile", 8},            // sm_120
      {"all_reduce_norm.cuda.put", 16},      // sm_80
  };
  for (const auto& [name, bytes] : kKnown) {
    if (name == kernel) return bytes;
  }
  return 0;
}

class CudaTexts : public testing::TestWithParam<const KernelVariant*> {};

TEST_P(CudaTexts, Compile) {
  const KernelVariant& variant = *GetParam();
  if (variant.needs & kFeatureLibrary) GTEST_SKIP() << "The library computes it: there is no text.";
  const std::vector<std::string> texts = texts_of(variant);
  ASSERT_FALSE(texts.empty()) << variant.name << " takes none of the cases";
  if (environment_variable("TOKAMAK_PARITY") == "smallest") return;  // compiling takes longer
  const Result<cuda::Compiler>& compiler = cuda::compiler();
  if (!compiler) GTEST_SKIP() << "translated, not compiled: " << compiler.error().message;
  const bool is_matrix = (variant.needs & kFeatureSubgroupMatrix) != 0;
  for (const int architecture : kArchitectures) {
    if (is_matrix && architecture < 80) continue;
    if (std::ranges::count(compiler->architectures, architecture) == 0) continue;
    const auto code = cuda::compile_text(*compiler, variant.name, texts.front(), {architecture},
                                         {"--ptxas-options=-v"});
    ASSERT_TRUE(code) << code.error().message << "\n" << texts.front();
    EXPECT_LE(spilled_bytes(code->log), most_spilled(variant.name))
        << "for " << architecture << ": " << code->log;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaTexts, testing::ValuesIn(variants_for(BackendKind::kCuda)),
                         test_name);

}  // namespace
}  // namespace tokamak::parity
