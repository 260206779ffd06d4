#include "engine/draft.h"

#include <algorithm>

#include "engine/memory.h"
#include "generate/speculate/draft_model.h"

namespace tokamak {
namespace {

Failure of_draft(const ModelFiles& draft, const Error& error) {
  return Failure(error.within(fmt::format("The draft model {}", draft.name)));
}

/// How it is opened beside `compiled`, with a cache of that many pages that all sequences share; 0:
/// of a context for each.
Result<OpenOptions> draft_options(const Engine::Compiled& compiled, const ModelFiles& draft,
                                  const OpenOptions& options, uint64_t pages) {
  const ConfigReader config = draft.description.reader();
  TOK_TRY(config.status());
  TOK_TRY(const Architecture* architecture, find_architecture(config));
  TOK_TRY(const ModelFacts facts, architecture->facts(config));
  OpenOptions own = options;
  own.task = Task::kText;
  own.context = std::min(compiled.context, facts.max_context);
  own.sequences = compiled.main.plan.slots;
  const uint64_t most = own.sequences * ceil_div<uint64_t>(own.context, kPageTokens);
  own.cache_tokens = uint32_t(std::min(pages, most) * kPageTokens);
  own.memory.clear();  // what it takes was counted with the model's own
  own.free_memory = 0;
  own.image_pixels = 0;
  own.batch_invariant = false;  // what it guesses changes no token
  own.precision = "auto";
  own.speculate = "off";
  own.pooling.clear();
  own.adapters.clear();
  own.notice = {};
  own.planned = {};
  return own;
}

std::string token_text(const std::optional<std::string_view>& token) {
  return token ? fmt::format("\"{}\"", *token) : "none";
}

}  // namespace

Result<DraftMemory> plan_draft(const Engine::Compiled& compiled, const ModelFiles& files,
                               const DeviceInfo& device, const OpenOptions& options) {
  const ModelFiles& draft = *files.draft;
  const bool has_pool = cache_pool(compiled.main.plan).pages > 0;
  const uint64_t least = has_pool ? ceil_div(compiled.context, kPageTokens) : 0;
  const auto planned = [&]() -> Result<Engine::Compiled> {
    TOK_TRY(const OpenOptions own, draft_options(compiled, draft, options, least));
    TOK_TRY(Engine::Compiled plan, Engine::compile(draft, device, own));
    TOK_TRY(DraftModel::check(plan.main.plan));
    return plan;
  }();
  if (!planned) return of_draft(draft, planned.error());
  const uint32_t vocab = compiled.facts.vocab, own_vocab = planned->facts.vocab;
  if (!files.has_tokenizer() && !draft.has_tokenizer() && vocab != own_vocab) {
    return invalid_input(
        "The draft model {} has {} tokens and {} has {}; expected a model with the same "
        "vocabulary.",
        draft.name, own_vocab, files.name, vocab);
  }
  const CachePool pool = cache_pool(planned->main.plan);
  const uint64_t bytes = footprint(planned->main.plan).total();
  if (!has_pool) return DraftMemory{bytes, 0};
  return DraftMemory{bytes - pool.pages * pool.page_bytes, pool.page_bytes};
}

Result<void> check_vocabulary(const ModelFiles& files, const Result<Tokenizer>* tokenizer) {
  const ModelFiles& draft = *files.draft;
  if (tokenizer == nullptr && !draft.has_tokenizer()) return {};  // plan_draft() has compared
  if (tokenizer == nullptr || !draft.has_tokenizer()) {
    return invalid_input(
        "{} has no tokenizer, so that its vocabulary cannot be compared with that of {}; expected "
        "two models with the same.",
        tokenizer == nullptr ? files.name : draft.name,
        tokenizer == nullptr ? draft.name : files.name);
  }
  if (!*tokenizer) return {};  // who loads the model says why
  TOK_TRY(const Tokenizer own, make_tokenizer(draft));
  const uint32_t both = std::min(own.vocab_size(), (*tokenizer)->vocab_size());
  for (uint32_t id = 0; id < both; ++id) {
    const auto token = (*tokenizer)->token(id), guessed = own.token(id);
    if (!token || !guessed || *token == *guessed) continue;  // some leave out ids that nobody uses
    return invalid_input(
        "The draft model {} has another vocabulary than {}: its token {} is {}, not {}. Expected a "
        "model with the same tokenizer, as the smaller ones of a family have it.",
        draft.name, files.name, id, token_text(guessed), token_text(token));
  }
  return {};
}

Result<void> Engine::load_draft(const OpenOptions& options) {
  ModelFiles files = std::move(*files_.draft);
  files_.draft.reset();
  // Nobody asks it for text.
  files.tokenizer.clear();
  files.vocab.reset();
  const uint64_t pages = cache_pool(compiled_.main.plan).pages;
  TOK_TRY(OpenOptions own, draft_options(compiled_, files, options, pages));
  if (options.reopen) {
    own.reopen = [this]() -> Result<std::unique_ptr<Backend>> {
      return std::make_unique<BorrowedBackend>(backend_);
    };
  }
  const std::string name = files.name;
  auto draft = load(std::move(files), std::make_unique<BorrowedBackend>(backend_), own, clock_);
  if (!draft) return Failure(draft.error().within(fmt::format("The draft model {}", name)));
  draft_ = *std::move(draft);
  TOK_TRY(drafts_, DraftModel::make(draft_->program(), draft_->compiled().context,
                                    draft_->compiled().facts.vocab));
  return {};
}

}  // namespace tokamak
