// The results of translated texts, compared with WGSL's specification: the rules of kernels/cuda's
// writer and of wgsl.cuh, on the first CUDA device that there is (in these tests the emulator's).
// tools/mutate_translator breaks each of them and checks that something here fails.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/cuda/translated_runs.h"

namespace tokamak::cuda {
namespace {

constexpr uint32_t kMax = 0xffffffff;

/// Texts of one lane that puts number after number.
constexpr std::string_view kPut = R"(
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<private> next: u32;
fn put(value: u32) { y[next] = value; next += 1u; }
fn put_i(value: i32) { put(bitcast<u32>(value)); }
fn put_f(value: f32) { put(bitcast<u32>(value)); }
fn put_b(value: bool) { put(u32(value)); }
fn put_2(value: vec2<f32>) { put_f(value.x); put_f(value.y); }
fn put_4(value: vec4<f32>) { put_2(value.xy); put_2(value.zw); }
fn i(at: u32) -> i32 { return bitcast<i32>(x[at]); }
fn f(at: u32) -> f32 { return bitcast<f32>(x[at]); }
)";

void expect_words(const std::string& text, const std::vector<Word>& x,
                  const std::vector<Word>& expected, Grid workgroups = {}) {
  const auto words = words_of(text, x, expected.size(), workgroups);
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, expected);
}

/// Expects what `statements` put, with `more` beside their function.
void expect_put(const std::string& statements, const std::vector<Word>& x,
                const std::vector<Word>& expected, const std::string& more = "") {
  expect_words(
      fmt::format("{}{}@compute @workgroup_size(1) fn main() {{\n{}}}\n", kPut, more, statements),
      x, expected);
}

TEST(CudaTranslated, IntegersWrapAroundAndHaveASign) {
  expect_put(R"(
    put(x[0] - 8u); put(x[1] * x[1]); put_b(x[1] > x[0]); put_b(i(3) < 2);
    put_i(i(3) / 2); put_i(i(3) % 4); put(x[1] / 16u); put(x[0] % 4u);
    put(~x[0]); put_i(-i(3)); put((x[0] & 6u) | 8u); put(x[0] ^ 2u);
    put(x[0] + 2u * 3u - 4u / 2u); put((x[0] + 2u) * 3u); put(x[0] - (3u - 1u));
    put(min(x[0], x[1])); put(max(x[0], x[1])); put_i(min(i(3), 2)); put_i(max(i(3), 2));
    put(clamp(x[0], 1u, 5u)); put(clamp(x[0], 9u, 12u)); put_i(abs(i(3)));
  )",
             {7u, kMax, 33u, -7},
             {kMax, 1u,  1u,  1u, -3, -3,   0x0fffffffu, 3u, 0xfffffff8u, 7,  14u,
              5u,   11u, 27u, 5u, 7u, kMax, -7,          2,  5u,          9u, 7});
}

TEST(CudaTranslated, ShiftsCountFiveBitsAndKeepTheSign) {
  expect_put(R"(
    put(x[0] << x[2]); put(x[1] >> x[2]); put_i(i(3) >> 1u); put_i(i(3) << 1u);
    var a = x[0]; a <<= x[2]; put(a); a >>= x[2]; put(a);
    let two = vec2<u32>(x[0], x[1]) >> vec2(33u, 4u); put(two.x); put(two.y);
    let four = vec4<u32>(1u, 2u, 3u, 4u) << vec4(1u, 2u, 3u, 36u);
    put(four.x); put(four.y); put(four.z); put(four.w);
  )",
             {7u, kMax, 33u, -7},
             {14u, 0x7fffffffu, -4, -14, 14u, 7u, 3u, 0x0fffffffu, 2u, 8u, 24u, 64u});
}

