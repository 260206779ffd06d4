#include "quantize/mlx.h"

#include "formats/safetensors.h"
#include "graph/builder.h"
#include "model/repack_checkpoint_test.h"

namespace tokamak {
namespace {

constexpr uint64_t kRows = 3, kColumns = 128;

/// A checkpoint of two equal matrices, of an embedding and of a router, and a norm.
struct Model {
  Checkpoint checkpoint;
  Graph graph;

  explicit Model(const std::vector<float>& values) {
    checkpoint.numbers<float>("x.weight", DType::kF32, {kRows, kColumns}, values);
    checkpoint.numbers<float>("gate.weight", DType::kF32, {kRows, kColumns}, values);
    checkpoint.numbers<float>("norm.weight", DType::kF32, {2}, {1, 2});
    GraphBuilder b;
    const auto matrix = [&](const char* name) {
      return b.constant(name, {Dim(kRows), Dim(kColumns)}, DType::kF32, Weight{{name}});
    };
    const ValueId table = matrix("x.weight");
    const ValueId x = b.embed(b.input("tokens", {kTokens}), table);
    const ValueId logits = b.linear(x, matrix("gate.weight"));
    graph = *b.finish(b.route(logits, {.top_k = 1}).shares);
  }

  std::string written(const QuantizationPlan& plan, uint32_t threads = 1) const {
    std::string out;
    const auto done = write_mlx(
        checkpoint.file(), plan, 0, {.threads = threads}, [&](std::span<const std::byte> bytes) {
          out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          return Result<void>();
        });
    EXPECT_TRUE(done) << done.error().message;
    return out;
  }
};

std::vector<float> noise() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.05f);
  std::vector<float> out(kRows * kColumns);
  for (float& value : out) value = normal(random);
  for (size_t i = 0; i < 64; ++i) out[i] = i < 32 ? 0.0f : 0.5f;  // a group of two numbers
  return out;
}

TEST(Mlx, KeepsWhatItsBitsCanHold) {
  const std::vector<float> values = noise();
  const Model model(values);
  for (const uint32_t bits : {2u, 3u, 4u, 5u, 6u, 8u}) {
    for (const uint32_t group : {32u, 64u, 128u}) {
      const TensorFile file = model.checkpoint.file();
      const QuantizationPlan plan = plan_mlx(file, model.graph, {bits, group});
      const std::string text = model.written(plan);
      EXPECT_EQ(text, model.written(plan, 3));
      const auto bytes = std::as_bytes(std::span(text));
      const auto read = read_safetensors(memory_source("m", {bytes.begin(), bytes.end()}));
      ASSERT_TRUE(read) << read.error().message;
      ASSERT_EQ(read->tensors().size(), 5u);
      EXPECT_EQ(describe(*read->find("gate.weight")), "f32[3, 128]");
      const auto rows =
          rows_of(*read, constant(kRows, kColumns, plan.tensors[0].to.dtype, {{"x.weight"}}));
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t at = 0; at < kColumns; at += group) {
          const auto own = std::span(values).subspan(row * kColumns + at, group);
          const auto [least, most] = std::ranges::minmax(own);
          const float farther = std::abs(least) > std::abs(most) ? least : most;
          const float step = (most - least) / float((1u << bits) - 1);
          double squares = 0;
          for (size_t i = 0; i < group; ++i) {
            const float found = rows[row][at + i];
            squares += std::pow(double(found - own[i]), 2);
            if (own[i] == farther) {
              EXPECT_NEAR(found, farther, 1e-6f);
            }
          }
          EXPECT_LE(std::sqrt(squares / group), 0.5001 * double(step)) << bits << ", " << group;
        }
      }
    }
  }
}

TEST(Mlx, PlansWithReasons) {
  const Model model(noise());
  const TensorFile file = model.checkpoint.file();
  const QuantizationPlan plan = plan_mlx(file, model.graph, {.bits = 4, .group = 64});
  ASSERT_EQ(plan.tensors.size(), 3u);
  EXPECT_EQ(dtype_name(plan.tensors[0].to.dtype), "affine4_g64_f32");
  EXPECT_EQ(plan.tensors[0].to.bytes, kRows * (kColumns / 2 + 2 * 2 * sizeof(float)));
  EXPECT_EQ(plan.tensors[1].note, "stays: no plain product of the text");  // the router
  EXPECT_EQ(plan.tensors[2].note, "stays: no matrix of floats");
  Graph turned = model.graph;
  for (TensorDesc& value : turned.values) {
    if (auto* weight = std::get_if<Weight>(&value.recipe)) weight->parts[0].transposed = true;
  }
  EXPECT_FALSE(plan_mlx(file, turned, {}).tensors[0].is_rounded);
  EXPECT_EQ(mlx_bits("mlx6"), 6u);
  EXPECT_FALSE(mlx_bits("mlx7"));
}

TEST(Mlx, NamesANumberThatIsNone) {
  std::vector<float> values = noise();
  values[kColumns + 5] = std::numeric_limits<float>::infinity();
  const Model model(values);
  const TensorFile file = model.checkpoint.file();
  const auto done = write_mlx(file, plan_mlx(file, model.graph, {}), 0, {.threads = 2},
                              [](std::span<const std::byte>) { return Result<void>(); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "memory: tensor \"x.weight\", row 1, column 5 is inf, expected a finite number.");
}

}  // namespace
}  // namespace tokamak
