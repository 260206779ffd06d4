#include "backend/cuda/modules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "backend/cuda/compile.h"
#include "base/guarded.h"
#include "base/hash.h"
#include "base/seconds.h"
#include "kernels/cuda/translate.h"
#include "kernels/sources.h"

namespace tokamak::cuda {
namespace {

/// Changes with what a cached entry is.
constexpr int kCacheFormat = 2;

/// The hash of all that machine code depends on but NVRTC's version, which the entry has, and the
/// text: includes, how it is compiled, the device. A text after it makes a key of the cache.
std::string key_start(int architecture) {
  uint64_t headers = kHashStart;
  for (const EmbeddedFile& header : wgsl::headers()) {
    headers = hash_bytes<char>(header.text, headers);
  }
  return fmt::format("cuda {} {} {:016x}\n", kCacheFormat,
                     fmt::join(compile_options({architecture}), " "), headers);
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// An entry of the cache begins with the version of the NVRTC that made it.
std::vector<uint8_t> version_bytes(const Compiler& compiler) {
  return {uint8_t(compiler.major), uint8_t(compiler.minor)};
}
constexpr std::ptrdiff_t kVersionBytes = 2;

/// Empty when the cache does not have it, or has it of another version than that of `compiler`.
/// Without a compiler any version is taken.
std::vector<uint8_t> cached_code(PipelineCache* cache, std::span<const uint8_t> key,
                                 const Result<Compiler>& compiler) {
  if (cache == nullptr) return {};
  std::vector<uint8_t> entry(cache->load(key, {}));
  const bool is_there =
      entry.size() > size_t(kVersionBytes) && cache->load(key, entry) == entry.size() &&
      (!compiler ||
       std::ranges::equal(version_bytes(*compiler), std::span(entry).first(kVersionBytes)));
  cache->count(is_there);
  if (!is_there) return {};
  return {entry.begin() + kVersionBytes, entry.end()};
}

/// A compilation, which several devices may ask for at the same time.
struct SharedCompilation {
  std::once_flag once;
  Result<CompiledText> made;
};

/// compile_text() of text `i`, once for all threads that want it meanwhile.
Result<CompiledText> compile_once(const Compiler& compiler, const Compiled& compiled, size_t i) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<SharedCompilation>> all;
  std::shared_ptr<SharedCompilation> own;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(all, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<SharedCompilation>& known = all[compiled.keys[i]];
    own = known.lock();
    if (own == nullptr) known = own = std::make_shared<SharedCompilation>();
  }
  std::call_once(own->once, [&] {
    own->made = compile_text(compiler, compiled.names[i], compiled.texts[i], compiled.target);
  });
  return own->made;
}

/// Compiles text `i` and keeps its code for later runs.
Result<void> compile_one(CudaDevice& device, const Compiler& compiler, Compiled& compiled,
                         size_t i) {
  TOK_TRY(CompiledText made, compile_once(compiler, compiled, i));
  compiled.codes[i] = std::move(made.code);
  compiled.are_cached[i] = 0;
  if (device.cache() != nullptr) {
    std::vector<uint8_t> entry = version_bytes(compiler);
    entry.insert(entry.end(), compiled.codes[i].begin(), compiled.codes[i].end());
    device.cache()->store(bytes_of(compiled.keys[i]), entry);
  }
  return {};
}

/// The distinct texts of a plan, in the order of their first steps. Most steps share one of some 25
/// kernels, so that a text is translated once.
Result<void> collect(const Plan& plan, Compiled& compiled) {
  std::map<std::string, size_t> known;  // by the WGSL
  for (const Phase& phase : plan.phases) {
    std::vector<size_t>& indices = compiled.of_step.emplace_back();
    for (const Step& step : phase.steps) {
      if (step.launch.calls_library) {
        indices.push_back(kNoText);
        continue;
      }
      const std::vector<ShaderPiece> pieces = shader_pieces(
          step.launch, step.inputs.size(), step.outputs.size(), batch_access(plan, phase, step));
      std::string source;
      for (const ShaderPiece& piece : pieces) source += piece.text;
      const auto [entry, is_new] = known.try_emplace(std::move(source), compiled.texts.size());
      indices.push_back(entry->second);
      if (!is_new) continue;
      TOK_TRY(std::string text, wgsl::translated(pieces));
      compiled.texts.push_back(std::move(text));
      compiled.names.push_back(step.kernel->name);
    }
  }
  return {};
}

}  // namespace

Result<Compiled> compile_plan(CudaDevice& device, const Plan& plan, const Result<Compiler>& by) {
  const auto begun = std::chrono::steady_clock::now();
  Compiled compiled;
  if (by) {
    TOK_TRY(compiled.target, code_target(*by, device.driver_version(), device.architecture()));
  }
  TOK_TRY(collect(plan, compiled));
  const size_t count = compiled.texts.size();
  const std::string start = key_start(device.architecture());
  for (const std::string& text : compiled.texts) compiled.keys.push_back(start + text);
  compiled.codes.resize(count);
  compiled.are_cached.resize(count);
  std::vector<Result<void>> results(count);
  std::atomic<size_t> next = 0;
  const auto compile_some = [&] {
    for (size_t i = next++; i < count; i = next++) {
      results[i] = guarded([&]() -> Result<void> {
        compiled.codes[i] = cached_code(device.cache(), bytes_of(compiled.keys[i]), by);
        compiled.are_cached[i] = compiled.codes[i].empty() ? 0 : 1;
        if (!compiled.codes[i].empty()) return {};
        if (by) return compile_one(device, *by, compiled, i);
        return unsupported("Kernel {} is not kept of an earlier run. {}", compiled.names[i],
                           by.error().message);
      });
    }
  };
  {
    const size_t workers = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, count + 1);
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < workers; ++i) threads.emplace_back(compile_some);
  }
  for (const Result<void>& result : results) TOK_TRY(result);
  compiled.seconds = seconds_since(begun);
  return compiled;
}

