// Rows of the variant tables whose products go by tiles.
#pragma once
#include "kernels/cpu/products.h"
#include "kernels/cpu/variants.h"

namespace tokamak {

enum class ProductWay : uint8_t { kVectors, kTiles };

inline const TileUnit* unit_of(ProductWay way) {
  return way == ProductWay::kTiles ? tile_unit() : nullptr;
}

/// The error of an f32 that becomes a bf16.
inline constexpr double kBf16Rounding = 0x1p-8;

/// Why tiles do not take a product; "" if they do.
std::string refuses_tiles(const Problem& problem, const DeviceInfo& device);

/// A row of the tables for tiles, in front of that for vectors.
template <typename T>
constexpr KernelVariant tile_row(std::string_view name, void (*run)(const CpuCall&)) {
  KernelVariant row = vector_row<T>(name, run, 2 * kBf16Rounding);
  row.needs |= kFeatureBf16Tiles;
  row.refuses = refuses_tiles;
  return row;
}

}  // namespace tokamak
