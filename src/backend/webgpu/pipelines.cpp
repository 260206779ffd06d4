#include "backend/webgpu/pipelines.h"

#include <chrono>
#include <map>

#include "base/seconds.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

WGPUBindGroupLayoutEntry buffer_entry(size_t binding, WGPUBufferBindingType type,
                                      uint64_t smallest) {
  return {.binding = uint32_t(binding),
          .visibility = WGPUShaderStage_Compute,
          .buffer = {.type = type, .minBindingSize = smallest}};
}

/// The bindings in order: the batch, inputs, outputs, inputs once more.
struct Bound {
  bool writes_batch = false;
  size_t inputs = 0, outputs = 0, rebound_inputs = 0;
  auto operator<=>(const Bound&) const = default;
};

BindGroupLayoutHandle make_layout(const WebGpuDevice& device, const Bound& bound) {
  std::vector<WGPUBindGroupLayoutEntry> entries = {buffer_entry(
      0, bound.writes_batch ? WGPUBufferBindingType_Storage : WGPUBufferBindingType_Uniform, 0)};
  const auto add = [&](size_t count, WGPUBufferBindingType type) {
    for (size_t i = 0; i < count; ++i) entries.push_back(buffer_entry(entries.size(), type, 0));
  };
  add(bound.inputs, WGPUBufferBindingType_ReadOnlyStorage);
  add(bound.outputs, WGPUBufferBindingType_Storage);
  add(bound.rebound_inputs, WGPUBufferBindingType_ReadOnlyStorage);
  const WGPUBindGroupLayoutDescriptor descriptor = {.entryCount = entries.size(),
                                                    .entries = entries.data()};
  return BindGroupLayoutHandle(wgpuDeviceCreateBindGroupLayout(device.handle(), &descriptor));
}

/// One text on its way to a pipeline.
struct Compilation {
  std::string_view kernel;
  ShaderModuleHandle module;
  PipelineLayoutHandle layout;
  WGPUFuture future = {};
  PipelineHandle pipeline;
  std::string message;
};

void on_pipeline(WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline pipeline,
                 WGPUStringView message, void* compilation, void*) {
  const std::shared_ptr<Compilation> out = of_callback<Compilation>(compilation);
  out->pipeline = PipelineHandle(pipeline);
  if (status != WGPUCreatePipelineAsyncStatus_Success) {
    out->pipeline = {};
    out->message = text_of(message);
  }
}

void parse(const WebGpuDevice& device, Compilation& compilation, const std::string& text,
           WGPUBindGroupLayout bindings) {
  WGPUShaderSourceWGSL source = {.chain = {.sType = WGPUSType_ShaderSourceWGSL},
                                 .code = wgpu_text(text)};
  const WGPUShaderModuleDescriptor module = {.nextInChain = &source.chain,
                                             .label = wgpu_text(compilation.kernel)};
  compilation.module = ShaderModuleHandle(wgpuDeviceCreateShaderModule(device.handle(), &module));
  const WGPUPipelineLayoutDescriptor layout = {.bindGroupLayoutCount = 1,
                                               .bindGroupLayouts = &bindings};
  compilation.layout =
      PipelineLayoutHandle(wgpuDeviceCreatePipelineLayout(device.handle(), &layout));
}

void start(const WebGpuDevice& device, const std::shared_ptr<Compilation>& compilation) {
  const WGPUComputePipelineDescriptor descriptor = {
      .label = wgpu_text(compilation->kernel),
      .layout = compilation->layout.get(),
      .compute = {.module = compilation->module.get(), .entryPoint = wgpu_text("main")}};
  compilation->future =
      wgpuDeviceCreateComputePipelineAsync(device.handle(), &descriptor,
                                           {.mode = WGPUCallbackMode_WaitAnyOnly,
                                            .callback = on_pipeline,
                                            .userdata1 = for_callback(compilation)});
}

