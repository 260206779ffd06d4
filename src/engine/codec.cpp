#include "engine/codec.h"

#include "generate/steps/call_errors.h"
#include "model/arch.h"
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
                                           const PartOptions& options) {
  auto model = read_model(files);
  if (!model) return Failure(model.error().within(files.name));
  TOK_TRY(CompiledPart part, CodecRunner::compile(*model, device.backend().device(), options));
  return std::unique_ptr<Codec>(
      new Codec(files.name, *std::move(model), std::move(part), files.tensors, std::move(device)));
}

Result<Plan> Codec::plan(const ModelFiles& files, const DeviceInfo& device,
                         const PartOptions& options) {
  auto model = read_model(files);
  if (!model) return Failure(model.error().within(files.name));
  TOK_TRY(CompiledPart part, CodecRunner::compile(*model, device, options));
  return std::move(part.plan);
}

Result<std::vector<float>> Codec::run(std::span<const uint32_t> codes, uint32_t context) {
  if (runner_ == nullptr) {
    const auto constants = [this](const TensorDesc& constant, Share share,
                                  const WriteBytes& write) {
      return read_constant(tensors_, constant, share, write);
    };
    TOK_TRY(runner_, CodecRunner::open(model_, part_.plan, device_.backend(), constants));
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

}  // namespace tokamak
