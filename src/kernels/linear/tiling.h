// How products of one token are divided among lanes: see matvec.wgsl.
#pragma once
#include <optional>

#include "kernels/linear/matvec.h"
#include "kernels/quant/codec.h"

namespace tokamak {

/// The product for one token that others are fused to; null for others.
const FusedLinear* fused_part(const Op& op);
bool takes_argmax(const Problem& p);
bool merges_splits(const Problem& p);
/// Whether x' is x, gated or not, as it is.
bool has_plain_x(const Problem& p);

/// Who adds up what the lanes of a lane group have: reduction/*.wgsl.
enum class Reduction : uint8_t { kMemory, kSubgroups, kShuffles, kNarrow };

/// `rounds` are the units of a row that a lane takes at once.
struct Tiling {
  Reduction reduction = Reduction::kSubgroups;
  uint32_t threads = 256;
  uint32_t lanes = kMinLanes;
  uint32_t block = 1;
  uint32_t rounds = 1;
  uint32_t group_rows = 8;
  uint32_t repeats = 1;
  bool ahead = false;  // whether the next iteration's weights are loaded before this one's are used
  bool in_registers = false;  // whether x' stays in registers: staging/registers.wgsl
  bool has_32 = false;  // whether narrow lane groups, too, are only where subgroups have 32 lanes

  uint32_t iteration_rows() const { return threads / lanes * block; }
  /// Whether lanes of a second product have a unit of several rows, by shuffles, not all of one.
  bool has_lane_groups() const {
    return reduction == Reduction::kShuffles || reduction == Reduction::kNarrow;
  }
  /// Whether four rows of a lane group can be added up together (reduction/four.wgsl): gate and up
  /// of 2048 columns in bytes become faster by it, by 2.5 % of a token on an H200; others up to 2 %
  /// slower (docs/history/performance.md).
  bool can_reduce_four(const UnitCodec& codec) const {
    return codec.in_bytes && reduction == Reduction::kShuffles && lanes == kMinLanes &&
           block == 4 && rounds <= 2;
  }
  /// Columns of a second product that a workgroup has: of two rows one.
  uint32_t slice() const { return repeats * group_rows / 2; }
};

/// Rows of floats from which on a lane group takes two at once.
inline constexpr uint32_t kRowsPerBlock = 8192;
/// Columns of which a workgroup keeps x' at once, in bytes and in floats.
inline constexpr uint32_t kByteColumns = 4096, kFloatColumns = 2048;

/// The texts, constants and bindings of matvec.wgsl that follow from the tiling; `columns` are
/// those of x'.
void add_product(Launch& launch, const Problem& p, const UnitCodec& codec, const Tiling& tiling,
                 uint32_t columns, bool reduces_four);

/// The tiling measured on an H200 (docs/history/performance.md): a row for each subgroup of 32
/// lanes, some eight loads in flight in a lane, a row in one chunk where it fits, and as many rows
/// for a workgroup as leave workgroups enough, but not many more, since each makes x' for itself.
Tiling matvec_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                     Reduction reduction);

/// The same with as many lanes as give each multiprocessor one workgroup; nothing where it is not
/// so that some would have two and others one.
std::optional<Tiling> even_tiling(const Problem& p, const DeviceInfo& device,
                                  const UnitCodec& codec, Reduction reduction);

/// For products in bytes whose x' takes long: one workgroup for each multiprocessor makes it.
Tiling even_bytes_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec);

inline constexpr uint32_t kManyLanes = 512, kMaxLanes = 640;
/// Workgroup memory for it: x' of 8192 columns in bytes, with its steps, and sums.
inline constexpr uint32_t kManyLanesBytes = 24 << 10;
/// For products in bytes that wait for their x' more than for weights: more lanes make it.
Tiling many_lanes_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec);

/// Columns of which the lanes of a workgroup have registers for x'.
inline constexpr uint32_t kRegisterColumns = 8192;
/// For long rows in floats, all of whose x' stays in registers: two or four of them for a
/// workgroup, so that some four workgroups for each multiprocessor share few rows.
Tiling register_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                       Reduction reduction);

inline constexpr uint32_t kNarrowLanes = 8;
/// A number of rows that leaves workgroups enough, though each takes more of them.
inline constexpr uint32_t kManyRows = 8192;
/// For matrices whose rows would leave lanes of a wide lane group idle.
Tiling narrow_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec);

/// The lanes of a lane group that have a unit each of a second product's row, and registers for as
/// many rows; columns of its matrix that a workgroup has at most, where it keeps them in floats.
inline constexpr uint32_t kMaxGroupLanes = 8, kMaxSlice = 512;
/// For a product that a second one follows, whose rows have units of `unit` columns: one workgroup
/// for each multiprocessor, or for all cores of a processor four, each with whole units.
/// `kind` says who adds up rows, and how many lanes there are.
Tiling gated_ffn_tiling(const Problem& p, const DeviceInfo& device, const UnitCodec& codec,
                        const Tiling& kind, uint32_t unit);

/// Columns whose x' a workgroup of a software device makes and keeps at once.
inline constexpr uint32_t kSoftwareColumns = 2048;
/// The tiling measured on two cores (docs/history/performance.md): few workgroups, since each makes
/// x', of a single lane group, since lanes take turns on a core.
Tiling software_tiling(const Problem& p, const UnitCodec& codec);

}  // namespace tokamak
