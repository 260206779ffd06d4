// A recorded model on a device that is lost when a test wants it.
#pragma once
#include "golden/reference.h"
#include "reliability/fragile_backend.h"

namespace tokamak::golden {

/// The model, and the recorded draft model that `options` name, have as many positions as they ask
/// for. Fails the running test and gives null when
/// it does not open.
inline std::unique_ptr<Engine> open_fragile(const std::string& model, Fault& fault,
                                            OpenOptions options, Clock clock = steady_clock()) {
  if (options.backend == "cpu-reference") options.disabled_passes = kRoundingPasses;
  options.reopen = [=, &fault] { return FragileBackend::open(options, fault); };
  auto files = read_model_files(model_folder(model));
  EXPECT_TRUE(files) << files.error().message;
  if (!files) return nullptr;
  if (!options.draft.empty()) {
    auto draft = read_model_files(model_folder(options.draft));
    EXPECT_TRUE(draft) << draft.error().message;
    if (!draft) return nullptr;
    draft->description.config.set("max_position_embeddings", options.context);
    files->draft = std::make_shared<ModelFiles>(*std::move(draft));
  }
  files->description.config.set("max_position_embeddings", options.context);
  auto backend = FragileBackend::open(options, fault);
  EXPECT_TRUE(backend) << backend.error().message;
  if (!backend) return nullptr;
  auto engine = Engine::load(*std::move(files), *std::move(backend), options, std::move(clock));
  EXPECT_TRUE(engine) << engine.error().message;
  return engine ? *std::move(engine) : nullptr;
}

}  // namespace tokamak::golden
