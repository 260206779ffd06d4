// What of a kernel's text only a CUDA device has: its place in the grid, barriers, shuffles, atomics,
// conversions of f16, and how it is entered. All of PTX is here. ARCHITECTURE is 90 for sm_90. tests/emulator has a second text of
// this name, for which a lane is a fiber of a processor.
#define DEVICE __device__ __forceinline__

namespace wgsl {

typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef float f32;
typedef unsigned short u16;

constexpr u32 kSubgroupLanes = 32;

DEVICE u32 workgroup(u32 axis) {
  return axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z;
}
DEVICE u32 workgroups(u32 axis) { return axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z; }
DEVICE u32 lane_of_workgroup() { return threadIdx.x; }

// A launch may begin while the one before it ends: what that writes may be read, and what it reads
// be written, from here on only. Then the next one may begin.
DEVICE void await_inputs() {
  if constexpr (ARCHITECTURE >= 90) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
  }
}

DEVICE void sync_workgroup() { __syncthreads(); }
DEVICE u32 shuffle_xor(u32 value, u32 mask) { return __shfl_xor_sync(~0u, value, mask); }
DEVICE bool any_lane(bool value) { return __any_sync(~0u, value); }

DEVICE u32 atomic_add(u32* to, u32 value) { return ::atomicAdd(to, value); }
DEVICE i32 atomic_add(i32* to, i32 value) { return ::atomicAdd(to, value); }
DEVICE u32 atomic_min(u32* to, u32 value) { return ::atomicMin(to, value); }
DEVICE i32 atomic_min(i32* to, i32 value) { return ::atomicMin(to, value); }
DEVICE u32 atomic_max(u32* to, u32 value) { return ::atomicMax(to, value); }
DEVICE i32 atomic_max(i32* to, i32 value) { return ::atomicMax(to, value); }

// Between devices: a release and an acquire. One that another device never gives ends the kernel as a fault does, after
// 20 seconds: nobody could end it otherwise.
DEVICE void signal_rank(u32* to, u32 turn) {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(turn) : "memory");
}
DEVICE u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
// Ends the kernel of a rank that has waited for another for 20 seconds.
DEVICE void end_if_lost(u64 begin) {
  if (nanoseconds() - begin > 20000000000ull) asm volatile("trap;");
}
DEVICE void await_rank(const u32* at, u32 turn) {
  for (const u64 begin = nanoseconds();; end_if_lost(begin)) {
    u32 now;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(at) : "memory");
    if (i32(now - turn) >= 0) return;
  }
}
// Each half of the 16 bytes arrives as a whole.
DEVICE void put_rank(u32* to, u32 a, u32 b, u32 turn) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to), "r"(a), "r"(turn), "r"(b) : "memory");
}
DEVICE void take_rank(const u32* at, u32 turn, u32* values) {
  for (const u64 begin = nanoseconds();; end_if_lost(begin)) {
    u32 first, second;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(values[0]), "=r"(first), "=r"(values[1]), "=r"(second)
                 : "l"(at)
                 : "memory");
    if (first == turn && second == turn) return;
  }
}

// To nearest, ties to even; back exactly.
DEVICE u16 f16_bits(f32 value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// Both in a word, the first in its lower half.
DEVICE u32 f16_pair(f32 low, f32 high) {
  if constexpr (ARCHITECTURE >= 80) {
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
  return f16_bits(low) | u32(f16_bits(high)) << 16;
}
DEVICE f32 f16_value(u16 bits) {
  f32 value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

// Both differences and both products of two pairs.
DEVICE u32 subtract_pairs(u32 a, u32 b) {
  u32 pair;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
  return pair;
}
DEVICE u32 multiply_pairs(u32 a, u32 b) {
  u32 pair;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
  return pair;
}

// Toward zero; what is beyond the type becomes its last number. C++ leaves that open.
DEVICE u32 truncated_u32(f32 value) {
  u32 number;
  asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(number) : "f"(value));
  return number;
}
DEVICE i32 truncated_i32(f32 value) {
  i32 number;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(number) : "f"(value));
  return number;
}

// The products of four signed bytes each, added up.
DEVICE i32 dot_bytes(u32 a, u32 b) {
  i32 sum;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(0));
  return sum;
}

