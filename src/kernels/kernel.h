// KernelVariant: one way to compute one op on one kind of device, as data.
//
// A variant declares what it needs; selection (select.h) reads the tables in order and keeps the
// reason for every variant it passes over. Nothing here knows a model.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bits.h"
#include "graph/graph.h"
#include "kernels/batch.h"

namespace tokamak {

enum class BackendKind : uint8_t { kCpu, kWebGpu, kCuda };
std::string_view backend_name(BackendKind kind);

/// A set of optional device features.
/// kFeatureSubgroupMatrix: the matrix units of a subgroup multiply fragments of 16 x 16 x 16, f16
/// into f32. kFeatureDot4: dot products of four bytes at once, a feature of the language.
/// kFeatureMatrixElements: a lane reads and writes its own elements of fragments (no WGSL has
/// that). kFeatureLibrary: a vendor's library multiplies matrices of bf16 (cuBLASLt).
/// kFeatureVectors: a processor whose kernels are for its vectors and all its cores; without it, it
/// is the reference. kFeatureBf16Tiles: a processor's units multiply tiles of bf16 (cpu/tiles.h).
enum Feature : uint32_t {
  kFeatureF16 = 1,
  kFeatureSubgroups = 2,
  kFeatureSubgroupMatrix = 4,
  kFeatureDot4 = 8,
  kFeatureLibrary = 16,
  kFeatureMatrixElements = 32,
  kFeatureVectors = 64,
  kFeatureBf16Tiles = 128,
};
using Features = uint32_t;
inline constexpr Features kAllFeatures = kFeatureF16 | kFeatureSubgroups | kFeatureSubgroupMatrix |
                                         kFeatureDot4 | kFeatureLibrary | kFeatureMatrixElements |
                                         kFeatureVectors | kFeatureBf16Tiles;
/// Rows and columns of the fragments that matrix units multiply.
inline constexpr uint32_t kMatrixSide = 16;
std::string features_text(Features features);  // "f16 subgroups", "none"

/// The defaults are what every WebGPU device grants.
struct DeviceLimits {
  uint32_t workgroup_threads = 256;
  uint32_t workgroup_bytes = 16384;
  uint32_t storage_buffers = 8;
  uint32_t grid_dimension = 65535;
  uint64_t binding_bytes = uint64_t{128} << 20;
  uint64_t buffer_bytes = uint64_t{256} << 20;
  bool operator==(const DeviceLimits&) const = default;
};

/// How much of a device there is. WebGPU tells none of it: see backend/webgpu/device_size.h.
struct DeviceSize {
  /// The units that run workgroups at the same time, each several of them: NVIDIA's SMs, AMD's
  /// compute units, Intel's Xe cores, Apple's GPU cores. Too many make launches of small
  /// workgroups, each of which repeats what all of them need; too few leave some idle.
  uint32_t multiprocessors = 64;
  uint64_t cache_bytes = 0;        // of the second level; 0: not known
  std::string source = "assumed";  // where the numbers come from
  bool operator==(const DeviceSize&) const = default;

  /// `each` workgroups for every multiprocessor, whose number is rounded down to a power of two:
  /// heads, splits and tiles come in such numbers, and 128 of them busy 132 multiprocessors.
  uint32_t groups(uint32_t each) const;
};

struct DeviceInfo {
  BackendKind backend = BackendKind::kCpu;
  std::string name;    // "NVIDIA H200", "llvmpipe (LLVM 19.1.7, 256 bits)"
  std::string driver;  // free text
  bool software = false;
  Features features = 0;
  uint32_t subgroup_min = 0, subgroup_max = 0;
  DeviceLimits limits;
  DeviceSize size;     // of each rank
  uint32_t ranks = 1;  // devices of this kind that run a model together (backend/group.h)
  bool operator==(const DeviceInfo&) const = default;

  /// A summary for people: 1: f16 and subgroups, 2: f16, 3: neither.
  uint32_t tier() const;
};

/// A weight that is too large for one buffer is cut by rows, and a step computes what depends on
/// its part: the matrix it is given begins at row `first` of `total`. Parts begin at even rows;
/// those of a matrix for several experts hold whole experts.
struct RowCut {
  uint32_t first = 0;
  uint32_t total = 0;  // 0: not cut
  bool operator==(const RowCut&) const = default;
};

/// One node as selection sees it. `max_tokens` bounds T, which counts the output rows where `x` is
/// made of those.
struct Problem {
  const Op* op = nullptr;
  std::vector<TensorDesc> inputs, outputs;
  uint32_t max_tokens = 1;
  RowCut cut = {};
  bool decodes = false;  // each row is the next token of another sequence