TEST(CudaTranslated, ConversionsEndAtTheLimitsOfTheType) {
  expect_put(R"(
    put(u32(f(0))); put(u32(f(1))); put(u32(f(2))); put_i(i32(f(3))); put_i(i32(f(1)));
    put_i(i32(-f(1))); put_f(f32(x[4])); put_f(f32(i(5))); put(u32(i(5))); put_i(i32(x[4]));
    put_f(f32(x[4] > 1u)); put_b(bool(x[4])); put_f(f32(f16(f(6)))); put_f(f32(f16(f(1))));
    let a = vec2<u32>(vec2(f(3), f(2))); put(a.x); put(a.y);
    put_4(vec4<f32>(vec4<i32>(vec4(f(3), f(2), 7.9, f(0)))));
    put_2(vec2<f32>(vec2<f16>(vec2(f(6), 0.5))));
    let b = vec3<i32>(vec3(f(3), f(2), 1.5)); put_i(b.x + b.y * b.z);
  )",
             {-1.5f, 1e20f, 3.9f, -3.9f, kMax, -7, 1.00073242f},
             {0u,
              kMax,
              3u,
              -3,
              2147483647,
              int(0x80000000u),
              4294967296.0f,
              -7.0f,
              -7,
              -1,
              1.0f,
              1u,
              1.0009765625f,
              HUGE_VALF,
              0u,
              3u,
              -3.0f,
              3.0f,
              7.0f,
              -1.0f,
              1.0009765625f,
              0.5f,
              0});
}

TEST(CudaTranslated, PairsOfF16RoundEachNumber) {
  expect_put(
      R"(
    let a = vec2<f16>(vec2(f(0), f(1)));
    put_2(vec2<f32>(a * a));
    put_2(vec2<f32>(bitcast<vec2<f16>>(x[2]) - bitcast<vec2<f16>>(0x64086408u)));
    put_4(vec4<f32>(vec4<f16>(vec4(f(1), f(3), f(4), 0.5))));
    put(pack2x16float(vec2(f(1), f(3))));
  )",
      {1.0009765625f, -3.0f, 0x64066405u, 1.00073242f, 70000.0f},
      {1.001953125f, 9.0f, -3.0f, -2.0f, -3.0f, 1.0009765625f, HUGE_VALF, 0.5f, 0x3c01c200u});
}

TEST(CudaTranslated, BitsAreTakenAsTheyAre) {
  expect_put(R"(
    put_f(bitcast<f32>(x[0])); put(bitcast<u32>(1.5));
    let all = bitcast<vec4<u32>>(vec4(1.0, 2.0, -0.0, 1.5)); put(all.y); put(all.z);
    put(pack2x16float(vec2(1.0, -2.0))); put(pack2x16float(vec2(f(1), 1e6)));
    put_2(unpack2x16float(x[2]));
    put(pack4xI8(vec4(1, -2, 127, 300)));
    put_i(dot4I8Packed(x[3], x[4])); put_i(dot4I8Packed(0xff000000u, 0x02000000u));
    put_f(0x1p-3); put_f(2e1); put(0x1fu); put_i(-3i); put_f(1.); put_f(25e-2f);
  )",
             {0x3fc00000u, 1.00073242f, 0xc0003c00u, 0x01fe0380u, 0x05040302u},
             {1.5f, 0x3fc00000u, 0x40000000u, 0x80000000u, 0xc0003c00u, 0x7c003c01u, 1.0f, -2.0f,
              0x2c7ffe01u, -250, -2, 0.125f, 20.0f, 31u, -3, 1.0f, 0.25f});
}

TEST(CudaTranslated, FunctionsOfFloatsAreThoseOfTheirNames) {
  expect_put(R"(
    put_f(round(2.5)); put_f(round(3.5)); put_f(round(-0.7)); put_f(abs(f(0))); put_f(exp(f(1)));
    put_f(log(f(2))); put_f(tanh(f(1))); put_f(tanh(f(3))); put_f(inverseSqrt(f(4)));
    put_f(min(f(0), f(2))); put_f(max(f(0), f(2))); put_f(clamp(f(3), -1.0, 2.0));
    put_f(clamp(f(0), -1.0, 2.0)); put_f(f(2) / f(5)); put_f(-f(0)); put_f(f(4) - f(2) - f(2));
    put_2(min(vec2(1.0, 4.0), vec2(3.0, 2.0))); put_2(max(vec2(1.0, 4.0), vec2(3.0, 2.0)));
    put_2(abs(vec2(f(0), 2.0))); put_2(exp(vec2(0.0, f(1)))); put_2(round(vec2(0.5, 1.5)));
    put_2(tanh(vec2(f(3), -f(3))));
    put_4(min(vec4(1.0, 4.0, 1.0, 4.0), vec4(3.0, 2.0, 2.0, 3.0)));
    put_4(max(vec4(1.0, 4.0, 1.0, 4.0), vec4(3.0, 2.0, 2.0, 3.0)));
    put_4(abs(vec4(-1.0, 2.0, -3.0, 4.0))); put_4(round(vec4(0.5, 1.5, 2.5, 3.5)));
    put_4(clamp(vec4(-9.0, 0.5, 9.0, 0.0), vec4(-1.0), vec4(1.0))); put_f(exp2(f(5)));
  )",
             {-1.5f, 0.0f, 1.0f, 100.0f, 4.0f, 3.0f},
             {2.0f,     4.0f,  -1.0f, 1.5f, 1.0f, 0.0f,  0.0f, 1.0f, 0.5f, -1.5f, 1.0f, 2.0f, -1.0f,
              1.0f / 3, 1.5f,  2.0f,  1.0f, 2.0f, 3.0f,  4.0f, 1.5f, 2.0f, 1.0f,  1.0f, 0.0f, 2.0f,
              1.0f,     -1.0f, 1.0f,  2.0f, 1.0f, 3.0f,  3.0f, 4.0f, 2.0f, 4.0f,  1.0f, 2.0f, 3.0f,
              4.0f,     0.0f,  2.0f,  2.0f, 4.0f, -1.0f, 0.5f, 1.0f, 0.0f, 8.0f});
}

