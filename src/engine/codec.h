// Codec: codes to sound, for models that speak: a checkpoint of its own on a device, which may be
// that of an engine.
//
//   auto codec = tokamak::Codec::open({.model = "path/to/codec"});
//   auto samples = (*codec)->decode(codes);
//
// A sound that comes piece by piece, each with the frames before it, is bit by bit that of all its
// codes at once:
//   const uint32_t context = std::min(done, (*codec)->context_frames());
//   (*codec)->decode(all.subspan((done - context) * groups), context);
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/files/model_files.h"
#include "engine/open_options.h"
#include "speech/codec_runner.h"

namespace tokamak {

class Codec {
 public:
  /// Opens `options.model`, a folder or a .nemo file, on a device of its own. Native programs only.
  /// Errors: a model that is no codec, and those of files and devices.
  static Result<std::unique_ptr<Codec>> open(const OpenOptions& options);

  /// The device of a codec. Both are called when it has to be loaded, again after a loss.
  struct Device {
    std::function<Backend&()> backend;
    /// Opens the device again after that error; the error itself where it cannot be.
    std::function<Result<void>(const Error& loss)> restore;
  };
  static Result<std::unique_ptr<Codec>> make(const ModelFiles& files, Device device,
                                             const PartOptions& options);

  /// Plans for a device, without one. Errors: a model that is no codec.
  static Result<Plan> plan(const ModelFiles& files, const DeviceInfo& device,
                           const PartOptions& options);

  uint32_t groups() const { return model_.groups; }  // codes of a frame
  /// A code is below that.
  uint32_t codes_per_group() const { return model_.codes_per_group(); }
  uint32_t sample_rate() const { return model_.sample_rate; }
  uint32_t samples_per_frame() const { return model_.samples_per_frame; }
  /// How many frames before its own a sample depends on.
  uint32_t context_frames() const { return model_.context_frames(); }

  /// The samples, from -1 to 1, of all frames but the first `context`, which are what comes before
  /// them: context_frames() of these are enough, where there are as many. Codes [frames, groups].
  /// The first call loads the weights; a device that is lost meanwhile is opened again. Errors:
  /// codes that are none, that are not whole frames or fewer than `context`.
  Result<std::vector<float>> decode(std::span<const uint32_t> codes, uint32_t context = 0);

  /// Before the backend goes: the next call loads the weights again.
  void forget_device() { runner_.reset(); }

  const CodecModel& model() const { return model_; }
  const Plan& plan() const { return part_.plan; }
  const Backend& backend() const { return device_.backend(); }
  const std::string& path() const { return path_; }

 private:
  Codec(std::string path, CodecModel model, CompiledPart part, TensorFile tensors, Device device)
      : path_(std::move(path)),
        model_(std::move(model)),
        part_(std::move(part)),
        tensors_(std::move(tensors)),
        device_(std::move(device)) {}
  Result<std::vector<float>> run(std::span<const uint32_t> codes, uint32_t context);

  std::string path_;
  CodecModel model_;
  CompiledPart part_;
  TensorFile tensors_;
  Device device_;
  std::unique_ptr<CodecRunner> runner_;  // null: not loaded
};

/// Whether the files are a codec's. False where they name no architecture that is known.
bool is_codec(const ModelFiles& files);

}  // namespace tokamak
