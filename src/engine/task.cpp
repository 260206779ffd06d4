#include "engine/task.h"

#include <algorithm>

#include "engine/memory.h"

namespace tokamak {
namespace {

constexpr uint32_t kDefaultEncoderContext = 2048;
/// Logits of a whole chunk stay below this.
constexpr uint64_t kAllLogitsBytes = uint64_t{64} << 20;
constexpr uint32_t kLongChunk = 4096;
/// A token's activations that live at once, in floats for each of its hidden state; measured.
constexpr uint64_t kLiveFloats = 8;
/// Activations of a chunk take at most this part of what the weights take.
constexpr uint64_t kWeightsPerActivations = 8;
/// Operations of a step: a tenth of a second on a fast device, a second on a slow one.
constexpr uint64_t kStepFlops = 12'000'000'000'000;
/// A step of many texts at once: of no more rows, and with no more activations. The batch's table
/// of rows must fit in what every device binds as uniform.
constexpr uint32_t kMaxTextRows = 8192;
constexpr uint64_t kTextActivationBytes = uint64_t{256} << 20;

/// MLX and GPTQ keep eight weights of 4 bits in a word; of 8 bits there are fewer than is said.
uint64_t max_weights(const TensorInfo& tensor) {
  const bool words = tensor.dtype == DType::kU32 || tensor.dtype == DType::kI32;
  return tensor.elements() * (words ? 8 : 1);
}

}  // namespace

Result<std::optional<Encoder>> find_encoder(const ModelDescription& description,
                                            const OpenOptions& options) {
  std::optional<Encoder> encoder;
  if (description.encoder) {
    if (!options.pooling.empty()) {
      return fail(ErrorCode::kUsage,
                  "pooling is for models without modules.json; this one's says how to pool.");
    }
    TOK_TRY(encoder, read_encoder(*description.encoder));
    return encoder;
  }
  if (options.pooling.empty() && description.pooling == "rank") {
    if (options.task != Task::kEmbeddings) return encoder;
    return unsupported(
        "The file says that its model ranks texts (pooling_type 4), which this engine does not do; "
        "--pooling mean, last or cls makes embeddings all the same.");
  }
  const std::string& pooling = options.pooling.empty() ? description.pooling : options.pooling;
  if (!pooling.empty()) {
    encoder.emplace();
    TOK_TRY(encoder->head.pooling, parse_pooling(pooling));
  }
  return encoder;
}

Result<void> check_task(const Engine::Compiled& compiled, Task task) {
  if (compiled.facts.is_codec) {
    return unsupported(
        "This is a codec: it makes a sound from codes, which a model that speaks generates.");
  }
  if (compiled.facts.hears) {
    if (task == Task::kAny || task == Task::kSpeech) return {};
    return unsupported(
        "This model writes down what it hears: it takes recordings, no texts (tokamak "
        "transcribe).");
  }
  if (compiled.facts.speaks) {
    if (task == Task::kAny || task == Task::kVoice) return {};
    return unsupported("This model speaks: it says texts and writes none (tokamak speak).");
  }
  if (task == Task::kVoice) {
    return unsupported("This model does not speak; texts are said by Kani-TTS-2.");
  }
  if (task == Task::kSpeech) {
    return unsupported("This model does not hear; recordings are for Moonshine and Whisper.");
  }
  const std::optional<Encoder>& encoder = compiled.encoder;
  if (encoder && (task == Task::kText || task == Task::kRanking)) {
    return unsupported("This is an embedding model: it gives vectors, {} (tokamak embed).",
                       task == Task::kText ? "not text" : "no scores of pairs");
  }
  if (compiled.facts.score && encoder) {
    return unsupported("pooling is for models that embed texts; this one ranks them.");
  }
  if (compiled.facts.score) {
    if (task == Task::kAny || task == Task::kRanking) return {};
    return unsupported(
        "This model ranks texts for a query: it gives scores, no {} (tokamak rerank).",
        task == Task::kText ? "text" : "vectors");
  }
  if (!encoder && task == Task::kEmbeddings) {
    return unsupported(
        "This model generates text: it has no modules.json or pooling_type that says how to make "
        "embeddings. With pooling set to mean or last (--pooling), it makes some all the same.");
  }
  if (!encoder && !compiled.facts.causal) {
    return unsupported(
        "The model attends both ways and cannot generate text, and it has no modules.json that "
        "says how to make embeddings. With pooling set to mean (tokamak embed --pooling mean), it "
        "makes some.");
  }
  const uint32_t hidden = compiled.facts.hidden;
  if (encoder && encoder->width != 0 && encoder->width != hidden) {
    return invalid_input("The pooling is for {} numbers, but the model's hidden states have {}.",
                         encoder->width, hidden);
  }
  return {};
}

Result<void> check_sparse(const Engine::Compiled& compiled) {
  TOK_TRY(check_task(compiled, Task::kEmbeddings));
  if (!compiled.lexical) {
    return unsupported(
        "The model makes no sparse vectors: it has no tensor \"{}\", in its weights or in "
        "sparse_linear.safetensors or sparse_linear.pt beside them, as BGE-M3 does.",
        kLexicalWeight);
  }
  if (has_encoder_rows(compiled.main.plan)) return {};
  return unsupported(
      "The model makes no sparse vectors: they need a model that attends both ways, and the mean "
      "or "
      "first row as its embedding.");
}

uint32_t default_chunk(std::span<const TensorInfo> weights, uint32_t hidden,
                       const DeviceInfo& device) {
  if ((device.features & kFeatureSubgroupMatrix) == 0) return kShortChunk;
  uint64_t bytes = 0, elements = 0;
  for (const TensorInfo& tensor : weights) {
    bytes += tensor.bytes;
    elements += max_weights(tensor);
  }
  // Each rank has a part of the weights and does that part of the work.
  bytes /= device.ranks;
  elements /= device.ranks;
  const auto fits = [&](uint64_t tokens) {
    return tokens * hidden * kLiveFloats * sizeof(float) <= bytes / kWeightsPerActivations &&
           2 * elements * tokens <= kStepFlops;
  };
  uint32_t chunk = kShortChunk;
  while (chunk < kLongChunk && fits(2 * uint64_t{chunk})) chunk *= 2;
  return chunk;
}

uint32_t text_rows(std::span<const TensorInfo> weights, uint32_t context, uint32_t hidden,
                   const DeviceInfo& device) {
  if ((device.features & kFeatureSubgroupMatrix) == 0) return context;
  uint64_t elements = 0;
  for (const TensorInfo& tensor : weights) elements += max_weights(tensor);
  uint64_t rows = kMaxTextRows;
  const uint64_t bytes = std::min(kTextActivationBytes, device.limits.binding_bytes);
  rows = std::min(rows, bytes / (hidden * kLiveFloats * sizeof(float)));
  rows = std::min(rows, kStepFlops / (2 * std::max<uint64_t>(elements, 1)));
  return std::max(context, uint32_t(rows));
}

fuse::Target fusion_target(const DeviceInfo& device) {
  fuse::Target target;
  target.max_bindings = std::min(target.max_bindings, device.limits.storage_buffers);
  target.max_binding_bytes = std::min(target.max_binding_bytes, device.limits.binding_bytes);
  target.multiprocessors = device.size.multiprocessors;
  target.is_parallel = device.backend != BackendKind::kCpu && !device.software;
  target.joins_products = (device.features & kFeatureVectors) == 0;
  target.has_library = (device.features & kFeatureLibrary) != 0;
  return target;
}

Result<BuildOptions> build_options(const Engine::Compiled& compiled, const TensorFile& weights,
                                   const DeviceInfo& device, const OpenOptions& options) {
  const uint32_t made_for = compiled.facts.max_context;
  const std::optional<Encoder>& encoder = compiled.encoder;
  const uint32_t most =
      encoder && encoder->max_tokens != 0 ? std::min(made_for, encoder->max_tokens) : made_for;
  const uint32_t context =
      options.context_is_limit ? std::min(options.context, most) : options.context;
  if (context > made_for) {
    return fail(ErrorCode::kUsage, "context is {}, but the model was made for {} positions.",
                options.context, made_for);
  }
  const bool gives_text = compiled.gives_text();
  if (options.context == 1 && gives_text && !options.all_logits) {
    return fail(ErrorCode::kUsage, "context is 1, but a prompt and a token need 2 positions.");
  }
  BuildOptions build;
  const bool continues = gives_text || compiled.facts.speaks;
  build.context = std::min(most, continues ? kDefaultContext : kDefaultEncoderContext);
  if (context != 0) build.context = context;
  if (build.context == 1 && gives_text && !options.all_logits) {
    return fail(ErrorCode::kUsage,
                "context is 1, expected at least 2: one position for a prompt, one for a token.");
  }
  const uint32_t chunk = options.chunk != 0
                             ? options.chunk
                             : default_chunk(weights.tensors(), compiled.facts.hidden, device);
  build.chunk = std::min(chunk, build.context);
  if (options.sequences == 0 || options.sequences > kMaxSequences) {
    return fail(ErrorCode::kUsage, "sequences is {}, expected 1 to {}.", options.sequences,
                kMaxSequences);
  }
  if (gives_text && !options.all_logits) build.sequences = options.sequences;
  if (options.batch_invariant) {
    if (!gives_text || options.all_logits) {
      return fail(ErrorCode::kUsage, "batch_invariant is for generating text, of which {} does {}.",
                  compiled.facts.architecture, gives_text ? "something else here" : "none");
    }
    build.sequences = std::max(build.sequences, 2u);  // one alone has a head of its own
  }
  const uint32_t pages = ceil_div(build.context, kPageTokens);
  if (options.cache_tokens != 0) {
    build.cache_pages = ceil_div(options.cache_tokens, kPageTokens);
    if (build.cache_pages < pages) {
      return fail(ErrorCode::kUsage,
                  "cache_tokens is {}, expected at least the context's {} positions.",
                  options.cache_tokens, build.context);
    }
  }
  if (compiled.is_for_sound()) {
    build.sequences = 1;
  } else if (!gives_text) {
    if (encoder) build.embedding = encoder->head;
    // A model that attends to all tokens must have them in one step.
    const bool in_chunks =
        compiled.facts.causal && encoder && encoder->head.pooling == Pooling::kLast;
    if (!in_chunks && options.chunk != 0) build.chunk = std::max(options.chunk, build.context);
    if (!in_chunks && options.chunk == 0) {
      build.chunk = text_rows(weights.tensors(), build.context, compiled.facts.hidden, device);
    }
    // Several texts are in a step, which they fill but for parts of pages, or one is in several.
    build.sequences = std::min(kMaxSequences, build.chunk);
    build.cache_pages = std::max(pages, ceil_div(build.chunk, kPageTokens) + build.sequences);
  } else if (options.all_logits) {
    const uint64_t vocab = compiled.facts.vocab;
    const uint64_t rows = std::max<uint64_t>(1, kAllLogitsBytes / (4 * vocab));
    build.chunk = uint32_t(std::min<uint64_t>(build.chunk, rows));
    build.all_logits = true;
  }
  return build;
}

}  // namespace tokamak
