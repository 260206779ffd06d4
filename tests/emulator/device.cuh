// What kernels/cuda/device.cuh is for a GPU, for a processor: a lane is a fiber (fibers.h), and the
// emulator that loads the kernel says through `machine` where it is and lets it wait for others.
#define DEVICE inline

namespace wgsl {

typedef unsigned int u32;
typedef int i32;
typedef float f32;
typedef unsigned short u16;
typedef unsigned long long u64;

constexpr u32 kSubgroupLanes = 32;

// Mirrors Machine of fibers.h.
struct Machine {
  u32 group[3], groups[3];
  u32 lane;
  void (*sync_workgroup)();
  u32 (*shuffle_xor)(u32 value, u32 mask);
  u32 (*any_lane)(u32 value);
  void (*await_inputs)();
  const void* (*bound)();
  void (*refuse)(const char* kernel, const char* array, u32 index, u32 count);
  void (*let_others_run)();
};

}  // namespace wgsl

extern "C" {
wgsl::Machine* machine;
extern const unsigned long emulator_version;
const unsigned long emulator_version = EMULATOR_VERSION;
}

namespace wgsl {

DEVICE u32 workgroup(u32 axis) { return machine->group[axis]; }
DEVICE u32 workgroups(u32 axis) { return machine->groups[axis]; }
DEVICE u32 lane_of_workgroup() { return machine->lane; }

DEVICE void await_inputs() { machine->await_inputs(); }
DEVICE void sync_workgroup() { machine->sync_workgroup(); }
DEVICE u32 shuffle_xor(u32 value, u32 mask) { return machine->shuffle_xor(value, mask); }
DEVICE bool any_lane(bool value) { return machine->any_lane(value) != 0; }

// Lanes take turns only where they wait: nothing comes in between.
template <class T>
DEVICE T exchanged(T* to, T value) {
  const T before = *to;
  *to = value;
  return before;
}
template <class T>
DEVICE T atomic_add(T* to, T value) { return exchanged(to, T(*to + value)); }
template <class T>
DEVICE T atomic_min(T* to, T value) { return exchanged(to, value < *to ? value : *to); }
template <class T>
DEVICE T atomic_max(T* to, T value) { return exchanged(to, value < *to ? *to : value); }

// Another rank is another thread, which has a device of its own.
DEVICE void signal_rank(u32* to, u32 turn) { __atomic_store_n(to, turn, __ATOMIC_RELEASE); }
DEVICE void await_rank(const u32* at, u32 turn) {
  while (i32(__atomic_load_n(at, __ATOMIC_ACQUIRE) - turn) < 0) machine->let_others_run();
}
DEVICE void put_rank(u32* to, u32 a, u32 b, u32 turn) {
  __atomic_store_n(reinterpret_cast<u64*>(to), a | u64(turn) << 32, __ATOMIC_RELAXED);
  __atomic_store_n(reinterpret_cast<u64*>(to) + 1, b | u64(turn) << 32, __ATOMIC_RELAXED);
}
DEVICE void take_rank(const u32* at, u32 turn, u32* values) {
  for (u32 i = 0; i < 2; ++i) {
    const u64* const half = reinterpret_cast<const u64*>(at) + i;
    u64 found = __atomic_load_n(half, __ATOMIC_RELAXED);
    for (; u32(found >> 32) != turn; found = __atomic_load_n(half, __ATOMIC_RELAXED)) machine->let_others_run();
    values[i] = u32(found);
  }
}

DEVICE u16 f16_bits(f32 value) { return __builtin_bit_cast(u16, _Float16(value)); }
DEVICE u32 f16_pair(f32 low, f32 high) { return f16_bits(low) | u32(f16_bits(high)) << 16; }
DEVICE f32 f16_value(u16 bits) { return f32(__builtin_bit_cast(_Float16, bits)); }

DEVICE u32 subtract_pairs(u32 a, u32 b) {
  return f16_pair(f16_value(u16(a)) - f16_value(u16(b)),
                  f16_value(u16(a >> 16)) - f16_value(u16(b >> 16)));
}
DEVICE u32 multiply_pairs(u32 a, u32 b) {
  return f16_pair(f16_value(u16(a)) * f16_value(u16(b)),
                  f16_value(u16(a >> 16)) * f16_value(u16(b >> 16)));
}

DEVICE u32 truncated_u32(f32 value) {
  return !(value > 0.0f) ? 0u : value >= 4294967296.0f ? ~0u : u32(value);
}
DEVICE i32 truncated_i32(f32 value) {
  if (value != value) return 0;
  return value <= -2147483648.0f ? -2147483647 - 1 : value >= 2147483648.0f ? 2147483647 : i32(value);
}

DEVICE i32 dot_bytes(u32 a, u32 b) {
  i32 sum = 0;
  for (u32 i = 0; i < 32; i += 8) sum += i32(static_cast<signed char>(a >> i)) * i32(static_cast<signed char>(b >> i));
  return sum;
}

DEVICE f32 exp_of(f32 x) { return __builtin_expf(x); }
DEVICE f32 exp2_of(f32 x) { return __builtin_exp2f(x); }
DEVICE f32 log_of(f32 x) { return __builtin_logf(x); }
DEVICE f32 tanh_of(f32 x) { return __builtin_tanhf(x); }
DEVICE f32 inverse_sqrt_of(f32 x) { return 1.0f / __builtin_sqrtf(x); }
DEVICE f32 abs_of(f32 x) { return __builtin_fabsf(x); }
DEVICE f32 min_of(f32 a, f32 b) { return __builtin_fminf(a, b); }
DEVICE f32 max_of(f32 a, f32 b) { return __builtin_fmaxf(a, b); }
DEVICE f32 nearest_even(f32 x) { return __builtin_rintf(x); }

// As in the device's text a lane has parts of matrices, but of its operands all that its sums need.
struct MatrixLeft {
  f32 rows[2][16];
};
struct MatrixRight {
  f32 columns[4][16];
};
struct MatrixResult {
  f32 sums[8];
};

DEVICE u32 result_row(u32 i) { return machine->lane % 32 / 4 + i / 2 % 2 * 8; }
DEVICE u32 result_column(u32 i) { return machine->lane % 4 * 2 + i / 4 * 8 + i % 2; }

// A device does not load rows that begin anywhere else.
DEVICE const u16* fragment_row(const unsigned char* from) {
  if (reinterpret_cast<unsigned long>(from) % 16 != 0) __builtin_trap();
  return reinterpret_cast<const u16*>(from);
}
DEVICE MatrixLeft load_left(const unsigned char* from, u32 stride) {
  MatrixLeft left;
  for (u32 r = 0; r < 2; ++r) {
    const u16* row = fragment_row(from + result_row(2 * r) * stride);
    for (u32 k = 0; k < 16; ++k) left.rows[r][k] = f16_value(row[k]);
  }
  return left;
}
DEVICE MatrixRight load_right_columns(const unsigned char* from, u32 stride) {
  MatrixRight right;
  for (u32 c = 0; c < 4; ++c) {
    const u16* column = fragment_row(from + result_column(c / 2 * 4 + c % 2) * stride);
    for (u32 k = 0; k < 16; ++k) right.columns[c][k] = f16_value(column[k]);
  }
  return right;
}
DEVICE MatrixRight load_right_rows(const unsigned char* from, u32 stride) {
  MatrixRight right;
  for (u32 k = 0; k < 16; ++k) {
    const u16* row = fragment_row(from + k * stride);
    for (u32 c = 0; c < 4; ++c) right.columns[c][k] = f16_value(row[result_column(c / 2 * 4 + c % 2)]);
  }
  return right;
}
DEVICE MatrixResult multiply_add(const MatrixLeft& left, const MatrixRight& right,
                                 MatrixResult result) {
  for (u32 i = 0; i < 8; ++i) {
    const f32* row = left.rows[i / 2 % 2];
    const f32* column = right.columns[i / 4 * 2 + i % 2];
    for (u32 k = 0; k < 16; ++k) result.sums[i] += row[k] * column[k];
  }
  return result;
}

// A lane has four of a row's elements, its three neighbours have the others.
DEVICE MatrixLeft left_of(const MatrixResult& result) {
  MatrixLeft left;
  for (u32 i = 0; i < 8; ++i) {
    for (u32 other = 0; other < 4; ++other) {
      const u32 bits = shuffle_xor(__builtin_bit_cast(u32, result.sums[i]), other);
      const u32 column = (machine->lane % 4 ^ other) * 2 + i / 4 * 8 + i % 2;
      left.rows[i / 2 % 2][column] = f16_value(f16_bits(__builtin_bit_cast(f32, bits)));
    }
  }
  return left;
}

struct Bound {
  void* at[32];
  u32 bytes[32];
};

// WebGPU holds each index below the length of its array. A device that runs CUDA does not: here a lane that
// leaves an array ends its launch, with a sentence that names the kernel and the array.
DEVICE void refuse(const char* array, u32 index, u32 count) {
  machine->refuse(__BASE_FILE__, array, index, count);
}
DEVICE constexpr void check_index(u32 index, u32 count) {
  if (index >= count) refuse("an array", index, count);
}
template <class T>
DEVICE void check_last_array(const T* first, u32 index) {
  const Bound& bound = *static_cast<const Bound*>(machine->bound());
  const auto* array = reinterpret_cast<const unsigned char*>(first);
  for (u32 i = 0; i < 32; ++i) {
    const auto* buffer = static_cast<const unsigned char*>(bound.at[i]);
    if (buffer == nullptr || array < buffer || array >= buffer + bound.bytes[i]) continue;
    const u32 count = (bound.bytes[i] - u32(array - buffer)) / u32(sizeof(T));
    if (index >= count) refuse("the end of a buffer", index, count);
    return;
  }
}

template <class T>
struct Buffer {
  T* first;
  u32 count;
  const char* name;
  DEVICE T& operator[](u32 i) const {
    if (i >= count) refuse(name, i, count);
    return first[i];
  }
};
template <class T>
DEVICE Buffer<T> buffer_at(const Bound& bound, u32 binding, const char* name) {
  return {static_cast<T*>(bound.at[binding]), bound.bytes[binding] / u32(sizeof(T)), name};
}
template <class T>
DEVICE T& value_at(const Bound& bound, u32 binding, const char* name) {
  // A buffer may end before what fills its last value up.
  if (bound.bytes[binding] + alignof(T) <= sizeof(T)) refuse(name, sizeof(T) - 1, bound.bytes[binding]);
  return *static_cast<T*>(bound.at[binding]);
}

}  // namespace wgsl

#define ENTRY(Kernel)                                                                       \
  extern "C" unsigned int launch_shape[2] = {Kernel::workgroup_lanes, sizeof(Kernel::Shared)}; \
  extern "C" void entry(const wgsl::Bound* bound, void* workgroup_memory) {                 \
    Kernel kernel(*static_cast<Kernel::Shared*>(workgroup_memory), *bound);                 \
    kernel.enter();                                                                         \
  }