Result<Modules> Modules::load(std::shared_ptr<CudaDevice> device, Compiled& compiled) {
  Modules own;
  own.device_ = std::move(device);
  CudaDevice& on = *own.device_;
  for (size_t i = 0; i < compiled.codes.size(); ++i) {
    Kernel& kernel = own.all_.emplace_back();
    const std::string what = fmt::format("kernel {} cannot be loaded", compiled.names[i]);
    Status status = on.api().module_load(&kernel.module, compiled.codes[i].data());
    if (status != Status::kSuccess && compiled.are_cached[i] != 0) {
      if (!compiler()) return Failure(compiler().error());
      TOK_TRY(compile_one(on, *compiler(), compiled, i));
      status = on.api().module_load(&kernel.module, compiled.codes[i].data());
    }
    TOK_TRY(on.check(status, what));
    TOK_TRY(on.check(on.api().module_function(&kernel.function, kernel.module, "entry"), what));
    DevicePointer shape = 0;
    size_t bytes = 0;
    TOK_TRY(on.check(on.api().module_global(&shape, &bytes, kernel.module, "launch_shape"), what));
    uint32_t numbers[2] = {};  // see kernels/cuda/device.cuh
    TOK_TRY(on.check(on.api().copy_to_host(numbers, shape, sizeof numbers), what));
    kernel.lanes = numbers[0];
    kernel.shared_bytes = numbers[1];
  }
  return own;
}

Modules& Modules::operator=(Modules&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(all_, other.all_);
  return *this;
}

Modules::~Modules() {
  if (device_ == nullptr || !device_->enter()) return;
  for (const Kernel& kernel : all_) {
    if (kernel.module != nullptr) device_->api().module_unload(kernel.module);
  }
}

}  // namespace tokamak::cuda
