// The kernels for matrix units, which few devices have, pass WGSL's validation: on Dawn's null
// backend, which offers every feature and runs nothing.
#include <gtest/gtest.h>

#include "backend/webgpu/dawn/loader.h"
#include "backend/webgpu/device.h"
#include "kernels/select.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

void on_adapter(WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* out, void*) {
  *static_cast<AdapterHandle*>(out) = AdapterHandle(adapter);
}

/// Null when this Dawn has no null backend.
std::shared_ptr<WebGpuDevice> null_device() {
  if (!load_dawn()) return nullptr;
  WGPUDawnTogglesDescriptor toggles = dawn_toggles();
  const WGPUInstanceFeatureName feature = WGPUInstanceFeatureName_TimedWaitAny;
  const WGPUInstanceDescriptor descriptor = {
      .nextInChain = &toggles.chain, .requiredFeatureCount = 1, .requiredFeatures = &feature};
  InstanceHandle instance(wgpuCreateInstance(&descriptor));
  const WGPURequestAdapterOptions options = {.nextInChain = &toggles.chain,
                                             .featureLevel = WGPUFeatureLevel_Core,
                                             .backendType = WGPUBackendType_Null};
  AdapterHandle adapter;
  WGPUFutureWaitInfo wait = {
      .future = wgpuInstanceRequestAdapter(
          instance.get(), &options,
          {.mode = WGPUCallbackMode_WaitAnyOnly, .callback = on_adapter, .userdata1 = &adapter})};
  wgpuInstanceWaitAny(instance.get(), 1, &wait, UINT64_MAX);
  if (!adapter ||
      !wgpuAdapterHasFeature(adapter.get(), WGPUFeatureName_ChromiumExperimentalSubgroupMatrix)) {
    return nullptr;
  }
  DeviceInfo info;
  info.backend = BackendKind::kWebGpu;
  info.name = "null";
  info.features = kAllFeatures;
  auto device = WebGpuDevice::open(std::move(instance), adapter, info, {});
  EXPECT_TRUE(device) << device.error().message;
  return device ? *device : nullptr;
}

TensorDesc tensor(Shape shape, DType dtype = DType::kF32) {
  return {.name = {}, .shape = std::move(shape), .dtype = dtype};
}

/// One problem that the kernels of the op take.
Problem problem_of(const Op& op) {
  Problem p{.op = &op, .inputs = {}, .outputs = {}, .max_tokens = 64};
  const TensorDesc x = tensor({kTokens, 256}), w = tensor({256, 256}, DType::kBF16);
  if (std::holds_alternative<Attention>(op)) {
    p.inputs = {x, tensor({64, 2, 2, 64}, DType::kF16), tensor({4}, DType::kU32)};
    p.outputs = {x};
    return p;
  }
  p.inputs = {x, w};
  p.outputs = {x};
  if (std::holds_alternative<Qkv>(op)) p.outputs = {x, x, x};
  return p;
}

TEST(MatrixTexts, PassValidation) {
  const std::shared_ptr<WebGpuDevice> device = null_device();
  if (device == nullptr) GTEST_SKIP() << "this Dawn has no null backend with matrices";
  size_t checked = 0;
  for (const Op& op : {Op{Linear{}}, Op{Qkv{64, 64}}, Op{LinearGlu{}}, Op{Attention{}}}) {
    const Problem problem = problem_of(op);
    for (const KernelVariant& variant : all_variants()) {
      if ((variant.needs & kFeatureSubgroupMatrix) == 0 || variant.op != op.index()) continue;
      if ((variant.needs & kFeatureMatrixElements) != 0) continue;  // which no WGSL says
      const std::string text = shader_text(variant.needs, variant.launch(problem, device->info()),
                                           problem.inputs.size(), problem.outputs.size(), {});
      Checks checks(*device);
      checks.run(variant.name, [&] {
        WGPUShaderSourceWGSL source = {.chain = {.sType = WGPUSType_ShaderSourceWGSL},
                                       .code = wgpu_text(text)};
        const WGPUShaderModuleDescriptor module = {.nextInChain = &source.chain};
        const ShaderModuleHandle made(wgpuDeviceCreateShaderModule(device->handle(), &module));
      });
      const auto valid = checks.finish();
      EXPECT_TRUE(valid) << valid.error().message;
      ++checked;
    }
  }
  EXPECT_GT(checked, 0u);
}

}  // namespace
}  // namespace tokamak
