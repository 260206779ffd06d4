// The language of the kernels in C++: vectors, arrays, and the functions that WGSL brings. What only
// a device has is in device.cuh, which comes first.
namespace wgsl {

struct f16 {
  u16 bits;
};

template <class T, class From>
struct Conversion {
  static DEVICE constexpr T of(From value) { return static_cast<T>(value); }
};
template <>
struct Conversion<u32, f32> {
  static DEVICE u32 of(f32 value) { return truncated_u32(value); }
};
template <>
struct Conversion<i32, f32> {
  static DEVICE i32 of(f32 value) { return truncated_i32(value); }
};
template <>
struct Conversion<f16, f32> {
  static DEVICE f16 of(f32 value) { return {f16_bits(value)}; }
};
template <>
struct Conversion<f32, f16> {
  static DEVICE f32 of(f16 value) { return f16_value(value.bits); }
};
template <class T, class From>
DEVICE constexpr T to(From value) {
  return Conversion<T, From>::of(value);
}

// A component by its number. Of what is only read, no address is taken: it can stay in registers.
#define COMPONENTS(count, last)               \
  DEVICE constexpr T& operator[](u32 i) & {   \
    check_index(i, count);                    \
    return (&x)[i];                           \
  }                                           \
  DEVICE constexpr T operator[](u32 i) const& { \
    check_index(i, count);                    \
    return last;                              \
  }                                           \
  DEVICE constexpr T operator[](u32 i) && {   \
    check_index(i, count);                    \
    return last;                              \
  }

template <class T>
struct alignas(2 * sizeof(T)) vec2 {
  T x, y;
  DEVICE constexpr vec2() : x(), y() {}
  DEVICE constexpr explicit vec2(T all) : x(all), y(all) {}
  DEVICE constexpr vec2(T x_, T y_) : x(x_), y(y_) {}
  template <class From>
  DEVICE constexpr explicit vec2(vec2<From> v) : x(to<T>(v.x)), y(to<T>(v.y)) {}
  COMPONENTS(2, i == 0 ? x : y)
};

template <class T>
struct alignas(4 * sizeof(T)) vec3 {
  T x, y, z;
  DEVICE constexpr vec3() : x(), y(), z() {}
  DEVICE constexpr explicit vec3(T all) : x(all), y(all), z(all) {}
  DEVICE constexpr vec3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  DEVICE constexpr vec3(vec2<T> a, T z_) : x(a.x), y(a.y), z(z_) {}
  template <class From>
  DEVICE constexpr explicit vec3(vec3<From> v) : x(to<T>(v.x)), y(to<T>(v.y)), z(to<T>(v.z)) {}
  DEVICE constexpr vec2<T> xy() const { return {x, y}; }
  COMPONENTS(3, i == 0 ? x : i == 1 ? y : z)
};

template <class T>
struct alignas(4 * sizeof(T)) vec4 {
  T x, y, z, w;
  DEVICE constexpr vec4() : x(), y(), z(), w() {}
  DEVICE constexpr explicit vec4(T all) : x(all), y(all), z(all), w(all) {}
  DEVICE constexpr vec4(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}
  DEVICE constexpr vec4(vec2<T> a, vec2<T> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
  template <class From>
  DEVICE constexpr explicit vec4(vec4<From> v)
      : x(to<T>(v.x)), y(to<T>(v.y)), z(to<T>(v.z)), w(to<T>(v.w)) {}
  DEVICE constexpr vec2<T> xy() const { return {x, y}; }
  DEVICE constexpr vec2<T> zw() const { return {z, w}; }
  DEVICE constexpr vec2<T> xz() const { return {x, z}; }
  DEVICE constexpr vec2<T> yw() const { return {y, w}; }
  COMPONENTS(4, i == 0 ? x : i == 1 ? y : i == 2 ? z : w)
};

// An operator between vectors, its result a vector of `R`.
#define BETWEEN_VECTORS(sign, R)                                                               \
  template <class T>                                                                           \
  DEVICE constexpr vec2<R> operator sign(vec2<T> a, vec2<T> b) {                               \
    return {R(a.x sign b.x), R(a.y sign b.y)};                                                 \
  }                                                                                            \
  template <class T>                                                                           \
  DEVICE constexpr vec3<R> operator sign(vec3<T> a, vec3<T> b) {                               \
    return {R(a.x sign b.x), R(a.y sign b.y), R(a.z sign b.z)};                                \
  }                                                                                            \
  template <class T>                                                                           \
  DEVICE constexpr vec4<R> operator sign(vec4<T> a, vec4<T> b) {                               \
    return {R(a.x sign b.x), R(a.y sign b.y), R(a.z sign b.z), R(a.w sign b.w)};               \
  }
// Also with a number on one side, and as an assignment.
#define ARITHMETIC(sign)                                                                       \
  BETWEEN_VECTORS(sign, T)                                                                     \
  template <template <class> class Vec, class T>                                               \
  DEVICE constexpr Vec<T> operator sign(Vec<T> a, T b) {                                       \
    return a sign Vec<T>(b);                                                                   \
  }                                                                                            \
  template <template <class> class Vec, class T>                                               \
  DEVICE constexpr Vec<T> operator sign(T a, Vec<T> b) {                                       \
    return Vec<T>(a) sign b;                                                                   \
  }                                                                                            \
  template <template <class> class Vec, class T, class B>                                      \
  DEVICE constexpr Vec<T>& operator sign##=(Vec<T>& a, B b) {                                  \
    return a = a sign b;                                                                       \
  }
ARITHMETIC(+)
ARITHMETIC(-)
ARITHMETIC(*)
ARITHMETIC(/)
ARITHMETIC(%)
ARITHMETIC(&)
ARITHMETIC(|)
ARITHMETIC(^)
BETWEEN_VECTORS(<, bool)
BETWEEN_VECTORS(>, bool)
BETWEEN_VECTORS(<=, bool)
BETWEEN_VECTORS(>=, bool)
BETWEEN_VECTORS(==, bool)
BETWEEN_VECTORS(!=, bool)
template <class T>
DEVICE constexpr vec2<T> operator-(vec2<T> a) {
  return {-a.x, -a.y};
}
template <class T>
DEVICE constexpr vec4<T> operator-(vec4<T> a) {
  return {-a.x, -a.y, -a.z, -a.w};
}

// Only the lower five bits of the right side count. In C++ more are undefined.
template <class T>
DEVICE constexpr T shift_left(T a, u32 bits) {
  return T(a << (bits & 31u));
}
template <class T>
DEVICE constexpr T shift_right(T a, u32 bits) {
  return T(a >> (bits & 31u));
}
#define SHIFT(name)                                                               \
  template <class T>                                                              \
  DEVICE constexpr vec2<T> name(vec2<T> a, vec2<u32> b) {                         \
    return {name(a.x, b.x), name(a.y, b.y)};                                      \
  }                                                                               \
  template <class T>                                                              \
  DEVICE constexpr vec4<T> name(vec4<T> a, vec4<u32> b) {                         \
    return {name(a.x, b.x), name(a.y, b.y), name(a.z, b.z), name(a.w, b.w)};      \
  }
SHIFT(shift_left)
SHIFT(shift_right)

template <class T, u32 N = 0>
struct array {
  T items[N];
  DEVICE constexpr array() : items() {}
  template <class... More>
  DEVICE constexpr explicit array(T first, More... more) : items{first, more...} {}
  DEVICE constexpr T& operator[](u32 i) {
    check_index(i, N);
    return items[i];
  }
  DEVICE constexpr const T& operator[](u32 i) const {
    check_index(i, N);
    return items[i];
  }
};
template <class T, class... More>
array(T, More...) -> array<T, 1 + sizeof...(More)>;
// The end of a buffer, of any length.
template <class T>
struct array<T, 0> {
  T first;
  DEVICE T& operator[](u32 i) {
    check_last_array(&first, i);
    return (&first)[i];
  }
  DEVICE const T& operator[](u32 i) const {
    check_last_array(&first, i);
    return (&first)[i];
  }
};

template <class T>
struct atomic {
  T value;
};
template <class T>
DEVICE T atomicLoad(atomic<T>& from) {
  return *static_cast<volatile T*>(&from.value);
}
template <class T>
DEVICE void atomicStore(atomic<T>& to, T value) {
  *static_cast<volatile T*>(&to.value) = value;
}
template <class T>
DEVICE T atomicAdd(atomic<T>& to, T value) {
  return atomic_add(&to.value, value);
}
template <class T>
DEVICE T atomicMin(atomic<T>& to, T value) {
  return atomic_min(&to.value, value);
}
template <class T>
DEVICE T atomicMax(atomic<T>& to, T value) {
  return atomic_max(&to.value, value);
}

template <class T, class From>
DEVICE constexpr T bitcast(From value) {
  return __builtin_bit_cast(T, value);
}

// Pairs of f16 are converted, subtracted and multiplied at once.
template <>
template <>
DEVICE vec2<f16>::vec2(vec2<f32> v) : vec2(bitcast<vec2<f16>>(f16_pair(v.x, v.y))) {}
template <>
template <>
DEVICE vec4<f16>::vec4(vec4<f32> v)
    : vec4(bitcast<vec4<f16>>(vec2<u32>(f16_pair(v.x, v.y), f16_pair(v.z, v.w)))) {}
DEVICE vec2<f16> operator-(vec2<f16> a, vec2<f16> b) {
  return bitcast<vec2<f16>>(subtract_pairs(bitcast<u32>(a), bitcast<u32>(b)));
}
DEVICE vec2<f16> operator*(vec2<f16> a, vec2<f16> b) {
  return bitcast<vec2<f16>>(multiply_pairs(bitcast<u32>(a), bitcast<u32>(b)));
}

template <class T>
DEVICE constexpr T select(T no, T yes, bool which) {
  return which ? yes : no;
}
template <class T>
DEVICE constexpr vec2<T> select(vec2<T> no, vec2<T> yes, vec2<bool> which) {
  return {which.x ? yes.x : no.x, which.y ? yes.y : no.y};
}
template <class T>
DEVICE constexpr vec4<T> select(vec4<T> no, vec4<T> yes, vec4<bool> which) {
  return {which.x ? yes.x : no.x, which.y ? yes.y : no.y, which.z ? yes.z : no.z,
          which.w ? yes.w : no.w};
}
DEVICE constexpr bool any(vec2<bool> v) { return v.x || v.y; }
DEVICE constexpr bool any(vec4<bool> v) { return v.x || v.y || v.z || v.w; }

DEVICE constexpr u32 min(u32 a, u32 b) { return a < b ? a : b; }
DEVICE constexpr u32 max(u32 a, u32 b) { return a < b ? b : a; }
DEVICE constexpr i32 min(i32 a, i32 b) { return a < b ? a : b; }
DEVICE constexpr i32 max(i32 a, i32 b) { return a < b ? b : a; }
DEVICE f32 min(f32 a, f32 b) { return min_of(a, b); }
DEVICE f32 max(f32 a, f32 b) { return max_of(a, b); }
DEVICE i32 abs(i32 a) { return a < 0 ? -a : a; }
DEVICE f32 abs(f32 a) { return abs_of(a); }
DEVICE f32 exp(f32 a) { return exp_of(a); }
DEVICE f32 exp2(f32 a) { return exp2_of(a); }
DEVICE f32 log(f32 a) { return log_of(a); }
DEVICE f32 tanh(f32 a) { return tanh_of(a); }
DEVICE f32 inverseSqrt(f32 a) { return inverse_sqrt_of(a); }
DEVICE f32 round(f32 a) { return nearest_even(a); }

// Of vectors, component by component.
#define FOR_EACH(name)                                                          \
  template <class T>                                                            \
  DEVICE vec2<T> name(vec2<T> a) {                                              \
    return {name(a.x), name(a.y)};                                              \
  }                                                                             \
  template <class T>                                                            \
  DEVICE vec4<T> name(vec4<T> a) {                                              \
    return {name(a.x), name(a.y), name(a.z), name(a.w)};                        \
  }
#define FOR_EACH_PAIR(name)                                                     \
  template <class T>                                                            \
  DEVICE vec2<T> name(vec2<T> a, vec2<T> b) {                                   \
    return {name(a.x, b.x), name(a.y, b.y)};                                    \
  }                                                                             \
  template <class T>                                                            \
  DEVICE vec4<T> name(vec4<T> a, vec4<T> b) {                                   \
    return {name(a.x, b.x), name(a.y, b.y), name(a.z, b.z), name(a.w, b.w)};    \
  }
FOR_EACH(abs)
FOR_EACH(exp)
FOR_EACH(tanh)
FOR_EACH(round)
FOR_EACH_PAIR(min)
FOR_EACH_PAIR(max)
template <class T>
DEVICE T clamp(T value, T low, T high) {
  return min(max(value, low), high);
}

template <class T>
DEVICE constexpr T dot(vec2<T> a, vec2<T> b) {
  return a.x * b.x + a.y * b.y;
}
template <class T>
DEVICE constexpr T dot(vec4<T> a, vec4<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
DEVICE i32 dot4I8Packed(u32 a, u32 b) { return dot_bytes(a, b); }

// Four columns.
struct mat4x4 {
  vec4<f32> a, b, c, d;
  DEVICE mat4x4(vec4<f32> a_, vec4<f32> b_, vec4<f32> c_, vec4<f32> d_)
      : a(a_), b(b_), c(c_), d(d_) {}
};
DEVICE vec4<f32> operator*(const mat4x4& m, vec4<f32> v) {
  return m.a * v.x + m.b * v.y + m.c * v.z + m.d * v.w;
}

DEVICE u32 pack2x16float(vec2<f32> v) { return f16_pair(v.x, v.y); }
DEVICE vec2<f32> unpack2x16float(u32 bits) {
  return {f16_value(u16(bits & 0xffffu)), f16_value(u16(bits >> 16))};
}

// The lower bytes of four numbers.
DEVICE u32 pack4xI8(vec4<i32> v) {
  const vec4<u32> bytes = vec4<u32>(v) & 0xffu;
  return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}

// How many elements the buffer at that binding has.
template <class T>
DEVICE u32 length_of(const Bound& bound, u32 binding) {
  return bound.bytes[binding] / u32(sizeof(T));
}

DEVICE vec3<u32> num_workgroups() { return {workgroups(0), workgroups(1), workgroups(2)}; }
DEVICE vec3<u32> workgroup_id() { return {workgroup(0), workgroup(1), workgroup(2)}; }
DEVICE u32 local_invocation_index() { return lane_of_workgroup(); }
DEVICE u32 subgroup_id() { return lane_of_workgroup() / kSubgroupLanes; }
DEVICE u32 subgroup_invocation_id() { return lane_of_workgroup() % kSubgroupLanes; }
DEVICE u32 subgroup_size() { return kSubgroupLanes; }

// Buffers of neighbouring binding numbers.
template <class T, u32 kCount>
struct Buffers {
  const Bound& bound;
  u32 first;
  const char* name;

  DEVICE Buffer<T> operator[](u32 i) const {
    check_index(i, kCount);
    return buffer_at<T>(bound, first + i, name);
  }
};
template <class T, u32 kCount>
DEVICE Buffers<T, kCount> buffers_at(const Bound& bound, u32 first, const char* name) {
  return {bound, first, name};
}

// The language has no way to wait for another device. What was written before `to` became `turn` can be read after
// `at` has come to it.
DEVICE void signalRank(atomic<u32>& to, u32 turn) { signal_rank(&to.value, turn); }
DEVICE void awaitRank(atomic<u32>& at, u32 turn) { await_rank(&at.value, turn); }
// Two values with their turn, in four words from `to` on: who finds the turn has the values.
DEVICE void putRank(atomic<u32>& to, vec2<f32> values, u32 turn) {
  put_rank(&to.value, bitcast<u32>(values.x), bitcast<u32>(values.y), turn);
}
DEVICE vec2<f32> takeRank(atomic<u32>& at, u32 turn) {
  u32 values[2];
  take_rank(&at.value, turn, values);
  return {bitcast<f32>(values[0]), bitcast<f32>(values[1])};
}

DEVICE void workgroupBarrier() { sync_workgroup(); }
DEVICE void storageBarrier() { sync_workgroup(); }
template <class T>
DEVICE T workgroupUniformLoad(T& from) {
  sync_workgroup();
  const T value = from;
  sync_workgroup();
  return value;
}

template <class T>
DEVICE T subgroupShuffleXor(T value, u32 mask) {
  return bitcast<T>(shuffle_xor(bitcast<u32>(value), mask));
}
template <class T>
DEVICE vec2<T> subgroupShuffleXor(vec2<T> v, u32 mask) {
  return {subgroupShuffleXor(v.x, mask), subgroupShuffleXor(v.y, mask)};
}
template <class T>
DEVICE vec4<T> subgroupShuffleXor(vec4<T> v, u32 mask) {
  return {subgroupShuffleXor(v.x, mask), subgroupShuffleXor(v.y, mask),
          subgroupShuffleXor(v.z, mask), subgroupShuffleXor(v.w, mask)};
}
// Every lane adds in the same order, so that all have the same bits.
template <class T>
DEVICE T subgroupAdd(T value) {
  for (u32 mask = 1; mask < kSubgroupLanes; mask *= 2) value += subgroupShuffleXor(value, mask);
  return value;
}
template <class T>
DEVICE T subgroupMax(T value) {
  for (u32 mask = 1; mask < kSubgroupLanes; mask *= 2) {
    value = max(value, subgroupShuffleXor(value, mask));
  }
  return value;
}
template <class T>
DEVICE T subgroupMin(T value) {
  for (u32 mask = 1; mask < kSubgroupLanes; mask *= 2) {
    value = min(value, subgroupShuffleXor(value, mask));
  }
  return value;
}
DEVICE bool subgroupAny(bool value) { return any_lane(value); }

// Fragments that a subgroup's matrix unit multiplies, of the one size that kernels ask for.
enum MatrixOrder { row_major, col_major };

template <class T, u32 Columns, u32 Rows>
struct subgroup_matrix_left;
template <class T, u32 Columns, u32 Rows>
struct subgroup_matrix_right;
template <class T, u32 Columns, u32 Rows>
struct subgroup_matrix_result;

template <>
struct subgroup_matrix_left<f16, 16, 16> {
  static constexpr u32 element_bytes = sizeof(f16);
  MatrixLeft own;
  template <MatrixOrder order>
  static DEVICE subgroup_matrix_left loaded(const unsigned char* from, u32 stride) {
    static_assert(order == row_major);
    return {load_left(from, stride)};
  }
};
template <>
struct subgroup_matrix_right<f16, 16, 16> {
  static constexpr u32 element_bytes = sizeof(f16);
  MatrixRight own;
  template <MatrixOrder order>
  static DEVICE subgroup_matrix_right loaded(const unsigned char* from, u32 stride) {
    if constexpr (order == row_major) return {load_right_rows(from, stride)};
    return {load_right_columns(from, stride)};
  }
};
template <>
struct subgroup_matrix_result<f32, 16, 16> {
  static constexpr u32 element_bytes = sizeof(f32);
  MatrixResult own;
  // One of the lane's eight elements; subgroupMatrixRow() and subgroupMatrixColumn() say where it is.
  DEVICE f32& operator[](u32 i) {
    check_index(i, 8);
    return own.sums[i];
  }
  DEVICE f32 operator[](u32 i) const {
    check_index(i, 8);
    return own.sums[i];
  }
  template <MatrixOrder order>
  static DEVICE subgroup_matrix_result loaded(const unsigned char* from, u32 stride) {
    static_assert(order == row_major);
    subgroup_matrix_result result;
    for (u32 i = 0; i < 8; i += 2) {
      const unsigned char* at = from + result_row(i) * stride + result_column(i) * sizeof(f32);
      const vec2<f32> pair = *reinterpret_cast<const vec2<f32>*>(at);
      result.own.sums[i] = pair.x;
      result.own.sums[i + 1] = pair.y;
    }
    return result;
  }
};

// Offsets and strides count elements of the array that the matrix lies in: the last byte of its last row is there.
template <class Matrix, class T, u32 N>
DEVICE void check_matrix(const array<T, N>&, u32 offset, u32 stride) {
  check_index((offset + 15 * stride) * u32(sizeof(T)) + 16 * Matrix::element_bytes - 1, N * u32(sizeof(T)));
}
template <class Matrix, MatrixOrder order, class T, u32 N>
DEVICE Matrix subgroupMatrixLoad(const array<T, N>& from, u32 offset, u32 stride) {
  check_matrix<Matrix>(from, offset, stride);
  return Matrix::template loaded<order>(
      reinterpret_cast<const unsigned char*>(from.items + offset), stride * u32(sizeof(T)));
}
template <MatrixOrder order, class T, u32 N>
DEVICE void subgroupMatrixStore(array<T, N>& to, u32 offset,
                                const subgroup_matrix_result<f32, 16, 16>& matrix, u32 stride) {
  static_assert(order == row_major);
  check_matrix<subgroup_matrix_result<f32, 16, 16>>(to, offset, stride);
  auto* first = reinterpret_cast<unsigned char*>(to.items + offset);
  for (u32 i = 0; i < 8; i += 2) {
    auto* at = first + result_row(i) * stride * u32(sizeof(T)) + result_column(i) * sizeof(f32);
    *reinterpret_cast<vec2<f32>*>(at) = {matrix.own.sums[i], matrix.own.sums[i + 1]};
  }
}
DEVICE subgroup_matrix_result<f32, 16, 16> subgroupMatrixMultiplyAccumulate(
    const subgroup_matrix_left<f16, 16, 16>& left, const subgroup_matrix_right<f16, 16, 16>& right,
    const subgroup_matrix_result<f32, 16, 16>& sum) {
  return {multiply_add(left.own, right.own, sum.own)};
}

// What no WGSL has: where in a result the lane's i-th element is, and a result as the left side of a
// product, rounded to f16.
DEVICE u32 subgroupMatrixRow(u32 i) { return result_row(i); }
DEVICE u32 subgroupMatrixColumn(u32 i) { return result_column(i); }
DEVICE subgroup_matrix_left<f16, 16, 16> subgroupMatrixLeft(
    const subgroup_matrix_result<f32, 16, 16>& result) {
  return {left_of(result.own)};
}

}  // namespace wgsl