  template <typename T>
  const T& as() const {
    return std::get<T>(*op);
  }
};

/// How much a step runs: rows, which for kernels after last_row are its output rows, and slots.
struct StepSize {
  uint32_t rows = 1, slots = 1;
  bool operator==(const StepSize&) const = default;
};

/// `count` workgroups, or `count` for every `tokens_per_group` rows of the step.
struct Extent {
  uint32_t count = 1;
  uint32_t tokens_per_group = 0;
  /// Not across sequences: as many more as tile_of() of wgsl/sequences.wgsl may need, or without
  /// tokens_per_group `count` for every slot.
  bool per_slot = false;

  uint32_t at(const StepSize& size) const {
    if (tokens_per_group == 0) return per_slot ? count * size.slots : count;
    return count * (ceil_div(size.rows, tokens_per_group) + (per_slot ? size.slots - 1 : 0));
  }
  bool operator==(const Extent&) const = default;
};

struct Grid {
  Extent x, y, z;
  bool operator==(const Grid&) const = default;
};

struct Constant {
  std::string name;
  std::variant<uint32_t, float> value;
  bool operator==(const Constant&) const = default;
};

/// How a variant runs a problem on a device: its text is the constants followed by the sources.
struct Launch {
  std::vector<Constant> constants;
  std::vector<std::string> sources;  // names of embedded files, see sources.h
  Grid grid;
  std::vector<uint32_t> rebound_inputs = {};  // inputs that are bound once more, after the outputs
  /// The kernel makes the batch that of the next step: it has wgsl/next_batch.wgsl at binding 0.
  bool writes_batch = false;
  /// There is no text: the backend has its library compute it.
  bool calls_library = false;
  /// Not 0: the number of ranks that meet in it. It is bound to its own meeting, then to the first
  /// input of every rank, then to the meeting of each (collective/collective.h).
  uint32_t ranks = 0;
  bool operator==(const Launch&) const = default;
};

class ThreadPool;
struct PanelLayout;

/// An operand as the CPU sees it; `dims` has T replaced by the step's rows. Of states and page
/// tables `data` is that of the first slot.
struct CpuTensor {
  std::byte* data = nullptr;
  DType dtype = DType::kF32;
  std::vector<uint32_t> dims;
  const PanelLayout* panels = nullptr;  // of a packed matrix that lies in panels (cpu/panels.h)

  /// The tensor of that slot.
  CpuTensor of_slot(uint32_t index) const;
  std::span<float> f32() const;
  std::span<uint32_t> u32() const;
  /// Element i as f32, whatever the type. REQUIRES: not packed.
  float load(size_t i) const;
  /// Element i becomes `value`. REQUIRES: f32, f16 or bf16.
  void store(size_t i, float value) const;
  /// Row `row` of a matrix as f32, whatever the type. `out` has a row's length.
  void load_row(size_t row, std::span<float> out) const;
};

struct CpuCall {
  const Op* op = nullptr;
  std::vector<CpuTensor> inputs, outputs;
  BatchView batch;
  uint32_t max_rows = 1;                                   // of the phase
  std::span<const std::span<const CpuTensor>> ranks = {};  // that meet in the op: inputs of each
  ThreadPool* pool = nullptr;                              // of kernels for vectors

  template <typename T>
  const T& as() const {
    return std::get<T>(*op);
  }
};

struct KernelVariant {
  std::string_view name;  // op.language[.trait]
  size_t op = 0;          // op_index<T>()
  BackendKind backend = BackendKind::kWebGpu;
  Features needs = 0;
  /// Why this variant does not take the problem on that device; "" if it does. Null: takes all.
  std::string (*refuses)(const Problem&, const DeviceInfo&) = nullptr;
  Launch (*launch)(const Problem&, const DeviceInfo&) = nullptr;  // WGSL and CUDA
  void (*run)(const CpuCall&) = nullptr;                          // CPU
  /// How far, relatively, the kernel rounds operands that the reference takes as they are: what
  /// tests allow beside the error of sums in f32.
  double rounding = 0;
};

/// The error of an f32 that becomes an f16.
inline constexpr double kF16Rounding = 0x1p-11;
/// The error of an f32 that becomes a multiple of 1/32512 of the largest of its neighbours, which
/// is some four times as large as it is itself; see linear/staging/bytes.wgsl.
inline constexpr double kStepRounding = 4 * 0.5 / 32512;

}  // namespace tokamak
