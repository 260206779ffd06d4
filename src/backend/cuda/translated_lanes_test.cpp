// The rules of translated_test.cpp for what lanes do together, and where things lie in memory.
#include <gtest/gtest.h>

#include "backend/cuda/translated_runs.h"

namespace tokamak::cuda {
namespace {

constexpr uint32_t kLanes = 64;  // of a workgroup: two subgroups

constexpr std::string_view kBuffers =
    "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n";

std::vector<Word> run(const std::string& text, const std::vector<Word>& x, size_t count,
                      Grid workgroups = {}) {
  const auto words = words_of(fmt::format("{}{}", kBuffers, text), x, count, workgroups);
  EXPECT_TRUE(words) << words.error().message;
  return words ? *words : std::vector<Word>();
}

/// The values that each of the 64 lanes of one workgroup leaves after `statements`, in `results`
/// numbers that lie one after the other. `more` stands before the function.
std::vector<Word> lanes_of(const std::string& statements, uint32_t results,
                           const std::string& more = "") {
  return run(fmt::format("{}\n@compute @workgroup_size({})\n"
                         "fn main(@builtin(local_invocation_index) lane: u32) {{\n{}\n}}\n",
                         more, kLanes, statements),
             {0u}, results * kLanes);
}

TEST(CudaTranslatedLanes, RecognizeTheirPlace) {
  const std::vector<Word> y = run(R"(
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>,
        @builtin(local_invocation_index) lane: u32, @builtin(subgroup_id) subgroup: u32,
        @builtin(subgroup_invocation_id) own: u32, @builtin(subgroup_size) lanes: u32) {
  let last = all.x * all.y * all.z * 64u - 1u;
  let at = last - ((group.x + all.x * (group.y + all.y * group.z)) * 64u + lane);
  y[at] = group.x | (group.y << 4u) | (group.z << 8u) | (subgroup << 12u) | (own << 16u) |
          (lanes << 24u);
})",
                                  {0u}, 2 * 3 * 4 * kLanes, {.x = {2}, .y = {3}, .z = {4}});
  for (uint32_t i = 0; i < y.size(); ++i) {
    const uint32_t at = uint32_t(y.size()) - 1 - i, group = at / kLanes, lane = at % kLanes;
    EXPECT_EQ(y[i].bits, group % 2 | group / 2 % 3 << 4 | group / 6 << 8 | lane / 32 << 12 |
                             lane % 32 << 16 | 32 << 24)
        << i;
  }
}

TEST(CudaTranslatedLanes, WaitForEachOther) {
  const std::vector<Word> y = lanes_of(R"(
  values[lane] = 3u * lane;
  workgroupBarrier();
  y[lane] = values[63u - lane];
  storageBarrier();
  y[64u + lane] = y[63u - lane] + 1u;
  var seen = 0u;
  for (var round = 0u; round < 3u; round++) {
    if (lane == 63u - round) { news = round + 1u; }
    seen = 10u * seen + workgroupUniformLoad(&news);
  }
  y[128u + lane] = seen;)",
                                       3,
                                       "var<workgroup> values: array<u32, 64>;\n"
                                       "var<workgroup> news: u32;\n");
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(y[lane].bits, 3 * (63 - lane));
    EXPECT_EQ(y[kLanes + lane].bits, 3 * lane + 1);
    EXPECT_EQ(y[2 * kLanes + lane].bits, 123u);
  }
}

TEST(CudaTranslatedLanes, CountTogether) {
  const std::vector<Word> y = lanes_of(R"(
  y[lane] = 0u;
  if (lane == 0u) {
    atomicStore(&total, 5u); atomicStore(&turns, 0u);
    atomicStore(&lowest, 100); atomicStore(&highest, -100);
    atomicStore(&smallest, 0xffffffffu); atomicStore(&largest, 1u);
  }
  workgroupBarrier();
  atomicAdd(&total, lane); atomicMin(&lowest, 10 - i32(lane)); atomicMax(&highest, i32(lane) - 80);
  atomicMin(&smallest, lane + 0x7ffffff0u); atomicMax(&largest, lane + 0x7ffffff0u);
  let turn = atomicAdd(&turns, 1u);
  y[turn] = 1u;
  workgroupBarrier();
  if (lane == 0u) {
    y[64] = atomicLoad(&total); y[65] = bitcast<u32>(atomicLoad(&lowest));
    y[66] = bitcast<u32>(atomicLoad(&highest));
    y[67] = atomicLoad(&smallest); y[68] = atomicLoad(&largest);
  })",
                                       2,
                                       "var<workgroup> total: atomic<u32>;\n"
                                       "var<workgroup> turns: atomic<u32>;\n"
                                       "var<workgroup> lowest: atomic<i32>;\n"
                                       "var<workgroup> highest: atomic<i32>;\n"
                                       "var<workgroup> smallest: atomic<u32>;\n"
                                       "var<workgroup> largest: atomic<u32>;\n");
  ASSERT_EQ(y.size(), 2 * kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) EXPECT_EQ(y[lane].bits, 1u) << "turn " << lane;
  const std::vector<Word> counted(y.begin() + kLanes, y.begin() + kLanes + 5);
  EXPECT_EQ(counted, (std::vector<Word>{5u + 63 * 32, -53, -17, 0x7ffffff0u, 0x8000002fu}));
}

