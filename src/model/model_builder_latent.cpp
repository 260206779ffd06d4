// The cache of latents, and what attends to it.
#include "base/bits.h"
#include "graph/kv_cache.h"
#include "model/model_builder.h"

namespace tokamak {

ValueId ModelBuilder::matrix(std::string_view name, const std::vector<Piece>& pieces,
                             uint32_t columns) {
  return in_own_order(full_name(name), joined(name, pieces, columns));
}

ValueId ModelBuilder::latent_attention(uint32_t layer, const Latents& rows, ValueId latent_query,
                                       ValueId turned_query, float scale) {
  if (options_.kv_dtype == kQ8Cache) {
    reject({ErrorCode::kUsage,
            "kv q8 is for keys and values of heads; this model caches latents, which --kv f16 "
            "makes as small."});
  }
  const Dim rank = at(rows.latent).shape[1], turned = at(rows.turned).shape[1];
  const uint32_t own_pages = ceil_div(options_.context, kPageTokens);
  const uint32_t pages =
      options_.cache_pages != 0 ? options_.cache_pages : options_.sequences * own_pages;
  auto table = made_.find("pages");
  if (table == made_.end()) table = made_.emplace("pages", input("pages", {Dim{own_pages}})).first;
  const DType dtype = options_.kv_dtype == kQ8Cache ? DType::kF16 : options_.kv_dtype;
  const ValueId cache =
      latent_cache(fmt::format("kv.{}", layer), dtype, Dim{pages} * kPageTokens, rank, turned);
  const ValueId held = latent_append(rows.latent, rows.turned, cache, table->second);
  return GraphBuilder::latent_attention(latent_query, turned_query, held, table->second, scale);
}

}  // namespace tokamak
