// How a model is opened.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "formats/tensor_file.h"
#include "fuse/pipeline.h"

namespace tokamak {

struct GenerationParams;
class Tokenizer;

/// The task that a model is opened for; opening fails at once when it cannot do it.
enum class Task : uint8_t { kAny, kText, kEmbeddings, kRanking, kSpeech, kVoice };

/// Sequences that a scheduler runs at once.
inline constexpr uint32_t kMaxSequences = 64;

/// A low-rank adapter (LoRA) beside the model, which requests choose by its name.
struct AdapterOption {
  std::string name, folder;  // "": the name is the folder's
  double scale = 1;          // of what it adds to the model
};

using FindWrong = std::function<Result<WrongVariants>(Backend&, const Plan&)>;

struct OpenOptions {
  std::string model;             // as find_model takes it; "": the built-in model
  std::string projector;         // the tower of images of a GGUF model (mmproj); "": one beside it
  std::string called;            // its name in notices where there are several
  std::string backend = "auto";  // auto, cuda, webgpu, cpu or cpu-reference
  std::optional<uint32_t> device;  // which one of the backend, as `tokamak doctor` numbers them
  /// Several that run the model together, each with a part of its weights: numbers of devices of
  /// CUDA, or of WebGPU where that is the backend. The cpu backends take as many parts of the
  /// processor, to test with. Empty: one device.
  std::vector<uint32_t> gpus;
  /// The part that each of `gpus` has: ranks (of every layer, where they are alike), layers (some
  /// layers, as its memory has room) or auto: ranks where they can be.
  std::string split = "auto";
  uint32_t threads = 0;  // of the cpu backend; 0: one for each core it may use
  Task task = Task::kAny;
  uint32_t context = 0;           // positions; 0: what the model allows, for embeddings at most
                                  // 2048, for text 32768 where half of the free memory has room
                                  // for them, else half of it and less, down to 4096
  bool context_is_limit = false;  // a model made for fewer positions has those
  uint32_t sequences = 1;         // that Engine::scheduler() runs at once, at most 64
  uint32_t cache_tokens = 0;      // positions that they have together; 0: a context for each, or
                                  // as many as `memory` has room for
  std::string memory;             // most that the model may take of the device's: a size as "6GiB",
                       // or a share of what is free as "70%"; "": 90% where that is known
  uint64_t free_memory = 0;  // bytes; 0: not known; open() finds it where it is the host's memory
  uint32_t chunk = 0;        // most tokens of a prefill step; 0: 512, and up to 4096
                             // where matrix units multiply
  std::string kv = "auto";   // f32, f16 or q8; auto: f16 on WebGPU, f32 on the CPU
  /// auto, or exact: only kernels that round nothing they multiply, and a cache of f32 where `kv`
  /// is auto; slower.
  std::string precision = "auto";
  /// Most pixels of an image, to which larger ones are made smaller; 0: the model reads text only.
  uint64_t image_pixels = 0;
  /// False: a model that reads no images is opened for text all the same.
  bool needs_images = true;
  bool all_logits = false;  // logits of every token, not only of the last
  /// The same tokens of a seed whatever runs beside: every row of every step is computed by the
  /// kernels of 64 rows, which is slower.
  bool batch_invariant = false;
  /// Tokens that may follow are guessed and verified several in a step: off, auto (while that is
  /// faster), lookup[:N] or draft[:N] (whenever there is a guess, of at most N tokens). They are
  /// guessed from what the sequence has said before, or where there is a draft model by that. ""
  /// is auto with a draft model, else off. The tokens are those without.
  std::string speculate;
  /// A smaller model with the same tokenizer, on the same device, as find_model takes it; "": none.
  /// Of open(); load() has its files.
  std::string draft;
  std::string quantize;            // q8 or q4: pack the matrices of floats at load
  std::string pooling;             // mean, last or cls: embeddings of a model without modules.json
  bool use_f16 = true;             // false: only kernels that need no f16
  bool use_subgroups = true;       // false: only kernels that need no subgroups
  bool use_matrix = true;          // false: products of several tokens in f32, not of f16 factors
  bool default_limits = false;     // ask the device only for WebGPU's default limits
  uint32_t submit_dispatches = 0;  // most of a submission to the device; 0: a step's
  std::vector<AdapterOption> adapters;
  fuse::DisabledPasses disabled_passes;
  ForcedVariants forced;
  bool self_test = true;  // open() tests kernels that it has not seen compute rightly on the device
  bool self_test_first = false;  // on a software driver, too, where it runs beside the model else
  bool use_tuned = true;         // open() heeds what `tokamak tune` has found
  VariantAdvice advice;          // open() adds to it what is known of the device
  LoadProgress progress;
  std::string chat_template;  // in Jinja, in place of the model's own; "": that
  /// Changes the defaults of requests, which are those that the model's files recommend.
  std::function<Result<void>(GenerationParams&, const Tokenizer&)> change_defaults;
  std::function<void(std::string_view)> notice;  // what the user should know: a slow device
  /// Gives what the constants of the graph are read from instead of the checkpoint; open() looks
  /// into the cache of quantised matrices.
  std::function<Result<TensorFile>(const TensorFile&, const Graph&)> prepared;
  /// Looks at a plan before it runs and gives the variants of it that compute wrongly, with what
  /// shows it; open() asks the self-test. Asked again for what is chosen in their place. It lives
  /// as long as the engine.
  FindWrong find_wrong;
  std::function<void(const Plan&)> planned;  // sees the plan before it runs
  /// Opens the device again after it was lost; open() sets it. Without it a loss is an error. Like
  /// `notice`, which reports it, it is called as long as the engine lives.
  std::function<Result<std::unique_ptr<Backend>>()> reopen;

  bool is_exact() const { return precision == "exact"; }

  /// Features of the device that kernels do without.
  Features disabled_features() const {
    Features disabled = 0;
    if (!use_f16) disabled |= kFeatureF16;
    if (!use_subgroups) disabled |= kFeatureSubgroups;
    if (!use_matrix || is_exact())
      disabled |= kFeatureSubgroupMatrix | kFeatureLibrary | kFeatureBf16Tiles;
    // Few rows do without tiles, which round more than words do.
    if (batch_invariant) disabled |= kFeatureBf16Tiles;
    return disabled;
  }
};

/// Finds the files for a MODEL that a person named: `model` itself when it exists, else the model
/// org/name[@revision][:file] in the cache of Hugging Face; "" is the built-in model. Errors name
/// the way to get a missing one. Native programs only.
Result<std::string> find_model(const std::string& model);

/// A model as a person calls it, not where it lies: org/name, or the name of its folder or file.
/// `typed`: what MODEL was, "" for the built-in one; `path`: where that is.
std::string model_id(const std::string& typed, const std::string& path);

/// The folder of the model that comes with the program.
Result<std::string> builtin_model_folder();

}  // namespace tokamak
