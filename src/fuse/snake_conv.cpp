// A half-snake in the reading of the convolution after it.
//
//   h = half_snake x, a
//   y = causal_conv h, w, bias      ==>      y = causal_conv x, w, bias, a {snake=true}
//
// Saves a dispatch and the round trip of h: a workgroup of the convolution brings each number of x
// to where its lanes read it, once, and activates it there.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass snake_conv() {
  enum : Var { x, a, h, w, bias, y };
  return {
      .name = "snake_conv",
      .patterns = {{node<CausalConv>(y,
                                     {node<HalfSnake>(h, {any(x), any(a)}), any(w), any(bias)})}},
      .outputs = {y},
      .replace = [](Match& m) -> std::optional<Replacement> {
        CausalConv op = m.attributes<CausalConv>(y);
        op.snake = true;
        return Replacement{op, {m[x], m[w], m[bias], m[a]}};
      },
  };
}

}  // namespace tokamak::fuse
