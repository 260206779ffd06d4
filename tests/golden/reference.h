// The part that tests against recorded answers share: where they run, how they read and compare.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/engine.h"
#include "golden/recorded_files.h"

namespace tokamak::golden {

/// One way to run a model, and how far its logits may be from the recorded ones, relative to the
/// largest magnitude among those.
struct DeviceSetup {
  std::string name;
  OpenOptions options;
  double tolerance = 0;
  Features needs = 0;  // of the device; without them it is another setup
};

/// The CPU reference, the processor, and WebGPU with and without what a device may lack.
const std::vector<DeviceSetup>& setups();
/// The one of them, or of rank_setups(), with that name.
const DeviceSetup& setup_named(std::string_view name);
/// Those with a KV cache in q8, for some models.
const std::vector<DeviceSetup>& q8_setups();
/// A processor's units for tiles, which round prompts to bf16, for some models.
const std::vector<DeviceSetup>& tile_setups();
/// A processor with `precision` exact, within the reference's tolerance, for some models.
const std::vector<DeviceSetup>& exact_setups();
/// Several ranks of the processor, and of CUDA devices where there are two, for all models in turn;
/// and stages of it, which have some layers each.
const std::vector<DeviceSetup>& rank_setups();
/// Those of families, whose kernels op_parity_test runs on devices without features.
const std::vector<DeviceSetup>& family_setups();

/// The passes that tests go without on the CPU to get the same bits there: the references of fused
/// ops round where the ops do that they stand for, except for parts of an attention and for
/// fixed-point sums, whose addends are rounded to their step.
inline const fuse::DisabledPasses kRoundingPasses = {"split_attention", "gated_ffn"};

using ModelSetups = std::vector<std::tuple<std::string, DeviceSetup>>;
/// Each model in the setups of one of `turns`, given by their names: of the first for the first
/// model, of the second for the next, and from the beginning again. For what every model has in
/// common; a software device would take several times as long for all models in all setups.
ModelSetups in_turn(std::span<const std::string> models,
                    std::initializer_list<std::initializer_list<std::string_view>> turns);

/// Skips the running test when `setup` needs a WebGPU device and there is none; fails it instead
/// when the environment sets TOKAMAK_REQUIRE_GPU. For SetUp().
void require_device(const DeviceSetup& setup);

/// Opens `model` (a folder or file) that way; fails the running test and gives null when that
/// fails.
std::unique_ptr<Engine> open(const std::string& model, const DeviceSetup& setup,
                             bool all_logits = false);

/// Folders and GGUF files of tests/data/formats, sorted: a small model in each packing.
std::vector<std::string> format_names();

/// Folders of tests/data/models, sorted.
std::vector<std::string> model_names();
/// The folder of a model of either kind.
std::string model_folder(const std::string& name);

/// Files of tests/data/gguf, sorted, without ".gguf".
std::vector<std::string> gguf_names();
/// A file of tests/data/formats or tests/data/gguf.
std::string gguf_file(const std::string& name);

std::vector<uint32_t> ids_of(const Json& json);
std::vector<float> floats_of(const Json& json);

/// Logits after the last of `ids`, or after all of them, in a new session; empty on failure.
std::vector<float> logits_of(Engine& engine, std::span<const uint32_t> ids);

/// The logits after a prompt as requests get them, which go on from what the engine has left of
/// those before; empty on failure.
std::vector<float> logits_of_request(Engine& engine, std::span<const uint32_t> prompt);

/// The largest difference as a part of the largest magnitude in `expected`; infinite when the sizes
/// differ or anything is no number.
double relative_error(std::span<const float> expected, std::span<const float> actual);

size_t argmax(std::span<const float> row);

}  // namespace tokamak::golden