TEST(CudaTranslatedLanes, ExchangeWithTheirSubgroupAlone) {
  const std::vector<Word> y = lanes_of(R"(
  y[lane] = subgroupShuffleXor(lane, 5u);
  y[64u + lane] = subgroupAdd(lane);
  y[128u + lane] = bitcast<u32>(subgroupMax(f32(lane) - 100.0));
  y[192u + lane] = subgroupMin(lane);
  y[256u + lane] = u32(subgroupAny(lane == 40u));
  let two = subgroupAdd(vec2(f32(lane), 1.0));
  y[320u + lane] = u32(two.x) + u32(two.y);
  let four = subgroupShuffleXor(vec4<u32>(lane, lane + 100u, lane + 200u, lane + 300u), 1u);
  y[384u + lane] = four.x + four.w - four.y + 2u * four.z;)",
                                       7);
  ASSERT_EQ(y.size(), 7 * kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t first = lane / 32 * 32, sum = 32 * first + 31 * 16;
    const std::vector<Word> own = {y[lane],       y[64 + lane],  y[128 + lane], y[192 + lane],
                                   y[256 + lane], y[320 + lane], y[384 + lane]};
    EXPECT_EQ(own, (std::vector<Word>{lane ^ 5, sum, float(first + 31) - 100, first,
                                      uint32_t(first == 32), sum + 32, 3 * (lane ^ 1) + 600}))
        << lane;
  }
}

/// An element of small whole numbers, so that sums in any order are exact.
float left_at(uint32_t row, uint32_t k) {
  return float(row) - 2 * float(k % 5);
}
float right_at(uint32_t k, uint32_t column) {
  return float((3 * k + 5 * column) % 7) - 2;
}

TEST(CudaTranslatedLanes, MultiplyMatrices) {
  const std::vector<Word> y = run(R"(
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Result = subgroup_matrix_result<f32, 16, 16>;
const PITCH = 6u;  // vectors from row to row
alias Strip = array<vec4<f16>, 16u * PITCH + 2u>;
var<workgroup> strips: array<Strip, 3>;
var<workgroup> results: array<vec4<f32>, 16u * 5u + 1u>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) {
  for (var at = lane; at < 256u; at += 32u) {
    let row = at / 16u; let column = at % 16u;
    let left = f32(row) - 2.0 * f32(column % 5u);
    let right = f32((3u * row + 5u * column) % 7u) - 2.0;
    strips[0][2u + PITCH * row + column / 4u][column % 4u] = f16(left);
    strips[1][2u + PITCH * row + column / 4u][column % 4u] = f16(right);
    strips[2][2u + PITCH * column + row / 4u][row % 4u] = f16(right);
    results[1u + 5u * row + column / 4u][column % 4u] = f32(at);
  }
  workgroupBarrier();
  let left = subgroupMatrixLoad<Left, row_major>(&strips[0], 2u, PITCH);
  let right = subgroupMatrixLoad<Right, row_major>(&strips[1], 2u, PITCH);
  let same = subgroupMatrixLoad<Right, col_major>(&strips[2], 2u, PITCH);
  var sum = subgroupMatrixLoad<Result, row_major>(&results, 1u, 5u);
  sum = subgroupMatrixMultiplyAccumulate(left, right, sum);
  sum = subgroupMatrixMultiplyAccumulate(left, same, sum);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&results, 1u, sum, 5u);
  workgroupBarrier();
  for (var at = lane; at < 256u; at += 32u) {
    y[at] = bitcast<u32>(results[1u + 5u * (at / 16u) + at % 16u / 4u][at % 4u]);
  }
})",
                                  {0u}, 256);
  ASSERT_EQ(y.size(), 256u);
  for (uint32_t at = 0; at < 256; ++at) {
    float sum = float(at);
    for (uint32_t k = 0; k < 16; ++k) sum += 2 * left_at(at / 16, k) * right_at(k, at % 16);
    EXPECT_EQ(y[at], Word(sum)) << at;
  }
}

