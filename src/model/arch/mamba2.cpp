#include "model/arch/mamba2.h"

#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct ScanDecoder : TextDecoder {
  ScanDecoder(ModelBuilder& builder, const Mamba2Config& config)
      : TextDecoder(builder, config), own(config) {}

  ValueId normed(const std::string& name, ValueId y) {
    const uint32_t inner = own.scan_heads * own.scan_head_dim;
    const ValueId w = b.vector(name, inner);
    if (own.norm_groups == 1) return b.rms_norm(y, w, c.eps);
    y = b.plain_norm(y, inner / own.norm_groups, c.eps);
    return b.standardize(y, b.filled(0, inner), w);
  }

  /// y * silu(z) with its norm; both [T, heads * head_dim].
  ValueId gated(const std::string& norm_name, ValueId z, ValueId y) {
    if (own.gate_norm == GateNorm::kBefore) y = normed(norm_name, y);
    y = b.glu(Activation::kSilu, z, y);
    return own.gate_norm == GateNorm::kAfter ? normed(norm_name, y) : y;
  }

  /// x: [T, hidden] -> [T, hidden]
  ValueId scan(uint32_t layer, ValueId x) {
    const std::string at = p + std::string(own.scan);
    const uint32_t h = own.scan_heads, inner = h * own.scan_head_dim, bc = own.groups * own.states;
    const uint32_t wide = inner + 2 * bc, all = inner + wide + h;
    ValueId xbc =
        b.projection(x, at + "in_proj", {.first = inner, .count = wide, .of = all}, own.in_bias);
    const ValueId z =
        b.projection(x, at + "in_proj", {.first = 0, .count = inner, .of = all}, own.in_bias);
    const ValueId dt = b.projection(x, at + "in_proj",
                                    {.first = inner + wide, .count = h, .of = all}, own.in_bias);
    std::vector<ModelBuilder::Factor> factors;
    if (own.x_factor != 1 || own.b_factor != 1 || own.c_factor != 1) {
      factors = {{inner, own.x_factor}, {bc, own.b_factor}, {bc, own.c_factor}};
    }
    xbc = b.convolution(layer, xbc, at + "conv1d", own.taps, Activation::kSilu, own.conv_bias,
                        factors);
    const ValueId params = b.vectors(at + "params", {at + "A_log", at + "dt_bias", at + "D"}, h);
    const ValueId before =
        b.recurrent(fmt::format("scan.{}", layer), {h, own.states, own.scan_head_dim});
    const ValueId y = b.selective_scan(xbc, dt, params, before,
                                       {.groups = own.groups,
                                        .negated = own.from_gguf,
                                        .dt_factor = own.dt_factor,
                                        .low = own.delta_least,
                                        .high = own.delta_most});
    return b.projection(gated(at + "norm.weight", z, y), at + "out_proj", c.hidden, own.out_bias);
  }

  ValueId times(ValueId y, float factor) { return factor == 1 ? y : b.scale(y, factor); }

  ValueId attention(uint32_t layer, ValueId x) override {
    const Mixer mixer = own.mixers[layer];
    if (mixer == Mixer::kAttention) return TextDecoder::attention(layer, x);
    const ValueId scanned = times(scan(layer, x), own.scan_factor);
    if (mixer == Mixer::kScan) return scanned;
    return b.add(times(TextDecoder::attention(layer, x), own.attention_factor), scanned);
  }

  ValueId layer(uint32_t index, ValueId x) override {
    if (!own.one_part) return TextDecoder::layer(index, x);
    const ValueId before = norm(c.norms.attention, x, c.hidden);
    const bool is_mlp = own.mixers[index] == Mixer::kMlp;
    return b.add(x, is_mlp ? mlp(index, before) : attention(index, before));
  }

  const Mamba2Config& own;
};

}  // namespace

Result<Graph> decoder_graph(const Mamba2Config& c, const TensorFile& file,
                            const BuildOptions& options) {
  ModelBuilder builder(file, options, decoder_prefix(file, c.names.embedding));
  return ScanDecoder(builder, c).build();
}

}  // namespace tokamak
