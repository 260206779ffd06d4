// The vision tower of Gemma 4. Reference: transformers/models/gemma4/modeling_gemma4.py
// (Gemma4VisionModel, Gemma4MultimodalEmbedder) and image_processing_gemma4.py.
//
// The differences from Gemma 3's:
//   images keep their shape, in as many patches as fit a budget of tokens
//   blocks are those of the text: four norms, a gated MLP, no biases, q, k and v normed per head,
//   scores not scaled
//   a patch has the rows of its column and of its row added; of each head one half turns by the
//   column and one by the row, each in halves of its own
//   products may take and give numbers between limits, each its own
//   squares of patches are averaged, perhaps shifted and scaled by column, normed without a weight
//   and projected
// The rows of q and k are put in another order, in which the two halves of a head turn as one does.
#include <cmath>
#include <limits>

#include "model/arch.h"
#include "model/arch/gemma4_vision_config.h"
#include "model/scalar.h"

namespace tokamak {
namespace {

constexpr std::string_view kTower = "model.vision_tower.";

struct Block {
  VisionBuilder& b;
  const Gemma4VisionConfig& c;
  const TensorFile& file;
  std::string p;

  /// x within the numbers "{module}.{what}_min" and "_max" of the file, if there are any.
  ValueId clipped(ValueId x, std::string_view module, std::string_view what) {
    if (!c.clips) return x;
    constexpr float kMaxFloat = std::numeric_limits<float>::max();
    const std::string name = fmt::format("{}{}{}.{}", kTower, p, module, what);
    const Result<float> low = scalar_or(file, name + "_min", -kMaxFloat);
    const Result<float> high = scalar_or(file, name + "_max", kMaxFloat);
    for (const Result<float>* one : {&low, &high}) {
      if (!*one) b.reject(one->error());
    }
    if (!low || !high || (*low <= -kMaxFloat && *high >= kMaxFloat)) return x;
    if (*low <= *high) return b.clamp(x, std::max(*low, -kMaxFloat), std::min(*high, kMaxFloat));
    b.reject({ErrorCode::kInvalidInput,
              fmt::format("Tensor \"{}_min\" is {}, more than \"{}_max\", which is {}.", name, *low,
                          name, *high)});
    return x;
  }

  ValueId linear(ValueId x, const std::string& module, uint32_t rows) {
    x = b.projection(clipped(x, module, "input"), fmt::format("{}{}.linear", p, module), rows);
    return clipped(x, module, "output");
  }

  ValueId norm(const char* name, ValueId x) {
    return b.rms_norm(x, b.vector(fmt::format("{}{}.weight", p, name), c.hidden), c.eps);
  }

  /// Quarters of a head in the order in which halves turn together: x, y, x, y.
  std::vector<ModelBuilder::Rows> quarters(uint32_t head, uint32_t of) const {
    const uint32_t d = c.head_dim, first = head * d, n = d / 4;
    return {{first, n, of}, {first + d / 2, n, of}, {first + n, n, of}, {first + d / 2 + n, n, of}};
  }

  /// x: [T, hidden] -> [T, hidden], normed per head and turned.
  ValueId turned(const std::string& name, const char* norm_name, ValueId x) {
    const std::string tensor = fmt::format("{}self_attn.{}.linear.weight", p, name);
    std::vector<ModelBuilder::Piece> rows;
    for (uint32_t head = 0; head < c.heads; ++head) {
      for (const auto& quarter : quarters(head, c.heads * c.head_dim)) {
        rows.push_back({tensor, quarter});
      }
    }
    const std::string module = "self_attn." + name;
    ValueId h = b.projection(clipped(x, module, "input"), p + module, rows);
    h = clipped(h, module, "output");
    const std::string weight = fmt::format("{}self_attn.{}.weight", p, norm_name);
    h = b.rms_norm(h, b.pieces_of_vector(weight, weight, quarters(0, c.head_dim)), c.eps);
    return b.turned(h, c.head_dim);
  }

  ValueId attention(ValueId x) {
    const uint32_t columns = c.heads * c.head_dim;
    ValueId q = turned("q_proj", "q_norm", x);
    ValueId k = turned("k_proj", "k_norm", x);
    ValueId v = linear(x, "self_attn.v_proj", columns);
    v = b.plain_norm(v, c.head_dim, c.eps);
    ValueId o = b.attention_both_ways(q, k, v, c.head_dim, 1);
    return linear(o, "self_attn.o_proj", c.hidden);
  }

  ValueId mlp(ValueId x) {
    ValueId gate = linear(x, "mlp.gate_proj", c.ffn);
    ValueId up = linear(x, "mlp.up_proj", c.ffn);
    return linear(b.glu(c.activation, gate, up), "mlp.down_proj", c.hidden);
  }

  ValueId operator()(ValueId x) {
    ValueId h = attention(norm("input_layernorm", x));
    x = b.add(x, norm("post_attention_layernorm", h));
    h = mlp(norm("pre_feedforward_layernorm", x));
    return b.add(x, norm("post_feedforward_layernorm", h));
  }
};

}  // namespace

Result<VisionTower> build_gemma4_vision(const ConfigReader& config, const TensorFile& file,
                                        const TowerBuild& build) {
  TOK_TRY(const Gemma4VisionConfig c, read_gemma4_vision(config, build.processor));
  const std::string prefix(kTower);
  VisionTower tower = {.max_patches = c.tokens * c.side * c.side,
                       .patch = c.patch,
                       .side = c.side,
                       .head_dim = c.head_dim};
  ConfigReader reader = config, text = config.at("text_config");
  tower.placeholder = reader.size("image_token_id");
  const std::string sees = text.word("use_bidirectional_attention", "");
  TOK_TRY(reader.status());
  TOK_TRY(text.status());
  tower.sees_whole_images = tower.only_in_windows = sees == "vision";
  tower.channels_last = !c.channels_apart;
  tower.fills_tokens = true;
  tower.positions_are = PatchPositions::kByAxis;
  tower.angle_base = 100.0;
  tower.columns_first = true;
  tower.template_word = "<|image|>";
  tower.words = "<|image><|image|><image|>";
  TOK_TRY(tower.positions, position_table(file, prefix + "patch_embedder.position_embedding_table",
                                          2 * c.positions, c.hidden));
  VisionBuilder patches(file, prefix, tower.max_patches, build.kv_dtype);
  ValueId x = patches.with_positions(patches.embedded_patches("patch_embedder.input_proj", c.hidden,
                                                              3 * c.patch * c.patch, false));
  for (uint32_t i = 0; i < c.layers && patches.ok(); ++i) {
    x = Block{patches, c, file, fmt::format("encoder.layers.{}.", i)}(x);
  }
  TOK_TRY(tower.stages.emplace_back().patches, patches.finish(x));
  VisionBuilder merge(file, "model.", tower.max_patches);
  ValueId rows = merge.scale(merge.averaged(c.side * c.side, c.hidden), std::sqrt(float(c.hidden)));
  if (c.standardizes) {
    const ValueId mean = merge.vector("vision_tower.std_bias", c.hidden);
    rows = merge.standardize(rows, mean, merge.vector("vision_tower.std_scale", c.hidden));
  }
  rows = merge.plain_norm(rows, c.hidden, c.eps);
  TOK_TRY(tower.stages.back().merge,
          merge.finish(merge.projection(rows, "embed_vision.embedding_projection", c.out)));
  return tower;
}

}  // namespace tokamak