TEST(CudaTranslatedLanes, TouchTheElementsOfMatrices) {
  const std::vector<Word> y = run(R"(
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Result = subgroup_matrix_result<f32, 16, 16>;
const PITCH = 6u;
var<workgroup> strip: array<vec4<f16>, 16u * PITCH>;
var<workgroup> results: array<vec4<f32>, 16u * 5u>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) {
  for (var at = lane; at < 256u; at += 32u) {
    let row = at / 16u; let column = at % 16u;
    strip[PITCH * row + column / 4u][column % 4u] = f16(f32((3u * row + 5u * column) % 7u) - 2.0);
    results[5u * row + column / 4u][column % 4u] = f32(row);
  }
  workgroupBarrier();
  let right = subgroupMatrixLoad<Right, row_major>(&strip, 0u, PITCH);
  var left = subgroupMatrixLoad<Result, row_major>(&results, 0u, 5u);
  for (var i = 0u; i < 8u; i++) {
    let column = f32(subgroupMatrixColumn(i) % 5u);
    left[i] = 2.0 * left[i] - f32(subgroupMatrixRow(i)) - 2.0 * column;
  }
  let product = subgroupMatrixMultiplyAccumulate(subgroupMatrixLeft(left), right, Result());
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&results, 0u, product, 5u);
  workgroupBarrier();
  for (var at = lane; at < 256u; at += 32u) {
    y[at] = bitcast<u32>(results[5u * (at / 16u) + at % 16u / 4u][at % 4u]);
  }
})",
                                  {0u}, 256);
  ASSERT_EQ(y.size(), 256u);
  for (uint32_t at = 0; at < 256; ++at) {
    float sum = 0;
    for (uint32_t k = 0; k < 16; ++k) sum += left_at(at / 16, k) * right_at(k, at % 16);
    EXPECT_EQ(y[at], Word(sum)) << at;
  }
}

TEST(CudaTranslatedLanes, FindThingsWhereWgslPutsThem) {
  const auto words =
      words_of(R"(
struct Row { a: u32, pair: vec2<f32>, b: u32, four: vec4<f32>, list: array<u32>, }
@group(0) @binding(INPUT) var<storage, read> row: Row;
@group(0) @binding(OUTPUT) var<storage, read_write> y: array<vec4<f32>>;
const INPUT = 0;
const OUTPUT = INPUT + 1;
struct Own { byte: u32, wide: vec4<f32>, }
var<workgroup> first: u32;
var<workgroup> own: array<Own, 2>;
@compute @workgroup_size(1)
fn main() {
  own[1].wide = vec4(1.0, 2.0, 3.0, 4.0);
  y[0] = row.four; y[1] = vec4(row.pair, vec2(f32(row.a), f32(row.b)));
  y[2] = vec4(f32(row.list[0]), f32(row.list[1]), f32(arrayLength(&y)), 0.0); y[3] = own[1].wide;
})",
               {1u, 0u, 2.0f, 3.0f, 4u, 0u, 0u, 0u, 5.0f, 6.0f, 7.0f, 8.0f, 9u, 10u}, 16);
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, (std::vector<Word>{5.0f, 6.0f, 7.0f, 8.0f, 2.0f, 3.0f, 1.0f, 4.0f, 9.0f, 10.0f,
                                       4.0f, 0.0f, 1.0f, 2.0f, 3.0f, 4.0f}));
}

/// Returns the line that the emulator prints for a lane that leaves an array. The launch fails.
std::string refusal_of(const std::string& statements) {
  testing::internal::CaptureStderr();
  const auto words = words_of(R"(
struct Row { many: u32, list: array<u32>, }
@group(0) @binding(0) var<storage, read> row: Row;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
alias Left = subgroup_matrix_left<f16, 16, 16>;
var<workgroup> strip: array<vec4<f16>, 64>;
var<private> own: array<u32, 5>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) {
  var four = vec4<u32>(1u);
)" + statements + "}",
                              {5u, 6u, 7u}, 32);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(words) << statements;
  return printed;
}

TEST(CudaTranslatedLanes, LeaveNoArrayUnnoticed) {
  const auto expected = [](int index, std::string_view array, int count) {
    return fmt::format("emulated CUDA: test: index {} of \"{}\", which has {} elements\n", index,
                       array, count);
  };
  EXPECT_EQ(refusal_of("y[lane + 1u] = 0u;"), expected(32, "y", 32));
  EXPECT_EQ(refusal_of("y[lane] = row.list[lane];"), expected(2, "the end of a buffer", 2));
  EXPECT_EQ(refusal_of("y[lane] = own[row.many];"), expected(5, "an array", 5));
  EXPECT_EQ(refusal_of("y[lane] = four[row.many];"), expected(5, "an array", 4));
  EXPECT_EQ(refusal_of("four[row.many] = 2u; y[lane] = four.x;"), expected(5, "an array", 4));
  EXPECT_EQ(refusal_of("let all = subgroupMatrixLoad<Left, row_major>(&strip, 1u, 4u);"
                       "y[lane] = 1u;"),
            expected(519, "an array", 512));
  // An element that the kernel never reads may be missing, and the device works again.
  const auto words = words_of(R"(
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1)
fn main() { if (arrayLength(&x) > 9u && x[9] == 1u) { y[9] = 1u; } else { y[0] = x[2]; } })",
                              {5u, 6u, 7u}, 1);
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, std::vector<Word>{7u});
}

}  // namespace
}  // namespace tokamak::cuda
