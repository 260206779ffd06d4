#include "kernels/cuda/translate.h"

#include <gtest/gtest.h>

namespace tokamak::wgsl {
namespace {

/// The translation without what is the same in all of them.
std::string of(const std::string& text) {
  const ShaderPiece piece = {"some/kernel.wgsl", text};
  const Result<std::string> made = translated({&piece, 1});
  if (!made) return made.error().message;
  const size_t begin = made->find("struct Kernel {\n") + 16,
               end = made->find("};\n}  // namespace");
  return made->substr(begin, end - begin);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// The statements of a function.
std::string statements(const std::string& body) {
  const std::string text = of("fn f(x: u32) {\n" + body + "\n}\n");
  const size_t begin = text.find("f(u32 x) {\n");
  return begin == text.npos ? text : text.substr(begin + 11, text.rfind("  }\n") - begin - 11);
}

TEST(Translate, VariablesBeginAsZero) {
  EXPECT_EQ(
      statements("var a: vec2<f32>; var b = 1.0; let c = 2u; let d: i32 = 3i;"),
      "    vec2<f32> a{};\n    auto b = 1.0f;\n    const auto c = 2u;\n    const i32 d = 3;\n");
  EXPECT_TRUE(has(of("var<private> sums: array<f32, 4>;"), "array<f32, 4> sums{};"));
}

TEST(Translate, OrderOfOperationsStays) {
  EXPECT_EQ(statements("var a = (x + 1u) * x - x / 2u % 3u;"),
            "    auto a = ((x + 1u) * x) - ((x / 2u) % 3u);\n");
  EXPECT_EQ(statements("var a = -(x + 1u) & ~x;"), "    auto a = -(x + 1u) & ~x;\n");
}

TEST(Translate, ShiftsAndConversionsAreFunctionsThatKnowTheirLimits) {
  EXPECT_EQ(statements("var a = x << 2u >> x; a <<= 1u; let b = u32(1.5) + u32(f32(x));"),
            "    auto a = shift_right(shift_left(x, 2u), x);\n"
            "    a = shift_left(a, 1u);\n"
            "    const auto b = to<u32>(1.5f) + to<u32>(to<f32>(x));\n");
}

TEST(Translate, LoopsThatAreMarkedCarryAPragma) {
  EXPECT_EQ(statements("for (var i = 0u; i < 4u; i++) {  // unroll\n}"),
            "    #pragma unroll (4u <= 8u ? int(4u) : 1)\n"
            "    for (auto i = 0u; i < 4u; i++) {\n    }\n");
  EXPECT_TRUE(has(statements("for (var i = 0u; i < N; i++) {  // unroll, at most MOST\n}"),
                  "(N <= MOST ? int(N) : 1)"));
  EXPECT_FALSE(has(statements("for (var i = 0u; i < 4u; i++) {\n}"), "pragma"));
}

TEST(Translate, LoopsThatCannotBeUnrolledAreErrorsThatSayWhere) {
  const auto error = [](const std::string& head, const std::string& body = "") {
    return of("fn f() {\n  for (" + head + ") {  // unroll\n" + body + "}\n}\n");
  };
  const std::string form =
      "some/kernel.wgsl:2: a loop is unrolled that is not for (var i = 0u; i < COUNT; i++), COUNT "
      "a number or a constant";
  for (const char* head :
       {"var i = 1u; i < 4u; i++", "var i: u32 = 0u; i < 4u; i++", "var i = 0; i < 4; i++",
        "var i = 0u; i <= 4u; i++", "var i = 0u; i < 2u * N; i++", "var i = 0u; i < N - 1u; i++",
        "var i = 0u; j < 4u; i++", "var i = 0u; i < 4u; i += 2u", "var i = 0u; i < 4u; j++"}) {
    EXPECT_EQ(error(head), form) << head;
  }
  const std::string jump = "some/kernel.wgsl:2: a loop is unrolled that has a break or a continue";
  EXPECT_EQ(error("var i = 0u; i < N; i++", "if (i == x) { { break; } }\n"), jump);
  EXPECT_EQ(error("var i = 0u; i < N; i++", "if (y) {} else { continue; }\n"), jump);
  EXPECT_TRUE(has(error("var i = 0u; i < N; i++", "for (var j = 0u; j < 9u; j++) { break; }\n"),
                  "#pragma unroll"));
}

TEST(Translate, WhatOthersNeedStandsBeforeThem) {
  const std::string text =
      of("alias Row = array<Pair, COUNT>;\nstruct Pair { a: f32, b: f32, }\n"
         "const COUNT = 2u * HALF;\nconst HALF = 3u;\n");
  EXPECT_LT(text.find("HALF = 3u"), text.find("COUNT = 2u * HALF"));
  EXPECT_LT(text.find("COUNT = 2u * HALF"), text.find("using Row"));
  EXPECT_LT(text.find("struct Pair"), text.find("using Row = array<Pair, COUNT>"));
}

TEST(Translate, BuffersHaveLengths) {
  const std::string text =
      of("@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;\n"
         "@group(0) @binding(3) var<storage, read_write> y: array<f32>;\n"
         "fn count() -> u32 { return arrayLength(&x); }\n");
  EXPECT_TRUE(has(text, "  Buffer<const vec4<f32>> x;")) << text;
  EXPECT_TRUE(has(text, "  Buffer<f32> y;")) << text;
  EXPECT_TRUE(has(text, "x(buffer_at<const vec4<f32>>(bound, 2, \"x\"))")) << text;
  EXPECT_TRUE(has(text, "return length_of<vec4<f32>>(bound_buffers, 2);")) << text;
}

TEST(Translate, TheEntrySaysHowManyLanesThereAre) {
  const std::string text =
      of("@compute @workgroup_size(64)\n"
         "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) own: u32) {}\n");
  EXPECT_TRUE(has(text, "workgroup_lanes = 64;")) << text;
  EXPECT_TRUE(has(text, "{ await_inputs(); main(workgroup_id(), subgroup_id()); }")) << text;
}

TEST(Translate, AKernelMayWaitForItsInputsItself) {
  const std::string text =
      of("@compute @workgroup_size(64)\nfn main() { await_inputs(); }\nfn await_inputs() {}\n");
  EXPECT_TRUE(has(text, "DEVICE void main() {\n    await_inputs();\n")) << text;
  EXPECT_TRUE(has(text, "DEVICE void enter() { main(); }")) << text;
  EXPECT_FALSE(has(text, "void await_inputs()")) << text;
}

TEST(Translate, PointersAreReferences) {
  const std::string text =
      of("fn f(a: ptr<function, array<u32, 2>>) { (*a)[0] = 1u; }\n"
         "fn g() { var a: array<u32, 2>; f(&a); }\n");
  EXPECT_TRUE(has(text, "void f(array<u32, 2>& a) {\n    a[0] = 1u;")) << text;
  EXPECT_TRUE(has(text, "f(a);")) << text;
}

TEST(Translate, MatricesHaveSizesAndOrders) {
  EXPECT_EQ(statements("var a = subgroup_matrix_left<f16, 16, SIDE>();"),
            "    auto a = subgroup_matrix_left<f16, 16, SIDE>();\n");
  EXPECT_TRUE(has(of("alias Left = subgroup_matrix_left<f16, 16, 16>;\n"
                     "fn f() { let a = subgroupMatrixLoad<Left, row_major>(&strips[0], 4u, 8u); }"),
                  "const auto a = subgroupMatrixLoad<Left, row_major>(strips[0], 4u, 8u);\n"));
  EXPECT_EQ(statements("subgroupMatrixStore<row_major>(&results, 0u, a, 4u);"),
            "    subgroupMatrixStore<row_major>(results, 0u, a, 4u);\n");
}

TEST(Translate, WhatHasNoTranslationIsAnErrorThatSaysWhere) {
  EXPECT_EQ(of("fn f() {\n  while (true) {}\n}\n"),
            "some/kernel.wgsl:2: expected \";\", found \"{\"");
  EXPECT_EQ(of("fn f() {\n  let a = countOneBits(3u);\n}\n"),
            "some/kernel.wgsl:2: \"countOneBits\" has no translation");
  EXPECT_EQ(of("fn f(a: vec4<f32>) -> vec2<f32> {\n  return a.wx;\n}\n"),
            "some/kernel.wgsl:2: \".wx\" has no translation");
  EXPECT_EQ(of("var<private> a: texture;\n"),
            "some/kernel.wgsl:1: type \"texture\" has no translation");
  EXPECT_EQ(
      of("fn f(a: ptr<storage, f32>) {}\n"),
      "some/kernel.wgsl:1: expected a pointer to a variable of a function, found \"storage\"");
  EXPECT_EQ(of("fn f() {\n  let a = `b`;\n}\n"), "some/kernel.wgsl:2: \"`\" begins nothing");
  EXPECT_EQ(of("struct Place {\n  at: vec3<u32>,\n}\n"),
            "some/kernel.wgsl:2: a struct with a vec3 has no translation");
  EXPECT_EQ(of("override SIZE = 1;\n"),
            "some/kernel.wgsl:1: expected a declaration, found \"override\"");
  EXPECT_EQ(of("fn f(a: u32) {\n  if (a > 1u) {\n    let a = a + 1u;\n  }\n}\n"),
            "some/kernel.wgsl:3: \"a\" is made of another \"a\"; rename one");
}

}  // namespace
}  // namespace tokamak::wgsl
