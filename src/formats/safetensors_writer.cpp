#include "formats/safetensors_writer.h"

#include <bit>
#include <cstring>

#include "base/bits.h"
#include "formats/safetensors.h"

namespace tokamak {
namespace {

/// The reference implementation fills headers up with spaces, so that tensors are aligned.
constexpr uint64_t kHeaderUnit = 8;

static_assert(std::endian::native == std::endian::little);

}  // namespace

std::string safetensors_header(const std::vector<TensorInfo>& tensors, const Json& metadata) {
  Json header(Json::Object{});
  if (!metadata.as_object().empty()) header.set("__metadata__", metadata);
  uint64_t end = 0;
  for (const TensorInfo& tensor : tensors) {
    Json::Array shape;
    for (const uint64_t extent : tensor.shape) shape.emplace_back(extent);
    const uint64_t begin = end;
    end += tensor.bytes;
    header.set(tensor.name,
               Json(Json::Object{{"dtype", std::string(safetensors_dtype_name(tensor.dtype))},
                                 {"shape", std::move(shape)},
                                 {"data_offsets", Json::Array{Json(begin), Json(end)}}}));
  }
  std::string text = header.dump();
  text.resize(size_t(round_up(uint64_t{text.size()}, kHeaderUnit)), ' ');
  const uint64_t length = text.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + text;
}

}  // namespace tokamak
