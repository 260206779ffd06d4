#include "speech/compression.h"

#include <zlib.h>

#include <vector>

#include "base/check.h"

namespace tokamak {

double compression_ratio(std::string_view text) {
  if (text.empty()) return 0;
  const auto whole = static_cast<uLong>(text.size());  // a transcript: far below 4 GB
  uLongf size = compressBound(whole);
  std::vector<Bytef> out(size);
  const int status =
      compress(out.data(), &size, reinterpret_cast<const Bytef*>(text.data()), whole);
  TOK_CHECK(status == Z_OK);
  return double(text.size()) / double(size);
}

}  // namespace tokamak
