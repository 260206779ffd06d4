// The memory that a model takes of a device: how much it may be, how many positions of cache that
// leaves, and the sentence about it for a person.
#pragma once
#include "engine/engine.h"
#include "plan/layer_cut.h"

namespace tokamak {

/// Positions of text where nobody gives a number and little memory is free, or none is known of;
/// and where there is room. Prompts of programs that write code have 10,000 to 30,000 tokens.
constexpr uint32_t kDefaultContext = 4096;
constexpr uint32_t kLongestDefaultContext = 32768;

/// Pages of the layers that see everything, which all sequences share; none where there are no such
/// layers.
struct CachePool {
  uint64_t pages = 0;
  uint64_t page_bytes = 0;  // in all of those layers
};
CachePool cache_pool(const Plan& plan);

/// Bytes that a model may take, by `options.memory`: a size, or a share of `options.free_memory`,
/// 90 % where nothing is said. Nothing where nothing is said and nothing known, or on the CPU.
Result<std::optional<uint64_t>> memory_limit(const OpenOptions& options, const DeviceInfo& device);

/// How many positions the pool must have instead for the plan to stay within that limit; nothing
/// when it does already. An error that says what needs how much when not even one context fits, or
/// `options.cache_tokens` says how many there are.
Result<std::optional<uint32_t>> smaller_cache(const Engine::Compiled& compiled,
                                              const DeviceInfo& device, const OpenOptions& options);

/// Positions of one sequence, and of all together.
struct OpenCache {
  uint32_t context = 0, positions = 0;
};
/// The cache that a text model has instead where `options` leave it open: a context that it was
/// made for, up to kLongestDefaultContext, as far as half of the memory that is free beside it has
/// room for it; together as many positions as before, or that context, within all of that memory.
/// Nothing where its context is that already, or it is not known what is free.
Result<std::optional<OpenCache>> longer_context(const Engine::Compiled& compiled,
                                                const DeviceInfo& device,
                                                const OpenOptions& options);

/// Bytes that the tower of a model for images takes beside its plan, and its draft model; 0 where
/// there is none.
uint64_t tower_bytes(const Engine::Compiled& compiled);
uint64_t draft_bytes(const Engine::Compiled& compiled);

/// Bytes of the device's memory that it takes with those, and that it needs with a cache of one
/// context only.
uint64_t needed_bytes(const Engine::Compiled& compiled);
uint64_t least_bytes(const Engine::Compiled& compiled, const OpenOptions& options);

/// Whether kernels can read weights that stay in the host's memory.
bool reads_host_memory(const DeviceInfo& device);
/// Leaves weights in the host's memory until the rest of the plan is within the limit: tables that
/// are read row by row first, since a step reads but few of their rows, then the weights that a
/// step comes to last. False where even all of them are not enough; then the plan is as it was.
bool leave_on_host(Plan& plan, uint64_t limit);

/// "Memory: 2.35 GiB of weights, 1.12 GiB of cache for 36864 positions (f16), ..."
std::string memory_text(const Engine::Compiled& compiled, const OpenOptions& options);

/// The part of a model that one device of several has, where they have some layers each.
struct DevicePart {
  LayerShare layers;
  Plan plan;
};
/// Those of all devices of a backend with stages; none of another.
std::vector<DevicePart> device_parts(const Backend& backend, const Plan& plan);

/// "Each device has some layers: layers 1 to 16 on \"A\" (8.10 GiB of 21.50 GiB free), layer 17 on
/// ..." of a backend with stages.
std::string parts_text(const Backend& backend, const Plan& plan);

/// An error with the sizes where the codec with that plan does not fit into `limit` beside a model
/// that takes `taken` of it, 0 where there is none.
Result<void> check_codec_fits(const Plan& codec, uint64_t taken, std::optional<uint64_t> limit);
/// "Memory of the codec: 61.05 MiB of weights, 12.00 MiB of activations."
std::string codec_memory_text(const Plan& codec);

/// `why` with what the model needs, and what would need less.
Error does_not_fit(const Engine::Compiled& compiled, const DeviceInfo& device, const Error& why);

/// Bytes that are free: those of the device that its backend knows, or of the host where that is
/// its memory; 0: not known. Native programs only.
uint64_t free_memory(const Backend& backend);
uint64_t free_host_memory();

}  // namespace tokamak
