// The ops whose states are changed in place: the first step must not read them, and the second
// shows what the first left.
#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Writer = SelfTestWriter;
constexpr uint32_t kOdd = kSelfTestHeads * kSelfTestHead;
constexpr double kDelta = 1e-5;

}  // namespace

void add_recurrent(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  {
    Writer w(fmt::format("short_conv silu {} x 4", kOdd), ShortConv::kName);
    const ValueId x = w.activation(kOdd), taps = w.random("w", {kOdd, 4});
    const ValueId state = w.graph().recurrent("rows", {3, kOdd});
    const ValueId bias = w.random("b", {kOdd});
    const ValueId y = w.graph().short_conv(x, taps, state, Activation::kSilu, bias);
    all.push_back(w.finish(y, steps, kSelfTestFunction));
  }
  {
    Writer w("selective_scan 4/2 40 x 36", SelectiveScan::kName);
    const ValueId xbc = w.activation(4 * 36 + 2 * 2 * 40), dt = w.activation(4, 2);
    const ValueId params = w.random("params", {3, 4});
    const ValueId state = w.graph().recurrent("s", {4, 40, 36});
    const ValueId y = w.graph().selective_scan(xbc, dt, params, state, {.groups = 2});
    all.push_back(w.finish(y, steps, kDelta));
  }
  Writer w("gated_delta 4/2 40 x 36", GatedDelta::kName);
  const ValueId qkv = w.activation(2 * 2 * 40 + 4 * 36), ab = w.activation(8, 2);
  const ValueId rates = w.random("rates", {2, 4});
  const ValueId state = w.graph().recurrent("s", {4, 40, 36});
  const ValueId y = w.graph().gated_delta(qkv, ab, rates, state, {.key_heads = 2});
  all.push_back(w.finish(y, steps, kDelta));
}

}  // namespace tokamak