DEVICE f32 exp_of(f32 x) { return ::expf(x); }
DEVICE f32 exp2_of(f32 x) {
  f32 power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
DEVICE f32 log_of(f32 x) { return ::logf(x); }
DEVICE f32 tanh_of(f32 x) { return ::tanhf(x); }
DEVICE f32 inverse_sqrt_of(f32 x) { return ::rsqrtf(x); }
DEVICE f32 abs_of(f32 x) { return ::fabsf(x); }
DEVICE f32 min_of(f32 a, f32 b) { return ::fminf(a, b); }
DEVICE f32 max_of(f32 a, f32 b) { return ::fmaxf(a, b); }
DEVICE f32 nearest_even(f32 x) { return ::rintf(x); }

// Fragments of 16 x 16 as mma.m16n8k16 has them: f16 in pairs, sums in f32. Of a left one a lane has
// columns of two rows, of a right one rows of two columns, of a result four columns of two rows.
struct MatrixLeft {
  u32 pairs[4];
};
struct MatrixRight {
  u32 pairs[4];
};
struct MatrixResult {
  f32 sums[8];
};

// Four matrices of 8 x 8: lanes 8 i to 8 i + 7 say where the rows of the i-th one are.
DEVICE void load_eights(u32 (&to)[4], const unsigned char* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(u32(__cvta_generic_to_shared(row)))
               : "memory");
}
DEVICE void load_transposed_eights(u32 (&to)[4], const unsigned char* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(u32(__cvta_generic_to_shared(row)))
               : "memory");
}

// From workgroup memory, `stride` bytes from row to row or, of a right one in the order of columns,
// from column to column; all begin at multiples of 16 bytes.
DEVICE MatrixLeft load_left(const unsigned char* from, u32 stride) {
  const u32 lane = threadIdx.x % 32;
  MatrixLeft left;
  load_eights(left.pairs, from + lane % 16 * stride + lane / 16 * 16);
  return left;
}
DEVICE MatrixRight load_right_columns(const unsigned char* from, u32 stride) {
  const u32 lane = threadIdx.x % 32;
  MatrixRight right;
  load_eights(right.pairs, from + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 16);
  return right;
}
DEVICE MatrixRight load_right_rows(const unsigned char* from, u32 stride) {
  const u32 lane = threadIdx.x % 32;
  MatrixRight right;
  load_transposed_eights(right.pairs, from + lane % 16 * stride + lane / 16 * 16);
  return right;
}

// The row and the column of a lane's i-th sum.
DEVICE u32 result_row(u32 i) { return threadIdx.x % 32 / 4 + i / 2 % 2 * 8; }
DEVICE u32 result_column(u32 i) { return threadIdx.x % 4 * 2 + i / 4 * 8 + i % 2; }

DEVICE void multiply_eights(f32* sums, const u32* left, const u32* right) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}
DEVICE MatrixResult multiply_add(const MatrixLeft& left, const MatrixRight& right,
                                 MatrixResult result) {
  multiply_eights(result.sums, left.pairs, right.pairs);
  multiply_eights(result.sums + 4, left.pairs, right.pairs + 2);
  return result;
}

// A lane has the same elements of both.
DEVICE MatrixLeft left_of(const MatrixResult& result) {
  MatrixLeft left;
  for (u32 i = 0; i < 4; ++i) {
    left.pairs[i] = f16_pair(result.sums[2 * i], result.sums[2 * i + 1]);
  }
  return left;
}

// The buffers of a launch, by their binding numbers, and their sizes as far as 32 bits go.
struct Bound {
  void* at[32];
  u32 bytes[32];
};

// A buffer that is an array, and one that is a value. The emulator's have bounds: the name is for its messages.
template <class T>
using Buffer = T*;
template <class T>
DEVICE Buffer<T> buffer_at(const Bound& bound, u32 binding, const char*) {
  return static_cast<T*>(bound.at[binding]);
}
template <class T>
DEVICE T& value_at(const Bound& bound, u32 binding, const char*) {
  return *static_cast<T*>(bound.at[binding]);
}
// The emulator refuses an index that is not below `count`, and one beyond the buffer whose end is an array.
DEVICE constexpr void check_index(u32, u32) {}
template <class T>
DEVICE void check_last_array(const T*, u32) {}

}  // namespace wgsl

// The host reads from `launch_shape` how many lanes a workgroup has, and how much memory of its own.
#define ENTRY(Kernel)                                                                             \
  extern "C" __constant__ unsigned int launch_shape[2] = {Kernel::workgroup_lanes,                \
                                                          sizeof(Kernel::Shared)};                \
  extern "C" __global__ void __launch_bounds__(Kernel::workgroup_lanes)                           \
      entry(const __grid_constant__ wgsl::Bound bound) {                                          \
    extern __shared__ __align__(16) unsigned char workgroup_memory[];                             \
    Kernel kernel(*reinterpret_cast<Kernel::Shared*>(workgroup_memory), bound);                   \
    kernel.enter();                                                                               \
  }