TEST(CudaTranslated, VectorsHaveTheirComponentsInOrder) {
  expect_put(
      R"(
    let v = vec4(1.0, 2.0, 3.0, 4.0); let w = vec2(5.0, 6.0);
    put_4(v); put_f(v.w); put_f(v.z); put_2(v.xy); put_2(v.zw); put_2(v.xz); put_2(v.yw);
    put_2(vec3(w, 7.0).xy); put_f(vec3(w, 7.0).z); put_4(vec4(w, v.xz)); put_4(vec4(9.0));
    put_f(v[x[0]]); put_f(w[x[1]]); put_f(vec3(5.0, 6.0, 7.0)[x[0]]);
    put_4(v * 2.0); put_4(1.0 - v); put_4(v / vec4(2.0, 4.0, 8.0, 1.0)); put_4(-v); put_2(-w);
    put_2(w - vec2(1.0, 2.0)); put_f(dot(v, vec4(1.0, 10.0, 100.0, 1000.0)));
    put_f(dot(w, vec2(2.0, 3.0)));
    put_4(mat4x4(v, v * 10.0, v * 100.0, v * 1000.0) * vec4(1.0, 0.0, 2.0, 0.0));
    put_4(mat4x4(v, v, v, v) * vec4(0.0, 2.0, 0.0, 3.0));
    let p = vec3<u32>(1u, 2u, 3u) * vec3(2u) + vec3<u32>(1u, 0u, 1u); put(p.x + 16u * p.y + 256u * p.z);
    put_f(select(1.0, 2.0, x[0] == 2u)); put_f(select(1.0, 2.0, x[0] != 2u));
    put_2(select(w, vec2(0.0), w > vec2(5.5))); put_4(select(v, -v, v == vec4(1.0, 0.0, 0.0, 4.0)));
    put_b(any(w == vec2(0.0, 6.0))); put_b(any(w == vec2(6.0, 5.0)));
    put_b(any(v > vec4(3.5))); put_b(any(v < vec4(1.0)));
    put_b(any(v >= vec4(5.0, 5.0, 3.0, 5.0))); put_b(any(v != vec4(1.0, 2.0, 3.0, 4.0)));
    let bits = (vec4<u32>(vec4(3u)) & vec4<u32>(1u, 2u, 4u, 7u)) | vec4(8u); put(bits.x + 256u * bits.w);
  )",
      {2u, 1u},
      {1.0f,  2.0f,  3.0f,  4.0f,   4.0f,    3.0f,   1.0f,   2.0f,           3.0f,   4.0f,   1.0f,
       3.0f,  2.0f,  4.0f,  5.0f,   6.0f,    7.0f,   5.0f,   6.0f,           1.0f,   3.0f,   9.0f,
       9.0f,  9.0f,  9.0f,  3.0f,   6.0f,    7.0f,   2.0f,   4.0f,           6.0f,   8.0f,   0.0f,
       -1.0f, -2.0f, -3.0f, 0.5f,   0.5f,    0.375f, 4.0f,   -1.0f,          -2.0f,  -3.0f,  -4.0f,
       -5.0f, -6.0f, 4.0f,  4.0f,   4321.0f, 28.0f,  201.0f, 402.0f,         603.0f, 804.0f, 5.0f,
       10.0f, 15.0f, 20.0f, 0x743u, 2.0f,    1.0f,   5.0f,   0.0f,           -1.0f,  2.0f,   3.0f,
       -4.0f, 1u,    0u,    1u,     0u,      1u,     0u,     9u + 256u * 11u});
}

