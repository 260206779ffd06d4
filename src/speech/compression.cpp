#include "speech/compression.h"

#include <zlib.h>

#include <vector>

#include "base/check.h"

namespace tokamak {

double compression_ratio(std::string_view text) {
  if (text.empty()) return 0;
  uLongf size = compressBound(text.size());
  std::vector<Bytef> out(size);
  const int status =
      compress(out.data(), &size, reinterpret_cast<const Bytef*>(text.data()), uLong(text.size()));
  TOK_CHECK(status == Z_OK);
  return double(text.size()) / double(size);
}

}  // namespace tokamak
