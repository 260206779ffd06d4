// A short convolution as the ending of the product that gives its input; what else the product
// gives are columns of the same row, which the passes after this one read where they are.
//
//   q, z, ab = qkv x, w                         row, state = fused_linear x, w, taps, state
//   c, state = short_conv q, taps, state  ==>                             {epilogue=conv}
//                                               c = columns row   z = columns row   ab = ...
//
// Saves a dispatch per layer once the columns are read in place. With one token the lane that has a
// row of the product has that column of the state to itself.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass conv_linear() {
  enum : Var { x, w, q, z, ab, taps, state, c, kept };
  return {
      .name = "conv_linear",
      .patterns = {{node<ShortConv>(
          c, {node<Qkv>(q, {any(x), any(w)}, {z, ab}), any(taps), any(state)}, {kept})}},
      .outputs = {c, kept, z, ab},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        const auto& conv = m.attributes<ShortConv>(c);
        const Qkv& parts = m.attributes<Qkv>(q);
        if (conv.gated || parts.v_rows != 0 || !fits_fused_linear(m.type(w))) return std::nullopt;
        const FusedLinear op{.epilogue = Epilogue::kConv, .activation = conv.activation};
        const ValueId row = m.add_node(op, {m[x], m[w], m[taps], m[state]}, {{1, kept}}).front();
        const uint32_t before = parts.q_rows + parts.k_rows;
        m.add_node(Columns{parts.q_rows, parts.k_rows}, {row}, {{0, z}});
        m.add_node(Columns{before, uint32_t(m.type(ab).shape[1])}, {row}, {{0, ab}});
        return Replacement{Columns{0, parts.q_rows}, {row}};
      },
  };
}

}  // namespace tokamak::fuse
