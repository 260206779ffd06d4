#include "apps/web/open_options.h"

#include <algorithm>

#include "apps/web/fields.h"

namespace tokamak::web {
namespace {

constexpr double kMaxMegapixels = 1024;  // a number that fits; models have smaller limits

}  // namespace

Result<Opening> read_opening(const Json& json) {
  Opening opening;
  OpenOptions& options = opening.options;
  options.backend = "webgpu";
  Fields fields(json);
  const Json* const files = fields.find("files");
  double megapixels = 1;
  TOK_TRY(fields.take("name", opening.name)
              .take("backend", options.backend)
              .take("context", options.context)
              .take("sequences", options.sequences)
              .take("cacheTokens", options.cache_tokens)
              .take("kv", options.kv)
              .take("quantize", options.quantize)
              .take("pooling", options.pooling)
              .take("chunk", options.chunk)
              .take("selfTest", opening.self_test)
              .take("f16", options.use_f16)
              .take("subgroups", options.use_subgroups)
              .take("defaultLimits", options.default_limits)
              .take("submitDispatches", options.submit_dispatches)
              .take("megapixels", megapixels)
              .done());
  if (!(megapixels >= 0 && megapixels <= kMaxMegapixels)) {
    return fail(ErrorCode::kUsage, "\"megapixels\" is {}, expected 0 to {}.", megapixels,
                kMaxMegapixels);
  }
  options.image_pixels = uint64_t(megapixels * (1 << 20));
  options.needs_images = false;
  if (files == nullptr) return opening;
  if (!files->is_array()) return fail(ErrorCode::kUsage, "\"files\" is no list.");
  for (const Json& one : files->as_array()) {
    HostFile& file = opening.files.emplace_back();
    Fields own(one);
    TOK_TRY(own.take("name", file.name).take("size", file.size).take("id", file.id).done());
  }
  return opening;
}

}  // namespace tokamak::web
