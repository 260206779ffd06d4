// The workgroup memory of kernels whose sizes follow the shapes, read off their texts: no more than
// the device grants, or it refuses the pipeline.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "kernels/attention/step_attention.h"
#include "kernels/experts/expert_matvec.h"
#include "kernels/launch.h"
#include "kernels/linear/linear.h"
#include "kernels/problems_test.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

/// The workgroup memory in texts: constants and arrays by their formulas.
struct Texts {
  struct Array {
    uint32_t element_bytes;
    std::string count;
  };
  std::map<std::string, std::string> constants;
  std::vector<Array> arrays;

  explicit Texts(const std::vector<std::string>& sources) {
    std::string text;
    for (const std::string& source : sources) text += source_text(source);
    static const std::regex constant(R"((?:^|\n)const (\w+) = ([^;]*);)");
    static const std::regex array(R"(var<workgroup> \w+: array<([\w<>]+), ([^;]*)>;)");
    static const std::map<std::string, uint32_t> bytes = {{"f32", 4},        {"u32", 4},
                                                          {"vec2<f32>", 8},  {"vec2<u32>", 8},
                                                          {"vec4<f32>", 16}, {"vec4<u32>", 16}};
    const std::sregex_iterator end;
    for (std::sregex_iterator it(text.begin(), text.end(), constant); it != end; ++it) {
      constants[(*it)[1]] = (*it)[2];
    }
    for (std::sregex_iterator it(text.begin(), text.end(), array); it != end; ++it) {
      const auto element = bytes.find((*it)[1]);
      EXPECT_NE(element, bytes.end()) << "how large is " << (*it)[1] << "?";
      if (element != bytes.end()) arrays.push_back({element->second, (*it)[2]});
    }
  }

  static const Texts& of(const std::vector<std::string>& sources) {
    static std::map<std::vector<std::string>, Texts> known;
    return known.try_emplace(sources, sources).first->second;
  }
};

/// Evaluates them for a launch.
class Sizes {
 public:
  explicit Sizes(const Launch& launch) : texts_(Texts::of(launch.sources)) {
    for (const Constant& constant : launch.constants) {
      if (const auto* value = std::get_if<uint32_t>(&constant.value)) {
        values_[constant.name] = *value;
      }
    }
  }

  /// Arrays begin at multiples of 16 bytes.
  uint32_t workgroup_bytes() {
    uint32_t sum = 0;
    for (const auto& [bytes, count] : texts_.arrays) sum += round_up(bytes * value_of(count), 16u);
    return sum;
  }

 private:
  uint32_t value_of(const std::string& formula) {
    std::string_view rest = formula;
    return sum_of(rest);
  }
  static bool takes(std::string_view& rest, std::string_view token) {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.starts_with(token)) return false;
    rest.remove_prefix(token.size());
    return true;
  }
  uint32_t sum_of(std::string_view& rest) {
    uint32_t value = product_of(rest);
    while (true) {
      if (takes(rest, "+")) {
        value += product_of(rest);
      } else if (takes(rest, "-")) {
        value -= product_of(rest);
      } else {
        return value;
      }
    }
  }
  uint32_t product_of(std::string_view& rest) {
    uint32_t value = single(rest);
    while (true) {
      if (takes(rest, "*")) {
        value *= single(rest);
      } else if (takes(rest, "/")) {
        value /= single(rest);
      } else {
        return value;
      }
    }
  }
  uint32_t single(std::string_view& rest) {
    if (takes(rest, "(") || takes(rest, "max(")) {
      uint32_t value = sum_of(rest);
      if (takes(rest, ",")) value = std::max(value, sum_of(rest));
      takes(rest, ")");
      return value;
    }
    takes(rest, "");
    size_t length = 0;
    while (length < rest.size() && (std::isalnum(rest[length]) || rest[length] == '_')) ++length;
    const std::string name(rest.substr(0, length));
    rest.remove_prefix(length);
    if (!name.empty() && std::isdigit(name[0])) return uint32_t(std::stoul(name));
    if (const auto value = values_.find(name); value != values_.end()) return value->second;
    const auto formula = texts_.constants.find(name);
    if (formula == texts_.constants.end()) {
      ADD_FAILURE() << "what is " << name << "?";
      return 1;
    }
    return values_[name] = value_of(formula->second);
  }

  const Texts& texts_;
  std::map<std::string, uint32_t> values_;
};

