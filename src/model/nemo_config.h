// The fields of NeMo's model_config.yaml, as the config.json that this engine reads.
#pragma once
#include "base/json.h"
#include "base/result.h"

namespace tokamak {

/// The same fields, with the architecture they are of. Errors: another model than NanoCodec.
Result<Json> config_of_nemo(Json config);

}  // namespace tokamak
