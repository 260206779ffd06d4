#include "model/speech.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"

namespace tokamak {

uint32_t SoundStage::rows_of(uint32_t rows) const {
  const uint32_t padded = rows + reads.pad + pad_after;
  return padded < reads.taps ? 0 : (padded - reads.taps) / reads.stride + 1;
}

uint32_t SpeechModel::min_rows() const {
  uint32_t rows = 1;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const uint32_t needed = (rows - 1) * stage->reads.stride + stage->reads.taps;
    rows = std::max(needed, stage->reads.pad + stage->pad_after + 1) - stage->reads.pad -
           stage->pad_after;
  }
  return rows;
}

std::string stage_input(size_t index) {
  return fmt::format("sound.{}", index);
}

std::string ahead_input(uint32_t ahead) {
  return fmt::format("ahead.{}", ahead);
}

ValueId SpeechBuilder::convolution(size_t index, uint32_t rows, uint32_t columns,
                                   std::string_view name, uint32_t out, const Unfold& op,
                                   bool bias) {
  const ValueId x = unfold(host_rows(stage_input(index), rows, columns), op);
  const ValueId w = flat_matrix(fmt::format("{}.weight", name), out, columns * op.taps);
  if (!bias) return linear(x, w);
  return linear(x, w, vector(fmt::format("{}.bias", name), out));
}

ValueId SpeechBuilder::pages() {
  if (!pages_) pages_ = input("heard_pages", {Dim{ceil_div(frames_, kPageTokens)}});
  return *pages_;
}

ValueId SpeechBuilder::cache(const std::string& name, uint32_t heads, uint32_t head_dim) {
  const Dim cells = Dim{ceil_div(frames_, kPageTokens)} * kPageTokens;
  return kv_cache(name, kv_dtype_, cells, heads, head_dim);
}

ValueId SpeechBuilder::appended(ValueId k, ValueId v, uint32_t head_dim) {
  const ValueId table = pages();
  // One for all layers: nothing reads a layer's keys after it.
  if (!own_cache_) own_cache_ = cache("encoder", uint32_t(at(k).shape[1]) / head_dim, head_dim);
  own_cache_ = kv_append(k, v, *own_cache_, table);
  return *own_cache_;
}

ValueId SpeechBuilder::attention_both_ways(ValueId q, ValueId k, ValueId v, uint32_t head_dim) {
  const ValueId all = appended(k, v, head_dim);
  return attention(q, all, pages(), {.scale = 1 / std::sqrt(float(head_dim)), .causal = false});
}

ValueId SpeechBuilder::attention_in_window(ValueId q, ValueId k, ValueId v, uint32_t head_dim,
                                           uint32_t back, uint32_t ahead) {
  const auto [found, is_new] = aheads_.try_emplace(ahead);
  if (is_new) found->second = input(ahead_input(ahead), {kTokens});
  const ValueId all = appended(k, v, head_dim);
  return attention(q, all, pages(), {.scale = 1 / std::sqrt(float(head_dim)), .window = back},
                   found->second);
}

void SpeechBuilder::keep(uint32_t layer, ValueId k, ValueId v, uint32_t head_dim) {
  const ValueId table = pages();
  const uint32_t heads = uint32_t(at(k).shape[1]) / head_dim;
  kv_append(k, v, cache(fmt::format("heard.{}", layer), heads, head_dim), table);
}

ValueId SpeechBuilder::cross_attention(uint32_t layer, ValueId q, uint32_t heads,
                                       uint32_t head_dim) {
  const ValueId table = pages();
  if (!ends_) ends_ = input(std::string(kHeardEnds), {kTokens});
  const ValueId heard = cache(fmt::format("heard.{}", layer), heads, head_dim);
  return attention(q, heard, table, {.scale = 1 / std::sqrt(float(head_dim)), .causal = false},
                   *ends_);
}

}  // namespace tokamak
