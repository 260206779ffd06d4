// How a model is opened.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

/// A step of open(): reading the files, loading the weights, compiling the kernels.
enum class LoadPhase : uint8_t { kFiles, kWeights, kKernels };

/// A low-rank adapter (LoRA) in a folder as PEFT saves it, loaded beside the model.
struct Adapter {
  std::string name = {};    // by which requests choose it; "": the folder's
  std::string folder = {};  // with adapter_config.json and adapter_model.safetensors
  double scale = 1;         // of what it adds to the model
};

struct ModelOptions {
  std::string model = {};  // a folder, a .gguf file, or org/name[@revision][:file] in the Hugging
                           // Face cache; "": the built-in model
  std::string backend = "auto";  // auto, cuda, webgpu, cpu or cpu-reference, which is slow
  /// The number of a device of the backend, as in `tokamak doctor`.
  std::optional<uint32_t> device = {};
  /// CUDA devices that run the model together, each with a part of its weights; of WebGPU where
  /// that is the backend. Empty: one device.
  std::vector<uint32_t> gpus = {};
  /// The parts that they have: ranks (of every layer, where the devices are alike), layers (some of
  /// them, as the memory of each has room); auto: ranks where they can be.
  std::string split = "auto";
  uint32_t threads = 0;       // of the cpu backend; 0: one for each core that it may use
  uint32_t context = 0;       // tokens of a request at most, its prompt included; 0: what the model
                              // allows, for embeddings at most 2048, for text 32768, or as much
                              // less, down to 4096, as half of the free memory has room for
  uint32_t sequences = 1;     // requests that run at the same time, at most 64; others wait
  uint32_t cache_tokens = 0;  // that the requests have together; 0: a context for each, or as many
                              // as `memory` has room for
  std::string memory = {};    // most that the model may take of the device's: "6GiB", or "70%" of
                              // what is free; "": 90 % of it where it is known, else no limit
  std::string kv = "auto";    // type of the cache: f16, f32 or q8; auto: f16
  /// auto, or exact: only kernels that round nothing they multiply, and a cache of f32 where `kv`
  /// is auto; slower.
  std::string precision = "auto";
  std::string quantize = {};  // q8 or q4: pack matrices of floats while loading
  uint64_t image_pixels = 0;  // most of an image, to which larger ones are made smaller, 1 << 20
                              // for example; 0: the model is opened for text only
  /// The file of a GGUF model's tower of images, mmproj-*.gguf; "": one that lies beside it.
  std::string projector = {};
  /// Every seed gives the same tokens whatever else the model does at the time, at half of the
  /// speed for many sequences and less for few.
  bool batch_invariant = false;
  /// Several tokens in a step, guessed and taken where they are those that come without: off; auto:
  /// where that is faster; lookup, lookup:N: always, at most N of them (15), from earlier places in
  /// the text; draft, draft:N: always (5), by the draft model, as auto does where there is one.
  /// "": auto with a draft model, else off. Models with recurrent layers do without.
  std::string speculate = {};
  /// A smaller model with the same tokenizer, named as `model` is, that guesses what follows; it is
  /// loaded on the same device. "": none.
  std::string draft = {};
  std::vector<Adapter> adapters = {};  // that requests may choose
  std::string pooling = {};  // mean, last or cls: embeddings of a model without modules.json
  /// Called by open(), now and then; bytes of the weights. False cancels: open() gives kCancelled.
  std::function<bool(LoadPhase phase, uint64_t done, uint64_t total)> progress = {};
  /// Receives what the user should know, a sentence at a time: a slow device, a device that was
  /// lost and opened again. Called by open() and by the model's thread, as long as the model lives.
  std::function<void(std::string_view)> notice = {};
  /// False: the model has no thread. Whatever it does it does in pump(), Stream::next(), result()
  /// and embed(), and one thread makes all calls; callbacks must call neither the model nor its
  /// streams then. next(0s) only looks, and a longer wait ends after the step in which its time is
  /// over.
  bool has_thread = true;
};

}  // namespace tokamak
