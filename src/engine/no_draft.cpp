// The browser's modules take no draft model: ModelFiles::draft is never there.
#include "engine/draft.h"

namespace tokamak {
namespace {

Failure no_drafts() {
  return unsupported("A module for the browser takes no draft model.");
}

}  // namespace

Result<DraftMemory> plan_draft(const Engine::Compiled&, const ModelFiles&, const DeviceInfo&,
                               const OpenOptions&) {
  return no_drafts();
}

Result<void> check_vocabulary(const ModelFiles&, const Result<Tokenizer>*) {
  return {};
}

Result<void> Engine::load_draft(const OpenOptions&) {
  return no_drafts();
}

}  // namespace tokamak
