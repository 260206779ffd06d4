// Packings with scales of their own: FP8, int8, microscaling, compressed-tensors and NF4.
#include "model/repack_checkpoint_test.h"

namespace tokamak {
namespace {

constexpr size_t kRows = 136, kColumns = 192;

Bytes floats(Checkpoint& c, size_t count) {
  Bytes data(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    const float value = float(c.random() % 2000) / 1000 - 1;
    std::memcpy(data.data() + i * sizeof value, &value, sizeof value);
  }
  return data;
}

float float_at(const Bytes& from, size_t i) {
  return number_at(DType::kF32, from.data() + i * sizeof(float));
}

/// Every weight of "x.weight", which is of `type`, is what `weight` says.
template <typename Weight>
void expect_weights(const Checkpoint& c, const std::string& type, const Weight& weight) {
  const TensorFile file = c.file();
  const auto stored = locate(file, "x.weight", kColumns);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(dtype_name(stored->dtype), type);
  ASSERT_EQ(stored->rows, kRows);
  const auto rows = rows_of(file, constant(kRows, kColumns, stored->dtype, {{"x.weight"}}));
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t i = 0; i < kColumns; ++i) {
      expect_same(weight(r, i), rows[r][i], fmt::format("{} [{}, {}]", type, r, i));
    }
  }
}

std::string error_of(const Checkpoint& c) {
  const auto found = locate(c.file(), "x.weight", kRows, kColumns, {});
  return found ? "" : found.error().message;
}

TEST(RepackScaled, SpreadsScalesOverTheMatrixRowsAndBlocks) {
  struct Kind {
    const char* name;
    std::vector<uint64_t> shape;
    size_t down, across;  // what one scale is for
  };
  const Kind kinds[] = {{"x.weight_scale_inv", {}, kRows, kColumns},
                        {"x.weight_scale", {1}, kRows, kColumns},
                        {"x.weight_scale", {kRows, 1}, 1, kColumns},
                        {"x.weight_scale_inv", {2, 2}, 128, 128}};
  for (const Kind& kind : kinds) {
    for (const DType dtype : {DType::kF8E4M3, DType::kI8}) {
      Checkpoint c;
      const Bytes q = c.noise(kRows * kColumns);
      size_t count = 1;
      for (const uint64_t extent : kind.shape) count *= size_t(extent);
      const Bytes scales = floats(c, count);
      c.add("x.weight", dtype, {kRows, kColumns}, q);
      c.add(kind.name, DType::kF32, kind.shape, scales);
      const bool is_float = dtype == DType::kF8E4M3;
      const size_t across = kColumns / kind.across + (kColumns % kind.across != 0);
      expect_weights(c, is_float ? "f8e4m3_g64" : "symmetric8_g64_f32", [&](size_t r, size_t i) {
        const float scale = float_at(scales, r / kind.down * across + i / kind.across);
        const uint8_t byte = uint8_t(q[r * kColumns + i]);
        return scale * (is_float ? e4m3_to_f32(byte) : float(int8_t(byte)));
      });
    }
  }
}

TEST(RepackScaled, DividesTheScalesOfBitsandbytes) {
  Checkpoint c;
  const Bytes q = c.noise(kRows * kColumns), scales = floats(c, kRows);
  c.add("x.weight", DType::kI8, {kRows, kColumns}, q);
  c.add("x.SCB", DType::kF32, {kRows}, scales);
  expect_weights(c, "symmetric8_g64_f32", [&](size_t r, size_t i) {
    return float_at(scales, r) / 127 * float(int8_t(q[r * kColumns + i]));
  });
}

