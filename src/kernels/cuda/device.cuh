// What of a kernel's text only a CUDA device has: its place in the grid, barriers, shuffles, atomics,
// conversions of f16, and how it is entered. All of PTX is here. tests/emulator has a second text of
// this name, for which a lane is a fiber of a processor.
#define DEVICE __device__ __forceinline__

namespace wgsl {

typedef unsigned int u32;
typedef int i32;
typedef float f32;
typedef unsigned short u16;

constexpr u32 kSubgroupLanes = 32;

DEVICE u32 workgroup(u32 axis) {
  return axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z;
}
DEVICE u32 lane_of_workgroup() { return threadIdx.x; }

DEVICE void sync_workgroup() { __syncthreads(); }
DEVICE u32 shuffle_xor(u32 value, u32 mask) { return __shfl_xor_sync(~0u, value, mask); }
DEVICE bool any_lane(bool value) { return __any_sync(~0u, value); }

DEVICE u32 atomic_add(u32* to, u32 value) { return ::atomicAdd(to, value); }
DEVICE i32 atomic_add(i32* to, i32 value) { return ::atomicAdd(to, value); }
DEVICE u32 atomic_min(u32* to, u32 value) { return ::atomicMin(to, value); }
DEVICE i32 atomic_min(i32* to, i32 value) { return ::atomicMin(to, value); }
DEVICE u32 atomic_max(u32* to, u32 value) { return ::atomicMax(to, value); }
DEVICE i32 atomic_max(i32* to, i32 value) { return ::atomicMax(to, value); }

// To nearest, ties to even; back exactly.
DEVICE u16 f16_bits(f32 value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
DEVICE f32 f16_value(u16 bits) {
  f32 value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
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
DEVICE f32 log_of(f32 x) { return ::logf(x); }
DEVICE f32 tanh_of(f32 x) { return ::tanhf(x); }
DEVICE f32 inverse_sqrt_of(f32 x) { return ::rsqrtf(x); }
DEVICE f32 abs_of(f32 x) { return ::fabsf(x); }
DEVICE f32 min_of(f32 a, f32 b) { return ::fminf(a, b); }
DEVICE f32 max_of(f32 a, f32 b) { return ::fmaxf(a, b); }
DEVICE f32 nearest_even(f32 x) { return ::rintf(x); }

// The buffers of a launch, by their binding numbers, and their sizes as far as 32 bits go.
struct Bound {
  void* at[32];
  u32 bytes[32];
};

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
