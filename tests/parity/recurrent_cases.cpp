// Cases of the ops that change a state in place. The states are NaN before the first step, which is
// at position 0; what a step leaves in them shows in the results of the next.
#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

/// More steps than a convolution reaches back.
const Steps kTwelve = {1, std::vector<uint32_t>(12, 1)};
/// Fewer tokens than a convolution reaches back, odd numbers, many blocks of tokens.
const Steps kBlocks = {300, {3, 1, 17, 300, 2, 1, 16, 1}};

// Products of up to 20 terms, and what the activation adds.
constexpr double kConvolution = 4e-6;
// Sums over 256 rows in f32, carried from token to token; what a token adds to the state decays.
constexpr double kDelta = 1e-5;

}  // namespace

std::vector<Case> short_conv_cases() {
  struct Kind {
    uint32_t columns, taps;
    Activation activation;
    bool bias, gated = false;
  };
  std::vector<Case> all;
  for (const Kind& kind :
       {Kind{1, 2, Activation::kIdentity, true}, Kind{7, 3, Activation::kIdentity, false},
        Kind{300, 4, Activation::kSilu, false}, Kind{129, 4, Activation::kSigmoid, true},
        Kind{5, 20, Activation::kGeluTanh, false}, Kind{130, 3, Activation::kIdentity, true, true},
        Kind{9, 4, Activation::kSilu, false, true}}) {
    for (const Steps& steps : {kTwelve, kBlocks}) {
      CaseBuilder b(fmt::format("short_conv {}x{} {}{}{} {}", kind.columns, kind.taps,
                                activation_name(kind.activation), kind.bias ? " bias" : "",
                                kind.gated ? " gated" : "", label(steps)));
      const ValueId x = b.activation(kind.columns * (kind.gated ? 3 : 1));
      const ValueId w = b.random("w", {kind.columns, kind.taps});
      const ValueId state = b.graph().recurrent("rows", {Dim{kind.taps} - 1, kind.columns});
      std::optional<ValueId> bias;
      if (kind.bias) bias = b.random("bias", {kind.columns});
      std::vector<ValueId> inputs = {x, w, state};
      if (bias) inputs.push_back(*bias);
      const ValueId y = b.graph().add_node(ShortConv{kind.activation, kind.gated}, inputs).front();
      all.push_back(b.finish(y, steps, kConvolution));
    }
  }
  return all;
}

std::vector<Case> gated_delta_cases() {
  struct Kind {
    uint32_t key_heads, heads, dk, dv;
    float range;          // of a, b and the rates
    uint32_t others = 0;  // of the one row that has all, which is tiled, too
  };
  std::vector<Case> all;
  for (const Kind& kind :
       {Kind{1, 1, 16, 16, 2}, Kind{2, 4, 32, 32, 1}, Kind{1, 3, 48, 40, 1},
        Kind{2, 2, 128, 128, 2}, Kind{1, 2, 256, 24, 1}, Kind{1, 1, 64, 256, 1},
        Kind{1, 2, 5, 3, 200}, Kind{3, 3, 21, 33, 4}, Kind{2, 4, 16, 8, 1, 10}}) {
    for (const Steps& steps : {kTwelve, kBlocks}) {
      CaseBuilder b(fmt::format("gated_delta {}/{} {}x{} {} {}", kind.heads, kind.key_heads,
                                kind.dk, kind.dv, kind.others, label(steps)));
      const uint32_t h = kind.heads;
      const uint32_t width = 2 * kind.key_heads * kind.dk + h * kind.dv;
      const bool whole = kind.others != 0;
      const ValueId qkv = b.activation(whole ? width + kind.others + 2 * h : width);
      const ValueId ab = whole ? qkv : b.activation(2 * h, kind.range);
      const std::vector<float> negative(size_t{2} * h, -0.7f);
      const ValueId rates = whole ? b.constant("rates", {2, h}, negative)
                                  : b.random("rates", {2, h}, DType::kF32, kind.range);
      const ValueId state = b.graph().recurrent("s", {h, kind.dk, kind.dv});
      const GatedDelta op{.key_heads = kind.key_heads, .tiled = whole, .negated = whole};
      const ValueId y = b.graph().gated_delta(qkv, ab, rates, state, op);
      all.push_back(b.finish(y, steps, kDelta));
    }
  }
  return all;
}

std::vector<Case> selective_scan_cases() {
  struct Kind {
    uint32_t groups, heads, n, p;
    float range;          // of dt and the params
    uint32_t others = 0;  // of the one row that has all; dt has a factor and bounds then
  };
  std::vector<Case> all;
  for (const Kind& kind : {Kind{1, 1, 16, 16, 2}, Kind{2, 4, 32, 32, 1}, Kind{1, 3, 16, 40, 1},
                           Kind{1, 2, 128, 64, 2}, Kind{1, 2, 256, 24, 1}, Kind{2, 2, 5, 3, 100},
                           Kind{3, 3, 21, 33, 4}, Kind{2, 4, 16, 8, 1, 10}}) {
    for (const Steps& steps : {kTwelve, kBlocks}) {
      CaseBuilder b(fmt::format("selective_scan {}/{} {}x{} {} {}", kind.heads, kind.groups, kind.n,
                                kind.p, kind.others, label(steps)));
      const uint32_t h = kind.heads, width = h * kind.p + 2 * kind.groups * kind.n;
      const bool whole = kind.others != 0;
      const ValueId xbc = b.activation(whole ? width + kind.others + h : width);
      const ValueId dt = whole ? xbc : b.activation(h, kind.range);
      const std::vector<float> negative(size_t{3} * h, -0.7f);
      const ValueId params = whole ? b.constant("params", {3, h}, negative)
                                   : b.random("params", {3, h}, DType::kF32, kind.range);
      const ValueId state = b.graph().recurrent("s", {h, kind.n, kind.p});
      SelectiveScan op{.groups = kind.groups, .negated = whole};
      if (whole) op.dt_factor = 1.5f, op.low = 0.2f, op.high = 0.6f;
      const ValueId y = b.graph().selective_scan(xbc, dt, params, state, op);
      all.push_back(b.finish(y, steps, kDelta));
    }
  }
  return all;
}

}  // namespace tokamak::parity
