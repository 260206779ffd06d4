// A config.json of 256 bytes, padded with spaces, and a safetensors file after it: every matrix
// that locate() accepts must be read to its last byte, whatever the tensors and the config say.
#include "base/check.h"
#include "base/packing.h"
#include "formats/safetensors.h"
#include "model/stored_matrix.h"
#include "model/weights.h"

namespace {

using namespace tokamak;

constexpr size_t kConfigBytes = 256;
constexpr std::string_view kEndings[] = {".weight", ".qweight"};

void read_all(const TensorFile& file, const TensorDesc& constant) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    const auto status = read_constant(file, constant, {.index = i, .count = 3},
                                      [&](uint64_t, std::span<const std::byte> piece) {
                                        total += piece.size();
                                        return Result<void>();
                                      });
    if (!status) return;
  }
  TOK_CHECK(total == byte_count(constant, 1));
}

void read_matrix(const TensorFile& file, const std::string& name, uint64_t columns,
                 const Quantization& declared) {
  const auto any = locate(file, name, columns);
  if (!any) return;
  const auto stored = locate(file, name, any->rows, columns, declared);
  if (!stored) return;
  const Dim rows = Dim(stored->rows);
  const auto constant = [&](Dim count, DType dtype, Weight weight) {
    return TensorDesc{"w", {count, Dim(columns)}, dtype, Storage::kConstant, std::move(weight), 0};
  };
  WeightPart turned(name);
  turned.rope_heads = 2;
  read_all(file, constant(rows, stored->dtype, {{name}}));
  read_all(file, constant(rows, stored->dtype, {{turned}}));
  read_all(file, constant(2 * rows, stored->dtype, {{name, name}, RowOrder::kInterleave}));
  read_all(file, constant(1, stored->dtype, {{WeightPart(name, uint32_t(rows / 2), 1)}}));
  if (columns % 32 == 0) read_all(file, constant(rows, DType::kQ4_0, {{name}}));
  if (stored->groups == nullptr) return;
  read_all(file, {"o",
                  {Dim(columns)},
                  DType::kU32,
                  Storage::kConstant,
                  ColumnOrder{{stored->groups->name}},
                  0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kConfigBytes) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto file = read_safetensors(
      memory_source("fuzz", std::vector<std::byte>(bytes + kConfigBytes, bytes + size)));
  if (!file) return 0;
  Quantization declared;
  const auto json = Json::parse({reinterpret_cast<const char*>(data), kConfigBytes});
  if (json) {
    auto read = read_quantization(ConfigReader(*json, "config.json"), *file);
    if (read) declared = *std::move(read);
  }
  for (const TensorInfo& tensor : file->tensors()) {
    for (const std::string_view ending : kEndings) {
      if (!tensor.name.ends_with(ending)) continue;
      const std::string module = tensor.name.substr(0, tensor.name.size() - ending.size());
      for (const uint64_t columns : {7u, 32u, 64u, 128u, 256u, 512u}) {
        read_matrix(*file, module + ".weight", columns, declared);
      }
    }
  }
  return 0;
}
