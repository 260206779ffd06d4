#include "base/dtype.h"

#include <array>

#include "base/check.h"
#include "base/packing.h"

namespace tokamak {
namespace {

struct Row {
  std::string_view name;
  uint32_t bytes;
};

// In the order of the enumerators.
constexpr std::array<Row, kDTypeCount> kRows = {{{"f32", 4},
                                                 {"f16", 2},
                                                 {"bf16", 2},
                                                 {"u32", 4},
                                                 {"i32", 4},
                                                 {"u8", 1},
                                                 {"i8", 1},
                                                 {"i16", 2},
                                                 {"u16", 2},
                                                 {"i64", 8},
                                                 {"u64", 8},
                                                 {"f64", 8},
                                                 {"bool", 1},
                                                 {"f8e4m3", 1},
                                                 {"f8e5m2", 1},
                                                 {"f8e8m0", 1}}};

const Row& row(DType dtype) {
  TOK_CHECK(uint32_t(dtype) < kDTypeCount);
  return kRows[uint32_t(dtype)];
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  return is_packed(dtype) ? weight_format(dtype).name : row(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (uint32_t i = 0; i < kDTypeCount; ++i) {
    if (kRows[i].name == name) return DType(i);
  }
  for (size_t i = 0; i < weight_formats().size(); ++i) {
    if (weight_formats()[i].name == name) return packed_type(i);
  }
  return std::nullopt;
}

uint32_t dtype_bytes(DType dtype) {
  return row(dtype).bytes;
}

}  // namespace tokamak
