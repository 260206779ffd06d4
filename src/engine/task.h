// The task that a model is opened for, text or embeddings, and what follows from it for the graph.
#pragma once
#include <optional>
#include <span>

#include "engine/engine.h"
#include "fuse/target.h"

namespace tokamak {

/// The encoder by the folder's files, or by options.pooling where they have none.
Result<std::optional<Encoder>> find_encoder(const ModelDescription& description,
                                            const OpenOptions& options);

/// Why the model cannot be used for `task`, with what it can be used for.
Result<void> check_task(const Engine::Compiled& compiled, Task task);

/// Why the model gives no weights of tokens.
Result<void> check_sparse(const Engine::Compiled& compiled);

/// Engine::embedding_ids() of each text; an error names it.
Result<std::vector<std::vector<uint32_t>>> embedding_ids_of(const Engine& engine,
                                                            std::span<const std::string> texts,
                                                            const EmbedOptions& options);

/// Steps of up to this many tokens have kernels of their own where chunks are longer.
constexpr uint32_t kShortChunk = 512;

/// Steps of one token have other kernels from this position on, where a device and a model have
/// some that gain there; on an H200 they do from some 8,000 positions on
/// (docs/history/performance.md).
constexpr uint32_t kLongContext = 8192;

/// Most tokens of a prefill step, where nobody says: kShortChunk, and up to 4096 where matrix units
/// multiply, for which 512 rows are few. Not more than leaves the activations small beside the
/// `weights`, and a step short enough to be cancelled after it. `hidden` numbers for each token.
uint32_t default_chunk(std::span<const TensorInfo> weights, uint32_t hidden,
                       const DeviceInfo& device);

/// Rows of a step of several texts of up to `context` tokens, where nobody says: one such text, and
/// up to 8192 rows where matrix units multiply, as many as leave activations and steps short.
uint32_t text_rows(std::span<const TensorInfo> weights, uint32_t context, uint32_t hidden,
                   const DeviceInfo& device);

/// The device that passes may count on: no more than every WebGPU device grants, so that a model
/// has the same graph on each, and less where this one does.
fuse::Target fusion_target(const DeviceInfo& device);

/// Positions of a sequence, tokens of a step, the end of the graph; the KV type is left alone.
Result<BuildOptions> build_options(const Engine::Compiled& compiled, const TensorFile& weights,
                                   const DeviceInfo& device, const OpenOptions& options);

}  // namespace tokamak
