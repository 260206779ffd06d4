// In the browser, which has zlib: the import "deflate", of web/tokamak-web/src/host/deflate.ts. It
// suspends the module.
#include <cstdint>

#include "speech/compression.h"

extern "C" {
/// How many bytes zlib makes of them.
__attribute__((import_module("deflate"), import_name("bytes"))) uint32_t
deflate_bytes(const void* text, uint32_t bytes);
}

namespace tokamak {

double compression_ratio(std::string_view text) {
  if (text.empty()) return 0;
  return double(text.size()) / double(deflate_bytes(text.data(), uint32_t(text.size())));
}

}  // namespace tokamak
