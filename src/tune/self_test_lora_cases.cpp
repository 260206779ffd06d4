#include "tune/self_test_writer.h"

namespace tokamak {

void add_lora_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  constexpr uint32_t kIn = 264, kOut = 70, kRank = 8, kRanks = 24;
  for (const std::string_view op : {LoraDown::kName, LoraUp::kName}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      SelfTestWriter w(fmt::format("{} {} {}->{}", op, dtype_name(dtype), kIn, kOut), op);
      const ValueId x = w.activation(kIn), y = w.activation(kOut);
      // One adapter, which the self-test gives to all of its sequences.
      const ValueId h =
          w.graph().add_node(LoraDown{kRanks}, {x, w.random("a", {kRanks, kIn}, dtype)}).front();
      const ValueId b = w.random("b", {kOut, kRank}, dtype);
      const ValueId sum = w.graph().add_node(LoraUp{kRanks - kRank}, {y, h, b}).front();
      all.push_back(w.finish(sum, steps, 2 * kSelfTestSum));
    }
  }
}

}  // namespace tokamak
