// Codecs by their paths; native programs only.
#include "engine/codec.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/restorable_program.h"
#include "engine/task.h"

namespace tokamak {

Result<std::unique_ptr<Codec>> Codec::open(const OpenOptions& options) {
  TOK_TRY(const std::string path, find_model(options.model));
  TOK_TRY(const ModelFiles files, read_model_files(path));
  TOK_TRY(std::unique_ptr<Backend> opened, open_backend(options));
  OpenOptions own = options;
  recall_device(opened->device(), own);
  own.advice.exact = own.is_exact();
  const PartOptions codec = {.target = fusion_target(opened->device()),
                             .disabled_passes = own.disabled_passes,
                             .forced = own.forced,
                             .advice = own.advice};
  const auto backend = std::make_shared<std::unique_ptr<Backend>>(std::move(opened));
  Device device = {.backend = [backend]() -> Backend& { return **backend; },
                   .restore = [backend, options](const Error& loss) -> Result<void> {
                     const DeviceInfo before = (*backend)->device();
                     OpenOptions same = options;
                     same.backend = backend_name(before.backend);
                     TOK_TRY(std::unique_ptr<Backend> reopened, open_backend(same));
                     if (reopened->device() != before) return Failure(loss);
                     *backend = std::move(reopened);
                     return {};
                   }};
  if (own.free_memory == 0) own.free_memory = free_memory(**backend);
  TOK_TRY(const std::optional<uint64_t> limit, memory_limit(own, (*backend)->device()));
  TOK_TRY(std::unique_ptr<Codec> made, make(files, std::move(device), codec));
  TOK_TRY(check_codec_fits(made->plan(), 0, limit));
  if (own.notice && !own.memory.empty()) own.notice(codec_memory_text(made->plan()));
  return made;
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
                                                          : restorable_->restore_silently(loss);
                          }};
  TOK_TRY(std::unique_ptr<Codec> made, Codec::make(files, std::move(device),
                                                   {.target = compiled_.target,
                                                    .disabled_passes = compiled_.disabled_passes,
                                                    .forced = {},
                                                    .advice = std::move(own.advice)}));
  TOK_TRY(check_codec_fits(made->plan(), needed_bytes(compiled_), memory_limit_));
  if (notice_ && shows_memory_) notice_(codec_memory_text(made->plan()));
  codec_bytes_ = footprint(made->plan()).total();
  codec_ = std::move(made);
  on_device_lost_ = [this] { codec_->forget_device(); };
  return codec_.get();
}

}  // namespace tokamak