TEST(RepackScaled, ReadsMicroscaling) {
  constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (const bool is_mlx : {false, true}) {
    for (const char* type : {"mxfp4", "mxfp8", "nvfp4"}) {
      const bool is_nv = type == std::string("nvfp4"), is_byte = type == std::string("mxfp8");
      const size_t bits = is_byte ? 8 : 4, group = is_nv ? 16 : 32, groups = kColumns / group;
      Checkpoint c;
      const Bytes q = c.noise(kRows * kColumns * bits / 8), scales = c.noise(kRows * groups);
      const std::vector<uint64_t> shape = {kRows, groups};
      if (is_mlx) {
        c.add("x.weight", DType::kU32, {kRows, kColumns * bits / 32}, q);
        c.add("x.scales", DType::kU8, shape, scales);
      } else {
        c.add("x.weight_packed", DType::kU8, {kRows, kColumns * bits / 8}, q);
        c.add("x.weight_scale", is_nv ? DType::kF8E4M3 : DType::kU8, shape, scales);
      }
      if (is_nv && !is_mlx) c.numbers<float>("x.weight_global_scale", DType::kF32, {1}, {4.0f});
      const float factor = is_nv && !is_mlx ? 0.25f : 1;
      expect_weights(c, type, [&](size_t r, size_t i) {
        const uint32_t e = u8(scales.data(), r * groups + i / group);
        const float scale = is_nv      ? e4m3_to_f32(uint8_t(e)) * factor
                            : e == 255 ? std::nanf("")
                                       : std::ldexp(1.0f, int(e) - 127);
        const uint32_t number = bits_at(q, (r * kColumns + i) * bits, uint32_t(bits));
        if (is_byte) return scale * e4m3_to_f32(uint8_t(number));
        return scale * (number <= 8 ? kE2m1[number % 8] : -kE2m1[number - 8]);
      });
    }
  }
}

TEST(RepackScaled, ReadsTheBlocksOfGptOss) {
  Checkpoint c;
  constexpr size_t kExperts = 4, kGroups = kColumns / 32;
  const Bytes q = c.noise(kRows * kColumns / 2), scales(kRows * kGroups, std::byte{126});
  c.add("x_blocks", DType::kU8, {kExperts, kRows / kExperts, kGroups, 16}, q);
  c.add("x_scales", DType::kU8, {kExperts, kRows / kExperts, kGroups}, scales);
  expect_weights(c, "mxfp4", [&](size_t r, size_t i) {
    return 0.5f * kE2m1Levels.at(bits_at(q, (r * kColumns + i) * 4, 4));
  });
}

TEST(RepackScaled, ReadsWhatModeloptWrites) {
  Checkpoint c;
  const Bytes q = c.noise(kRows * kColumns / 2);
  const Bytes scales(kRows * kColumns / 16, std::byte{0x38});  // 1
  c.add("x.weight", DType::kU8, {kRows, kColumns / 2}, q);
  c.add("x.weight_scale", DType::kF8E4M3, {kRows, kColumns / 16}, scales);
  c.numbers<float>("x.weight_scale_2", DType::kF32, {}, {3.0f});
  expect_weights(c, "nvfp4", [&](size_t r, size_t i) {
    return 3 * kE2m1Levels.at(bits_at(q, (r * kColumns + i) * 4, 4));
  });
}

TEST(RepackScaled, ReadsPackedNumbersOfCompressedTensors) {
  for (const uint32_t bits : {4u, 8u}) {
    for (const bool has_zeros : {false, true}) {
      Checkpoint c;
      constexpr size_t kGroup = 32, kGroups = kColumns / kGroup;
      const Bytes q = c.noise(kRows * kColumns * bits / 8), scales = c.halves(kRows * kGroups);
      const Bytes zeros = c.noise(kRows * kGroups * bits / 8);
      c.add("x.weight_packed", DType::kI32, {kRows, kColumns * bits / 32}, q);
      c.add("x.weight_scale", DType::kF16, {kRows, kGroups}, scales);
      if (has_zeros) {
        c.add("x.weight_zero_point", DType::kI32, {kRows * bits / 32, kGroups}, zeros);
      }
      const std::string type = has_zeros   ? fmt::format("point{}_g32_f16", bits)
                               : bits == 4 ? "q4_0"
                                           : "symmetric8_g32_f32";
      expect_weights(c, type, [&](size_t r, size_t i) {
        const int number = int(bits_at(q, (r * kColumns + i) * bits, bits));
        int zero = 1 << (bits - 1);
        if (has_zeros) {
          const size_t bit = r * bits;
          zero = int(bits_at(zeros, (bit / 32 * kGroups + i / kGroup) * 32 + bit % 32, bits));
        }
        return half_at(scales.data() + 2 * (r * kGroups + i / kGroup)) * float(number - zero);
      });
    }
  }
}

