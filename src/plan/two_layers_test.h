// A graph of two layers of attention, for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "graph/builder.h"
#include "graph/kv_cache.h"
#include "plan/plan.h"

namespace tokamak {

inline Graph two_layers(DType cache_type = DType::kF16) {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const auto weight = [&](const char* name, Shape shape, DType dtype) {
    return b.constant(name, std::move(shape), dtype, Weight{{name}});
  };
  const ValueId table = weight("embed", {32, 16}, DType::kBF16);
  ValueId x = b.embed(tokens, table);
  const ValueId pages = b.input("pages", {4});
  const ValueId rope = b.constant("rope", {64, 8}, DType::kF32, RopeTable{{1, 0.5f, 0.25f, 0.1f}});
  for (const char* layer : {"0", "1"}) {
    const std::string p = layer;
    const ValueId n = b.rms_norm(x, weight(("norm" + p).c_str(), {16}, DType::kF32), 1e-6f);
    const ValueId w = weight(("w" + p).c_str(), {16, 16}, DType::kF16);
    const ValueId q = b.rope(b.linear(n, w), rope, 8);
    const ValueId k = b.linear(n, w);
    const ValueId cache = b.kv_cache("kv." + p, cache_type, 64, 2, 8);
    const ValueId kv = b.kv_append(k, k, cache, pages);
    x = b.add(x, b.attention(q, kv, pages, {.scale = 0.3f}));
  }
  auto graph = b.finish(b.linear(b.last_row(x), table));
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

inline DeviceInfo webgpu_device() {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = "test device";
  return device;
}

inline const CaptureOptions kBothPhases = {.phases = {{"prefill", 64}, {"decode", 1}},
                                           .forced = {}};

}  // namespace tokamak