/// Asks variants for launches and keeps the largest that is too large of each.
struct Check {
  struct Excess {
    uint32_t bytes = 0;
    std::string shape;
  };
  std::map<std::string_view, Excess> excesses;
  size_t asked = 0;

  void ask(std::span<const KernelVariant> variants, const Problem& p, const DeviceInfo& device,
           const std::string& shape) {
    for (const KernelVariant& variant : variants) {
      if (variant.op != p.op->index() || !refusal(variant, p, device).empty()) continue;
      ++asked;
      const uint32_t bytes = Sizes(variant.launch(p, device)).workgroup_bytes();
      if (bytes <= device.limits.workgroup_bytes) continue;
      Excess& excess = excesses[variant.name];
      if (bytes > excess.bytes) excess = {bytes, shape};
    }
  }
  void report() const {
    EXPECT_GT(asked, 1000);
    for (const auto& [name, excess] : excesses) {
      ADD_FAILURE() << name << " takes " << excess.bytes << " bytes for " << excess.shape;
    }
  }
};

/// Default limits, that many lanes.
DeviceInfo device_with(uint32_t subgroup_min, uint32_t subgroup_max) {
  DeviceInfo device = plain_webgpu();
  device.features = kAllFeatures;
  device.subgroup_min = subgroup_min;
  device.subgroup_max = subgroup_max;
  return device;
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all = {device_with(4, 32), device_with(8, 8), device_with(32, 32),
                                 device_with(64, 64), full_webgpu()};
  all.push_back(device_with(8, 8));
  all.back().software = true;
  all.push_back(device_with(32, 32));
  all.back().limits.workgroup_threads = 1024;
  return all;
}

TEST(WorkgroupMemory, HasTheStepAttentionOfEveryHead) {
  Check check;
  for (Dim d = 8; d <= 512; d += 8) {
    for (const auto& [heads, kv, splits] : {std::tuple{4u, 4u, 1u},
                                            {8u, 2u, 1u},
                                            {256u, 8u, 1u},
                                            {1024u, 32u, 1u},
                                            {16u, 8u, 16u},
                                            {24u, 8u, 16u},
                                            {32u, 8u, 16u}}) {
      for (const bool norms : {false, true}) {
        for (const bool appends : {false, true}) {
          const Op op =
              StepAttention{.heads = heads, .appends = appends, .eps = 1e-5f, .splits = splits};
          const Dim columns = Dim{heads} * d, pairs = Dim{kv} * d;
          const TensorDesc cache = tensor({32, 2, kv, d}, DType::kF16);
          Problem p{.op = &op, .inputs = {}, .outputs = {}};
          p.inputs = {tensor({kTokens, columns + (appends ? 2 * pairs : 0)}), tensor({32, d})};
          if (!appends) p.inputs.push_back(cache);
          p.inputs.push_back(tensor({2}, DType::kU32));
          if (norms) p.inputs.push_back(tensor({appends ? 2 * d : d}));
          p.outputs = {tensor({kTokens, splits == 1 ? columns : splits * heads * (d + 2)})};
          if (appends) p.outputs.push_back(cache);
          for (const DeviceInfo& device : devices()) {
            check.ask(step_attention_variants(), p, device,
                      fmt::format("{}/{}x{}, norms {}, appends {}, splits {}", heads, kv, d, norms,
                                  appends, splits));
          }
        }
      }
    }
  }
  check.report();
}

TEST(WorkgroupMemory, HasEveryGatedNetwork) {
  Check check;
  for (const Prologue before : {Prologue::kNone, Prologue::kNorm, Prologue::kNormAddNorm}) {
    const Op op = GatedFfn{.glu = {.prologue = before, .epilogue = Epilogue::kGlu, .eps = 1e-5f}};
    const auto& glu = std::get<GatedFfn>(op).glu;
    for (const char* type : {"f32", "bf16", "q4_0", "q8_0", "q6_k"}) {
      const DType dtype = dtype_from_name(type).value();
      for (const Dim columns : {256, 1024, 1536}) {
        for (const Dim inner : {256, 1024, 4096, 8192, 16384, 65536}) {
          Problem p{.op = &op, .inputs = {}, .outputs = {}};
          p.inputs = {tensor({kTokens, columns}), tensor({2 * inner, columns}, dtype)};
          if (glu.adds()) p.inputs.push_back(p.inputs[0]);
          if (glu.norms()) p.inputs.push_back(tensor({glu.adds() ? 2 * columns : columns}));
          p.inputs.push_back(tensor({columns, inner}, dtype));
          p.outputs = {tensor({kTokens, 2 * columns}, DType::kI32)};
          if (glu.adds()) p.outputs.push_back(p.inputs[0]);
          for (const DeviceInfo& device : devices()) {
            check.ask(linear_variants(), p, device,
                      fmt::format("{} {} [{}, {}]", kPrologueNames[size_t(before)], type, columns,
                                  inner));
          }
        }
      }
    }
  }
  check.report();
}