TEST(CudaTranslated, AssignmentsChangeOneThingByOneOperation) {
  expect_put(R"(
    var a = x[0]; a += 3u; put(a); a -= 1u; put(a); a *= 5u; put(a); a /= 2u; put(a); a %= 16u;
    put(a); a |= 16u; put(a); a &= 20u; put(a); a ^= 5u; put(a); a++; put(a); a--; put(a);
    var v = vec4(1.0, 2.0, 3.0, 4.0); v.y = 8.0; v[x[1]] = 9.0; v *= 2.0; v -= vec4(-1.0); put_4(v);
    var rows = array<vec2<f32>, 2>(vec2(1.0), vec2(2.0)); rows[1].x -= 5.0; put_2(rows[1]);
    var own = Own(1u, 2u, array<f32, 2>(3.0, 4.0)); own.second += 5u; own.list[1] = 0.5;
    put(own.first); put(own.second); put_f(own.list[0]); put_f(own.list[1]);
    _ = changed(); put(count);
  )",
             {7u, 2u}, {10u,   9u,    45u,  22u,   6u,   22u, 20u, 17u,  18u,  17u, 3.0f,
                        17.0f, 19.0f, 9.0f, -3.0f, 2.0f, 1u,  7u,  3.0f, 0.5f, 1u},
             "struct Own { first: u32, second: u32, list: array<f32, 2>, }\n"
             "var<private> count: u32;\n"
             "fn changed() -> u32 { count += 1u; return count; }\n");
}

TEST(CudaTranslated, ValuesAreCopiesAndPointersAreNot) {
  expect_put(R"(
    var v = x[0]; let before = v; v = 1u; put(before);
    var list = array(1u, 2u); let kept = list; list[0] = 5u; put(kept[0]); put(list[0]);
    put(doubled(list)); put(list[0]); double_all(&list); put(list[0]); put(list[1]);
    for (var round = 0u; round < 2u; round++) { var fresh: u32; fresh += 1u; put(fresh); }
    var shadowed = 1u; { var shadowed = 2u; shadowed += 1u; put(shadowed); } put(shadowed);
    put(zeros[1] + begun); put(TWICE); put_f(made(2u).second);
  )",
             {7u}, {7u, 1u, 5u, 10u, 5u, 10u, 4u, 1u, 1u, 3u, 1u, 4u, 6u, 2.5f},
             R"(
const TWICE: u32 = 2u * ONCE;
const ONCE = 3u;
const_assert TWICE == 6u;
alias List = array<u32, 2>;
struct Made { first: u32, second: f32, }
var<private> zeros: List;
var<private> begun = 4u;
fn doubled(list: List) -> u32 { var own = list; own[0] *= 2u; return own[0]; }
fn double_all(list: ptr<function, List>) { (*list)[0] *= 2u; (*list)[1] *= 2u; }
fn made(first: u32) -> Made { return Made(first, f32(first) + 0.5); }
)");
}

TEST(CudaTranslated, OnlyWhatIsChosenIsDone) {
  expect_put(R"(
    if (x[0] == 7u) { put(1u); } else { put(2u); }
    if (x[0] < 7u) { put(3u); } else if (x[0] > 6u) { put(4u); } else { put(5u); }
    put_b(x[0] == 1u && touched()); put_b(x[0] == 7u || touched()); put(touches);
    put_b(x[0] == 7u && touched()); put(touches); put_b(!(x[0] == 7u));
    for (var at = 0u; at < 9u; at += 2u) { if (at == 2u) { continue; } if (at == 6u) { break; } put(at); }
    for (var at = 0u; at < 3u; at++) {  // unroll
      put(10u * at);
    }
    put(early(7u)); put(early(8u));
  )",
             {7u}, {1u, 4u, 0u, 1u, 0u, 1u, 1u, 0u, 0u, 4u, 0u, 10u, 20u, 1u, 2u},
             "var<private> touches: u32;\n"
             "fn touched() -> bool { touches++; return true; }\n"
             "fn early(value: u32) -> u32 { if (value == 7u) { return 1u; } return 2u; }\n");
}

}  // namespace
}  // namespace tokamak::cuda
