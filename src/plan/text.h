// The text form of a plan: printed by `inspect --plan`, compared in tests, parsed back.
//
//   buffer 0 frame 2304
//   buffer 1 constant 81920 @model.norm.weight: f32[64] = weight "model.norm.weight" + 1
//   buffer 7 activation 131072
//   phase decode max_tokens=1 tensors=31 tensor_bytes=20480 result=7:f32[1,512]
//   step norm_kernel {eps=1e-06} in 3:f32[T,64] 1:f32[64] out 7:f32[T,64] grid 1 1/1 1
//        const THREADS=32 EPS=1e-06f source "norm/load.wgsl" passed "name: reason"      (one line)
//
// A step on a part of a cut weight says where that begins, "rows 1024/4096", before its operands.
// A grid extent is a count, or count/tokens: `count` for every `tokens` tokens.
#pragma once
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace tokamak {

std::string to_text(const Plan& plan);

/// The inverse of to_text. Kernel names and buffer ids are checked, so that a parsed plan refers to
/// nothing that does not exist; whether its steps make sense is the writer's business.
Result<Plan> parse_plan(std::string_view text);

}  // namespace tokamak