TEST(WorkgroupMemory, HasTheProductsOfExperts) {
  Check check;
  const Op mix = ExpertMix{.experts = 16}, glu = ExpertGlu{.experts = 16, .norm = true};
  for (const char* type : {"bf16", "q4_0", "q8_0", "q6_k"}) {
    const DType dtype = dtype_from_name(type).value();
    for (const Dim in : {256, 512, 768, 1536, 2048, 6144, 8192}) {
      for (const Dim top_k : {1, 2, 8}) {
        for (const Dim out : {768, 2048, 8192}) {
          const TensorDesc chosen = tensor({kTokens, top_k}, DType::kU32);
          Problem p{.op = &mix, .inputs = {}, .outputs = {tensor({kTokens, out})}};
          p.inputs = {tensor({kTokens, top_k * in}), tensor({16 * out, in}, dtype), chosen,
                      tensor({kTokens, top_k})};
          Problem gated{.op = &glu, .inputs = {}, .outputs = {tensor({kTokens, top_k * out})}};
          gated.inputs = {tensor({kTokens, in}), tensor({32 * out, in}, dtype), chosen,
                          tensor({in})};
          for (const DeviceInfo& device : devices()) {
            const std::string shape = fmt::format("{} {} of [{}, {}]", type, top_k, out, in);
            check.ask(expert_matvec_variants(), p, device, "mix " + shape);
            check.ask(expert_matvec_variants(), gated, device, "glu " + shape);
          }
        }
      }
    }
  }
  check.report();
}

TEST(WorkgroupMemory, HasTheProductOfEveryShape) {
  Check check;
  std::vector<Op> ops = {Linear{}};
  for (const Prologue before :
       {Prologue::kNone, Prologue::kNorm, Prologue::kNormAdd, Prologue::kNormAddNorm,
        Prologue::kMergeSplits, Prologue::kHeadNorm, Prologue::kLayerNorm}) {
    for (const Epilogue after : {Epilogue::kNone, Epilogue::kAdd, Epilogue::kArgmax}) {
      // Neither attention nor heads come right before the choice of a token.
      const bool of_heads = before == Prologue::kMergeSplits || before == Prologue::kHeadNorm;
      if (of_heads && after == Epilogue::kArgmax) continue;
      ops.emplace_back(FusedLinear{.prologue = before, .epilogue = after, .eps = 1e-5f});
    }
  }
  for (Op& op : ops) {
    auto* fused = std::get_if<FusedLinear>(&op);
    for (const char* type : {"f32", "f16", "bf16", "q4_0", "q8_0", "q6_k"}) {
      for (const uint32_t in : {1024u, 2048u, 4096u, 8192u, 14336u, 16384u, 28672u}) {
        for (const Dim rows : {64, 1538, 4096, 16384, 57344, 262144}) {
          Problem p = ordinary(op);
          p.inputs[0].shape[1] = in;
          p.inputs[1] = tensor({rows, in}, dtype_from_name(type).value());
          std::string name = "linear";
          if (fused != nullptr) {
            name = fmt::format("{}, {}", kPrologueNames[size_t(fused->prologue)],
                               kEpilogueNames[size_t(fused->epilogue)]);
            if (fused->prologue == Prologue::kHeadNorm) {
              p.inputs[fused->w()].shape[0] = std::max(16u, in / 256);
            }
            if (fused->prologue == Prologue::kMergeSplits) {
              if (in > 16384) continue;  // columns of more heads than the largest models have
              fused->splits = power_of_two(24576 / in, 4, 8);  // as the pass takes them
              p.inputs[0].shape[1] = fused->splits * (in + 2 * in / 128);
            }
          }
          for (const DeviceInfo& device : devices()) {
            check.ask(linear_variants(), p, device,
                      fmt::format("{} {} [{}, {}]", name, type, rows, in));
          }
        }
      }
    }
  }
  check.report();
}

}  // namespace
}  // namespace tokamak
