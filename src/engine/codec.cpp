#include "engine/codec.h"

#include "engine/engine.h"
#include "engine/restorable_program.h"
#include "engine/task.h"
#include "generate/call_errors.h"
#include "model/weights.h"

namespace tokamak {
namespace {

Result<CodecModel> read_model(const ModelFiles& files) {
  const ConfigReader config = files.description.reader();
  TOK_TRY(config.status());
  TOK_TRY(const Architecture* const architecture, find_architecture(config));
  if (architecture->codec != nullptr) return architecture->codec(config, files.tensors);
  std::string known;
  for (const Architecture& other : architectures()) {
    if (other.codec == nullptr) continue;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", other.name);
  }
  return unsupported("This is a {}, no codec; codecs are {}.", architecture->name, known);
}

}  // namespace

Result<std::unique_ptr<Codec>> Codec::make(const ModelFiles& files, Device device,
                                           CodecOptions options) {
  auto model = read_model(files);
  if (!model) return Failure(model.error().within(files.name));
  return std::unique_ptr<Codec>(new Codec(files.name, *std::move(model), files.tensors,
                                          std::move(device), std::move(options)));
}

Result<std::unique_ptr<Codec>> Codec::open(const OpenOptions& options) {
  TOK_TRY(const std::string path, find_model(options.model));
  TOK_TRY(const ModelFiles files, read_model_files(path));
  TOK_TRY(std::unique_ptr<Backend> opened, open_backend(options));
  OpenOptions own = options;
  recall_device(opened->device(), own);
  CodecOptions codec = {.target = fusion_target(opened->device()),
                        .disabled_passes = own.disabled_passes,
                        .forced = own.forced,
                        .advice = own.advice};
  const auto backend = std::make_shared<std::unique_ptr<Backend>>(std::move(opened));
  Device device = {.backend = [backend]() -> Backend& { return **backend; },
                   .restore = [backend, options](const Error& loss) -> Result<void> {
                     const DeviceInfo before = (*backend)->device();
                     OpenOptions same = options;
                     same.backend = backend_name(before.backend);
                     TOK_TRY(std::unique_ptr<Backend> again, open_backend(same));
                     if (again->device() != before) return Failure(loss);
                     *backend = std::move(again);
                     return {};
                   }};
  return make(files, std::move(device), std::move(codec));
}

Result<std::vector<float>> Codec::run(std::span<const uint32_t> codes, uint32_t context) {
  if (runner_ == nullptr) {
    const auto constants = [this](const TensorDesc& constant, Share share,
                                  const WriteBytes& write) {
      return read_constant(tensors_, constant, share, write);
    };
    TOK_TRY(runner_, CodecRunner::open(model_, device_.backend(), options_, constants));
  }
  return runner_->decode(codes, context);
}

Result<std::vector<float>> Codec::decode(std::span<const uint32_t> codes, uint32_t context) {
  if (codes.size() % groups() != 0) {
    return invalid_input("There are {} codes, expected a multiple of {}: whole frames.",
                         codes.size(), groups());
  }
  if (codes.size() / groups() < context) {
    return invalid_input("There are {} frames, expected at least the {} of the context.",
                         codes.size() / groups(), context);
  }
  auto samples = run(codes, context);
  for (uint32_t losses = 1; !samples && samples.error().code == ErrorCode::kDeviceLost; ++losses) {
    if (losses == kMaxLosses) break;
    forget_device();
    TOK_TRY(device_.restore(samples.error()));
    samples = run(codes, context);
  }
  return samples;
}

Result<Codec*> Engine::codec(const std::string& model) {
  TOK_TRY(const std::string path, find_model(model));
  if (codec_ != nullptr && codec_->path() == path) return codec_.get();
  TOK_TRY(const ModelFiles files, read_model_files(path));
  OpenOptions own;
  recall_device(device(), own);
  Codec::Device device = {.backend = [this]() -> Backend& { return *backend_; },
                          .restore = [this](const Error& loss) -> Result<void> {
                            return restorable_ == nullptr ? Failure(loss)
                                                          : restorable_->restore_for_others(loss);
                          }};
  TOK_TRY(codec_, Codec::make(files, std::move(device),
                              {.target = compiled_.target,
                               .disabled_passes = compiled_.disabled_passes,
                               .forced = {},
                               .advice = std::move(own.advice)}));
  device_goes_ = [this] { codec_->forget_device(); };
  return codec_.get();
}

}  // namespace tokamak