TEST(RepackNf4, ReadsScalesThatAreFloatsOrBytes) {
  for (const bool is_nested : {false, true}) {
    Checkpoint c;
    constexpr size_t kBlocks = kRows * kColumns / 64, kNested = (kBlocks + 255) / 256;
    const Bytes q = c.noise(kRows * kColumns / 2), map = floats(c, 256);
    const Bytes outer = floats(c, kNested);
    const Bytes scales = is_nested ? c.noise(kBlocks) : floats(c, kBlocks);
    const std::string state = R"({"nested_blocksize": 256, "nested_offset": 0.5})";
    c.add("x.weight", DType::kU8, {kRows * kColumns / 2, 1}, q);
    c.add("x.weight.absmax", is_nested ? DType::kU8 : DType::kF32, {kBlocks}, scales);
    c.add("x.weight.nested_quant_map", DType::kF32, {256}, map);
    c.add("x.weight.nested_absmax", DType::kF32, {kNested}, outer);
    c.numbers<char>("x.weight.quant_state.bitsandbytes__nf4", DType::kU8, {state.size()},
                    {state.begin(), state.end()});
    expect_weights(c, "nf4_g64", [&](size_t r, size_t i) {
      const size_t at = r * kColumns + i, block = at / 64;
      const uint32_t number = u8(q.data(), at / 2) >> (at % 2 == 0 ? 4 : 0) & 15;
      float scale = 0;
      if (is_nested) {
        scale = float_at(map, u8(scales.data(), block)) * float_at(outer, block / 256) + 0.5f;
      } else {
        scale = float_at(scales, block);
      }
      return scale * kNf4Levels.at(number);
    });
  }
}

TEST(RepackScaled, NamesTheTensorThatDoesNotFit) {
  const auto expect = [](const Checkpoint& c, std::initializer_list<const char*> words) {
    for (const char* word : words) {
      EXPECT_NE(error_of(c).find(word), std::string::npos) << word << ": " << error_of(c);
    }
  };
  Checkpoint grid;
  grid.add("x.weight", DType::kF8E4M3, {kRows, kColumns}, grid.noise(kRows * kColumns));
  expect(grid, {"\"x.weight\"", "f8e4m3"});
  grid.add("x.weight_scale_inv", DType::kF32, {3, 2}, floats(grid, 6));
  expect(grid, {"\"x.weight_scale_inv\"", "f32[3, 2]", "128 x 128"});
  Checkpoint micro;
  micro.add("x.weight_packed", DType::kU8, {kRows, 96}, micro.noise(kRows * 96));
  micro.add("x.weight_scale", DType::kU8, {kRows, 3}, micro.noise(kRows * 3));
  expect(micro, {"\"x.weight_scale\"", "u8[136, 3]", "each 32"});
  Checkpoint packed;
  packed.add("x.weight_packed", DType::kI32, {kRows, 24}, packed.noise(kRows * 96));
  expect(packed, {"\"x.weight_packed\"", "no \"x.weight_scale\""});
  packed.add("x.weight_scale", DType::kF16, {kRows, 6}, packed.halves(kRows * 6));
  packed.add("x.weight_zero_point", DType::kI32, {kRows, 6}, packed.noise(kRows * 24));
  expect(packed, {"\"x.weight_zero_point\"", "i32[17, 6]"});
  Checkpoint nf4;
  nf4.add("x.weight", DType::kU8, {kRows * 96, 1}, nf4.noise(kRows * 96));
  nf4.add("x.weight.absmax", DType::kF32, {408}, floats(nf4, 408));
  expect(nf4, {"\"x.weight\"", "another type than nf4"});
}

TEST(RepackNf4, RefusesBytesWithoutTheirMeaning) {
  Checkpoint c;
  c.add("x.weight", DType::kU8, {kRows * 96, 1}, c.noise(kRows * 96));
  c.add("x.weight.absmax", DType::kU8, {408}, c.noise(408));
  c.numbers<char>("x.weight.quant_state.bitsandbytes__nf4", DType::kU8, {2}, {'{', '}'});
  const DType type = *dtype_from_name("nf4_g64");
  const std::string message = read_error(c.file(), constant(kRows, kColumns, type, {{"x.weight"}}));
  EXPECT_NE(message.find("\"x.weight.absmax\" is u8[408]"), std::string::npos) << message;
}

}  // namespace
}  // namespace tokamak
