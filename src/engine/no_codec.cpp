// The browser's module for texts: its models make no sound.
#include "engine/codec.h"

namespace tokamak {

Result<Plan> Codec::plan(const ModelFiles&, const DeviceInfo&, const PartOptions&) {
  return unsupported("The module for texts makes no sounds of codes.");
}

}  // namespace tokamak
