// The part that tests of passes share: a graph that begins with a lookup of eight columns.
#pragma once
#include <gtest/gtest.h>

#include "fuse/pass.h"
#include "graph/builder.h"
#include "graph/text.h"

namespace tokamak::fuse {

struct PassTest : testing::Test {
  GraphBuilder b;
  ValueId tokens = b.input("tokens", {kTokens});
  ValueId table = weight("table", {32, 8});
  ValueId x = b.embed(tokens, table);

  ValueId weight(const char* name, Shape shape, DType dtype = DType::kBF16) {
    return b.constant(name, std::move(shape), dtype, Weight{{name}});
  }
  ValueId vector(const char* name, Dim size) { return weight(name, {size}, DType::kF32); }

  Graph finish(ValueId result) {
    auto graph = b.finish(result);
    EXPECT_TRUE(graph) << graph.error().message;
    return *graph;
  }
  void expect_alone(const Pass& pass, Graph graph) {
    const std::string before = to_text(graph);
    EXPECT_EQ(run(pass, graph), 0u);
    EXPECT_EQ(to_text(graph), before);
  }
};

}  // namespace tokamak::fuse