/// A pipeline has several entries in the cache, each the same number of them.
uint32_t cached_pipelines(const PipelineCache::Lookups& before, const PipelineCache::Lookups& after,
                          size_t pipelines) {
  const uint64_t found = after.found - before.found, missed = after.missed - before.missed;
  return found == 0 ? 0 : uint32_t(pipelines * found / (found + missed));
}

}  // namespace

struct PendingPipelines::State {
  std::shared_ptr<WebGpuDevice> device;
  PipelineCache::Lookups before;
  Pipelines pipelines;
  std::vector<std::shared_ptr<Compilation>> compilations;
  size_t waited = 0;   // for that many of them
  double seconds = 0;  // that it took to begin them

  /// All are waited for, also after a failure: the device is not to compile for nobody.
  Result<void> wait() {
    Result<void> all;
    for (; waited < compilations.size(); ++waited) {
      const Result<void> one = device->wait(compilations[waited]->future);
      if (all) all = one;
    }
    return all;
  }
  ~State() { static_cast<void>(wait()); }
};

PendingPipelines::PendingPipelines(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingPipelines::PendingPipelines(PendingPipelines&&) noexcept = default;
PendingPipelines::~PendingPipelines() = default;

PendingPipelines PendingPipelines::begin(std::shared_ptr<WebGpuDevice> owner, const Plan& plan,
                                         Checks& checks) {
  WebGpuDevice& device = *owner;
  const auto begun = std::chrono::steady_clock::now();
  auto state = std::make_unique<State>();
  state->before = device.cache_lookups();
  state->device = std::move(owner);
  Pipelines& pipelines = state->pipelines;
  std::map<Bound, WGPUBindGroupLayout> layouts;
  std::map<std::string, size_t> known;
  for (const Phase& phase : plan.phases) {
    std::vector<size_t>& indices = pipelines.of_step.emplace_back();
    for (const Step& step : phase.steps) {
      std::string text = shader_text(step.kernel->needs, step.launch, step.inputs.size(),
                                     step.outputs.size(), batch_access(plan, phase, step));
      const auto [entry, is_new] = known.try_emplace(std::move(text), pipelines.all.size());
      indices.push_back(entry->second);
      if (!is_new) continue;
      const auto compilation = std::make_shared<Compilation>();
      compilation->kernel = step.kernel->name;
      checks.run(fmt::format("kernel {}", step.kernel->name), [&] {
        const Bound bound = {step.launch.writes_batch, step.inputs.size(), step.outputs.size(),
                             step.launch.rebound_inputs.size()};
        WGPUBindGroupLayout& layout = layouts[bound];
        if (layout == nullptr) {
          pipelines.layouts.push_back(make_layout(device, bound));
          layout = pipelines.layouts.back().get();
        }
        parse(device, *compilation, entry->first, layout);
        pipelines.all.push_back({.handle = {}, .layout = layout});
      });
      start(device, state->compilations.emplace_back(compilation));
    }
  }
  state->seconds = seconds_since(begun);
  return PendingPipelines(std::move(state));
}

Result<Pipelines> PendingPipelines::finish() {
  WebGpuDevice& device = *state_->device;
  Pipelines& pipelines = state_->pipelines;
  const auto begun = std::chrono::steady_clock::now();
  TOK_TRY(state_->wait());
  pipelines.seconds = state_->seconds + seconds_since(begun);
  TOK_TRY(device.status());
  for (size_t i = 0; i < pipelines.all.size(); ++i) {
    Compilation& compilation = *state_->compilations[i];
    if (!compilation.pipeline) {
      return fail(ErrorCode::kDevice, "kernel {} does not compile on \"{}\": {}",
                  compilation.kernel, device.info().name, compilation.message);
    }
    pipelines.all[i].handle = std::move(compilation.pipeline);
  }
  pipelines.cached = cached_pipelines(state_->before, device.cache_lookups(), pipelines.all.size());
  return std::move(pipelines);
}

}  // namespace tokamak
