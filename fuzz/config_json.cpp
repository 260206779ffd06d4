// A config.json of any content, against a checkpoint without tensors: every architecture must end
// in an error or in facts, never in a crash or in memory asked for by a number in the file.
#include "model/arch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tokamak;
  auto json = Json::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const ConfigReader config(*json, "config.json");
  if (!config.status()) return 0;
  const TensorFile nothing;
  auto found = find_architecture(config);
  for (const Architecture& architecture : architectures()) {
    if (!architecture.facts(config)) continue;
    if (architecture.build != nullptr) (void)architecture.build(config, nothing, BuildOptions{});
    if (architecture.codec != nullptr) (void)architecture.codec(config, nothing);
  }
  (void)found;
  return 0;
}
