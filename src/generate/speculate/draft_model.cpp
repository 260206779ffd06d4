#include "generate/speculate/draft_model.h"

#include <algorithm>

#include "base/bits.h"
#include "generate/steps/phase_results.h"

namespace tokamak {
Result<void> DraftModel::check(const Plan& plan) {
  if (std::ranges::any_of(plan.buffers, is_recurrent_state)) {
    return unsupported(
        "It has recurrent states, which cannot take back a wrong guess; expected a draft model "
        "whose layers all attend.");
  }
  for (const PhaseKind kind : {PhaseKind::kPrefill, PhaseKind::kGreedy}) {
    if (plan.phase_for(1, kind) < plan.phases.size()) continue;
    return unsupported("Its plan has no phase that is for {}.", kPhaseKindNames[size_t(kind)]);
  }
  return {};
}

Result<std::unique_ptr<DraftModel>> DraftModel::make(Program& program, uint32_t context,
                                                     uint32_t vocab) {
  TOK_TRY(check(program.plan()));
  return std::unique_ptr<DraftModel>(new DraftModel(program, context, vocab));
}

DraftModel::DraftModel(Program& program, uint32_t context, uint32_t vocab)
    : program_(&program),
      context_(context),
      vocab_(vocab),
      tables_(page_tables(program.plan())),
      pool_(pool_size(tables_)),
      has_pool_(pool_.size() > 0),
      short_rows_(short_rotary_rows(program.plan())),
      window_spare_(window_spare(program.plan())),
      caches_(program.plan().slots) {}

bool DraftModel::is_long(size_t length) const {
  return short_rows_ != 0 && length > short_rows_;
}

uint32_t DraftModel::held(const Text& text) const {
  const Cache& cache = caches_[text.slot];
  if (cache.tenant != text.tenant || cache.is_long != is_long(text.ids.size())) return 0;
  // The last token runs again: what follows it is what is asked.
  const auto [own, other] = std::ranges::mismatch(cache.ids, text.ids.first(text.ids.size() - 1));
  const auto count = uint32_t(own - cache.ids.begin());
  return cache.written - count > window_spare_ ? 0 : count;
}

uint32_t DraftModel::unread(const Text& text) const {
  return uint32_t(text.ids.size()) - 1 - held(text);
}

bool DraftModel::has_room(const Text& text, uint32_t tokens) {
  Cache& cache = caches_[text.slot];
  cache.used = ++calls_;
  const std::span<const uint32_t> fed = text.ids.subspan(held(text));
  if (std::ranges::any_of(fed, [this](uint32_t id) { return id >= vocab_; })) return false;
  const uint64_t positions = text.ids.size() + tokens;
  // The keys of a draft that makes a text long would be turned by two parts of the table.
  const bool crosses = !is_long(text.ids.size()) && is_long(size_t(positions));
  return !crosses && positions <= context_ && tokens <= window_spare_ &&
         reserve(cache, uint32_t(positions));
}

bool DraftModel::reserve(Cache& cache, uint32_t positions) {
  if (!has_pool_) return true;
  while (cache.pages.size() < ceil_div(positions, kPageTokens)) {
    if (const auto page = pool_.take()) {
      cache.pages.push_back(*page);
      continue;
    }
    Cache* idle = nullptr;
    for (Cache& other : caches_) {
      if (other.is_taken || other.pages.empty() || &other == &cache) continue;
      if (idle == nullptr || other.used < idle->used) idle = &other;
    }
    if (idle == nullptr) return false;
    for (const uint32_t page : std::exchange(idle->pages, {})) pool_.drop(page);
    idle->told = 0;
    idle->ids.clear();
  }
  return true;
}

Result<void> DraftModel::write_tables(uint32_t slot) {
  Cache& cache = caches_[slot];
  const bool has_rings = std::exchange(cache.has_rings, true);
  for (const PageTable& table : tables_) {
    const uint64_t first = uint64_t{slot} * table.pages;
    if (table.ring > 0) {
      if (has_rings) continue;
      TOK_TRY(program_->write_table(table.buffer, equal_part(table, slot), first));
    } else if (cache.told < cache.pages.size()) {
      const auto untold = std::span(cache.pages).subspan(cache.told);
      TOK_TRY(program_->write_table(table.buffer, untold, first + cache.told));
    }
  }
  cache.told = cache.pages.size();
  return {};
}

Result<Slot> DraftModel::advance(const Text& text, uint32_t count, uint32_t ahead) {
  Cache& cache = caches_[text.slot];
  TOK_TRY(write_tables(text.slot));
  const uint32_t position = held(text);
  const auto fed = text.ids.subspan(position, count);
  cache.tenant = text.tenant;
  cache.ids.resize(position);
  cache.ids.insert(cache.ids.end(), fed.begin(), fed.end());
  cache.is_long = is_long(text.ids.size());
  if (position == 0) cache.written = 0;
  cache.written = std::max(cache.written, position + count + ahead);
  return Slot{.count = count,
              .position = position,
              .length = uint32_t(text.ids.size()),
              .index = text.slot};
}

Result<uint32_t> DraftModel::read(std::span<const Text> texts, uint32_t most, Done done) {
  const Plan& plan = program_->plan();
  most = std::min(most, plan.chunk());
  std::vector<Slot> slots;
  std::vector<uint32_t> ids;
  for (const Text& text : texts) {
    const uint32_t count = std::min(unread(text), most - uint32_t(ids.size()));
    if (count == 0) continue;
    TOK_TRY(const Slot slot, advance(text, count, 0));
    slots.push_back(slot);
    const auto fed = text.ids.subspan(slot.position, count);
    ids.insert(ids.end(), fed.begin(), fed.end());
  }
  if (ids.empty()) return 0u;
  size_t phase = plan.phase_for(ids.size());
  if (ids.size() == 1) phase = plan.phase_at(phase, slots[0].position);
  // Nobody wants a result, but there is none without a row.
  constexpr uint32_t kOneRow[] = {0};
  StepRequest request{.phase = phase,
                      .slots = std::move(slots),
                      .tokens = ids,
                      .outputs = kOneRow,
                      .done = std::move(done)};
  request.result_bytes = sizeof(float);
  TOK_TRY(program_->submit(request));
  return uint32_t(ids.size());
}

Result<DraftModel::Drafting> DraftModel::draft(std::span<const Text> texts, uint32_t tokens,
                                               Done done) {
  const Plan& plan = program_->plan();
  for (uint32_t count = 1; count > 0;) {
    TOK_TRY(count, read(texts, plan.chunk(), {}));
  }
  size_t phase = plan.phase_for(texts.size(), PhaseKind::kGreedy);
  if (texts.size() == 1) {
    const auto position = uint32_t(texts[0].ids.size()) - 1;
    phase = plan.phase_at(phase, position);
    tokens = std::min(tokens, plan.change_after(phase, position) - position);
  }
  const Phase& greedy = plan.phases[phase];
  tokens = std::min(tokens, uint32_t(greedy.result.shape[0]));
  std::vector<Slot> slots;
  std::vector<uint32_t> ids;
  for (const Text& text : texts) {
    TOK_TRY(const Slot slot, advance(text, 1, tokens - 1));
    slots.push_back(slot);
    ids.push_back(text.ids.back());
  }
  StepRequest request{
      .phase = phase, .slots = std::move(slots), .tokens = ids, .done = std::move(done)};
  request.repeat = tokens;
  request.result_bytes = sizeof(float) * (uint64_t{tokens - 1} * greedy.max_tokens + texts.size());
  TOK_TRY(program_->submit(request));
  return Drafting{tokens, greedy.max_tokens};
}

void DraftModel::drafted(uint32_t slot, std::span<const uint32_t> ids) {
  if (ids.empty()) return;
  std::vector<uint32_t>& own = caches_[slot].ids;
  own.insert(own.end(), ids.begin(), ids.end() - 1);
}

void DraftModel::forget() {
  pool_.reset();
  std::ranges::fill(caches_, Cache());
}

Result<void> DraftModel::restore(const Error& loss) {
  for (Cache& cache : caches_) {
    for (const uint32_t page : cache.pages) pool_.drop(page);
    cache = {.is_taken = cache.is_taken};
  }
  return program_->restore(loss);
}

}  // namespace tokamak
