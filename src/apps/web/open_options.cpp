#include "apps/web/open_options.h"

#include <algorithm>

#include "apps/web/fields.h"

namespace tokamak::web {

Result<Opening> read_opening(const Json& json) {
  Opening opening;
  OpenOptions& options = opening.options;
  options.backend = "webgpu";
  Fields fields(json);
  const Json* const files = fields.find("files");
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
              .done());
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
