// Runs a text in WGSL as the backend runs a kernel: for tests of what translated texts compute.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/launches.h"
#include "kernels/cuda/translate.h"

namespace tokamak::cuda {

/// The unit that a lane reads or writes at once: a number of any type, by its bits.
struct Word {
  uint32_t bits = 0;

  Word() = default;
  Word(uint32_t value) : bits(value) {}
  Word(int value) : bits(uint32_t(value)) {}
  Word(float value) : bits(std::bit_cast<uint32_t>(value)) {}
  bool operator==(const Word&) const = default;
  friend void PrintTo(const Word& word, std::ostream* out) {
    *out << fmt::format("{:#x} ({}, {})", word.bits, int(word.bits),
                        std::bit_cast<float>(word.bits));
  }
};

/// Returns what `workgroups` workgroups write into the buffer at binding 1, of `count` words that
/// are all ones before, while `x` is at binding 0. Runs on the first CUDA device.
inline Result<std::vector<Word>> words_of(const std::string& text, std::vector<Word> x,
                                          size_t count, Grid workgroups = {}) {
  TOK_TRY(const std::shared_ptr<CudaDevice> device, CudaDevice::open({}));
  const ShaderPiece piece = {"a test's text", text};
  Compiled compiled = {.names = {"test"}, .are_cached = {0}};
  TOK_TRY(compiled.texts.emplace_back(), wgsl::translated({&piece, 1}));
  if (!compiler()) return Failure(compiler().error());
  TOK_TRY(compiled.target,
          code_target(*compiler(), device->driver_version(), device->architecture()));
  TOK_TRY(CompiledText made,
          compile_text(*compiler(), "test", compiled.texts.front(), compiled.target));
  compiled.codes.push_back(std::move(made.code));
  TOK_TRY(const Modules modules, Modules::load(device, compiled));
  std::vector<Word> y(count, Word(~0u));
  PreparedLaunch prepared = {.kernel = modules[0], .grid = workgroups};
  std::vector<DeviceMemory> memory;
  for (const std::vector<Word>* words : {&x, &y}) {
    const size_t bytes = words->size() * sizeof(Word), binding = memory.size();
    TOK_TRY(DeviceMemory own, DeviceMemory::make(device, bytes, "a buffer"));
    TOK_TRY(device->check(
        device->api().copy_to_device_async(own.address(), words->data(), bytes, device->stream()),
        "no copy"));
    prepared.bound.at[binding] = own.address();
    prepared.bound.bytes[binding] = uint32_t(bytes);
    memory.push_back(std::move(own));
  }
  TOK_TRY(launch(*device, {&prepared, 1}, {}));
  TOK_TRY(device->check(device->api().stream_synchronize(device->stream()), "it failed"));
  TOK_TRY(device->check(
      device->api().copy_to_host(y.data(), memory[1].address(), count * sizeof(Word)), "no copy"));
  return y;
}

}  // namespace tokamak::cuda
