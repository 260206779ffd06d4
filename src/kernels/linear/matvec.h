// The part that products share, and the ways to compute those of one token: see linear.h.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/launch.h"
#include "kernels/quant/codec.h"

namespace tokamak {

struct Tiling;

/// Columns of the matrix.
uint32_t in_size(const Problem& p);
/// Rows of the matrix at hand, of which there may be more in other buffers.
uint32_t row_count(const Problem& p);
/// T of the product: 1 when x is a single row, whatever the step's tokens.
bool per_token(const Problem& p);
/// Parts of the columns that give a sum each: see SplitLinear.
uint32_t part_count(const Problem& p);
/// The constants that every product has.
std::vector<Constant> linear_sizes(const Problem& p, uint32_t threads);
/// The same of products that take one part of the columns at a time, of which there may be one.
std::vector<Constant> part_sizes(const Problem& p, uint32_t threads);
/// The text that receives its results two by two, and what it needs to know.
void add_ending(Launch& launch, const Problem& p);

/// Why a variant that loads eight weights at once does not take the matrix, or one for f16.
std::string wide_rows(const Problem& p);
std::string is_f16(const Problem& p);

/// The binding of an input: see shader_text().
inline uint32_t binding_of(size_t input) {
  return uint32_t(1 + input);
}

/// That many workgroups in rows of GRID_X, since a dimension ends at 65535.
void add_groups(Launch& launch, uint32_t groups);

/// The fewest lanes that a row of a matrix has.
inline constexpr uint32_t kMinLanes = 32;
/// Why a variant whose subgroups hold no more than a row's lanes does not take the device.
std::string wide_subgroups(const DeviceInfo& device);

/// Why products of bytes do not take the matrix.
std::string no_bytes(const Problem& p);
/// Why lane groups of a few lanes do not take rows in bytes: those of a whole subgroup are busy
/// enough.
std::string busies_wide_lane_groups(const Problem& p);

/// A way to compute a product, for every op that is one.
struct Way {
  std::string_view name;  // after op.wgsl.
  Features needs;
  std::string (*refuses)(const Problem&, const DeviceInfo&);
  Launch (*launch)(const Problem&, const DeviceInfo&);
  double rounding = 0;      // as in KernelVariant
  bool only_fused = false;  // for what FusedLinear alone has
};

/// The matrix-vector products, in the order of preference. By dot products of bytes where weights
/// have 4 or 8 bits: x' becomes whole numbers of 16 bits. f16 weights may be loaded as such: the
/// products stay in f32, so the numbers are those of the codec.
std::span<const Way> matvec_ways();

/// The product in that tiling; `codec` is that of its matrix.
Launch matvec(const Problem& p, UnitCodec codec, const Tiling& tiling);

/// Appends a variant of T for each way.
template <typename T>
void add_ways(std::vector<KernelVariant>& all, std::span<const Way> ways) {
  static std::deque<std::string> names;  // which the variants point to
  for (const Way& way : ways) {
    if (way.only_fused && !std::is_same_v<T, FusedLinear>) continue;
    // Both factors of what it gates are rounded.
    const double rounding = (std::is_same_v<T, LinearGlu> ? 2 : 1) * way.rounding;
    all.push_back({names.emplace_back(fmt::format("{}.wgsl.{}", T::kName, way.name)), op_index<T>(),
                   BackendKind::kWebGpu, way.needs, way.refuses, way.launch, nullptr, rounding});
  }
}

}  // namespace tokamak
