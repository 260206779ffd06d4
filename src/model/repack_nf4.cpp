// bitsandbytes' NF4: blocks over the numbers of the whole matrix, the first number of a byte high.
// Layout: bitsandbytes.functional.quantize_4bit and QuantState.as_dict.
#include <array>
#include <cstring>

#include "base/bits.h"
#include "base/json.h"
#include "model/matrix_search.h"
#include "model/number_rows.h"

namespace tokamak {
namespace {

constexpr std::string_view kState = ".quant_state.bitsandbytes__nf4";

/// Scales that are bytes themselves: a table of their values, in blocks of `block`.
struct NestedScales {
  FileBytes map, scales;
  uint64_t block = 0;
  float offset = 0;
};

class Nf4Search : MatrixSearch {
 public:
  using MatrixSearch::MatrixSearch;

  Result<std::optional<StoredMatrix>> run() {
    found_.weight = file_.find(name_);
    found_.scales = file_.find(name_ + ".absmax");
    if (found_.weight == nullptr || found_.scales == nullptr) return std::nullopt;
    const TensorInfo &weight = *found_.weight, &scales = *found_.scales;
    const uint64_t numbers = weight.bytes * 2, columns = found_.columns;
    if (weight.dtype != DType::kU8 || numbers % columns != 0 || !has_rows(numbers / columns)) {
      return wrong(weight, fmt::format("the bytes of {}, two numbers each", matrix_text()));
    }
    const uint64_t blocks = scales.elements();
    found_.group = blocks == 0 ? 0 : numbers / blocks;
    if (found_.group * blocks != numbers || columns % std::max<uint64_t>(found_.group, 1) != 0) {
      return wrong(scales, fmt::format("a scale for each block of rows of {} columns", columns));
    }
    if (scales.dtype != DType::kF32 && scales.dtype != DType::kU8)
      return wrong(scales, "f32 or u8");
    if (file_.find(name_ + std::string(kState)) == nullptr) {
      return refuse(weight, "which bitsandbytes packs as another type than nf4");
    }
    const bool has_type = found_.group == 32 || found_.group == 64 || found_.group == 128;
    if (!has_type) return refuse(scales, fmt::format("a scale per {} numbers", found_.group));
    TOK_TRY(check_levels());
    found_.format = StoredMatrix::Format::kNf4;
    found_.dtype = dtype_from_name(fmt::format("nf4_g{}", found_.group)).value();
    return found_;
  }

 private:
  Result<void> check_levels() const {
    const TensorInfo* map = file_.find(name_ + ".quant_map");
    if (map == nullptr) return {};
    TOK_TRY(const FileBytes bytes, file_.data(*map));
    const auto& levels = kNf4Levels.values;
    if (bytes.size() != sizeof levels ||
        std::memcmp(bytes.data(), levels.data(), bytes.size()) != 0) {
      return refuse(*map, "other levels than those of nf4");
    }
    return {};
  }
};

class Nf4Reader final : public NumberReader {
 public:
  Nf4Reader(const StoredMatrix& stored, FileBytes weight, FileBytes scales, NestedScales nested)
      : columns_(stored.columns),
        group_(stored.group),
        weight_(std::move(weight)),
        scales_(std::move(scales)),
        nested_(std::move(nested)) {}

  void numbers(uint64_t row, std::span<uint8_t> q) const override {
    for (size_t column = 0; column < q.size(); ++column) {
      const uint64_t at = row * columns_ + column;
      q[column] = uint8_t(uint32_t(weight_[size_t(at / 2)]) >> (at % 2 == 0 ? 4 : 0) & 15);
    }
  }
  void scales(uint64_t row, std::byte* out) const override {
    const uint64_t groups = columns_ / group_;
    for (uint64_t group = 0; group < groups; ++group) {
      const float scale = scale_of_block(row * groups + group);
      std::memcpy(out + group * sizeof scale, &scale, sizeof scale);
    }
  }
  void zeros(uint64_t, std::byte*) const override {}

 private:
  float scale_of_block(uint64_t block) const {
    const auto number = [](const FileBytes& from, uint64_t i) {
      return number_at(DType::kF32, from.data() + i * sizeof(float));
    };
    if (nested_.block == 0) return number(scales_, block);
    return number(nested_.map, uint64_t(scales_[size_t(block)])) *
               number(nested_.scales, block / nested_.block) +
           nested_.offset;
  }

  uint64_t columns_, group_;
  FileBytes weight_, scales_;
  NestedScales nested_;
};

Result<NestedScales> read_nested(const TensorFile& file, const StoredMatrix& stored) {
  const std::string& name = stored.weight->name;
  const auto wrong = [&](std::string_view part) {
    return invalid_input("{}: tensor \"{}\" is {}, but \"{}{}\" does not say how to unpack it.",
                         file.file_name(*stored.scales), stored.scales->name,
                         describe(*stored.scales), name, part);
  };
  const TensorInfo* state = file.find(name + std::string(kState));
  const TensorInfo* map = file.find(name + ".nested_quant_map");
  const TensorInfo* scales = file.find(name + ".nested_absmax");
  if (state == nullptr) return wrong(kState);
  if (map == nullptr || map->bytes != 256 * sizeof(float)) return wrong(".nested_quant_map");
  TOK_TRY(const FileBytes text, file.data(*state));
  const auto json = Json::parse({reinterpret_cast<const char*>(text.data()), text.size()});
  const Json* block = json && json->is_object() ? json->find("nested_blocksize") : nullptr;
  const Json* offset = json && json->is_object() ? json->find("nested_offset") : nullptr;
  if (block == nullptr || !block->is_integer() || block->as_integer() < 1 || offset == nullptr ||
      !offset->is_number()) {
    return wrong(kState);
  }
  NestedScales nested{.block = uint64_t(block->as_integer()), .offset = float(offset->as_number())};
  const uint64_t blocks = ceil_div(stored.scales->elements(), nested.block);
  if (scales == nullptr || scales->bytes != blocks * sizeof(float)) return wrong(".nested_absmax");
  TOK_TRY(nested.map, file.data(*map));
  TOK_TRY(nested.scales, file.data(*scales));
  return nested;
}

}  // namespace

Result<std::optional<StoredMatrix>> locate_bitsandbytes(const TensorFile& file,
                                                        const std::string& name, uint64_t rows,
                                                        uint64_t columns) {
  return Nf4Search(file, name, rows, columns).run();
}

Result<std::unique_ptr<RowSource>> open_nf4(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(FileBytes weight, file.data(*stored.weight));
  TOK_TRY(FileBytes scales, file.data(*stored.scales));
  NestedScales nested;
  if (stored.scales->dtype == DType::kU8) {
    TOK_TRY(nested, read_nested(file, stored));
  }
  return number_rows(
      std::make_unique<Nf4Reader>(stored, std::move(weight), std::move(scales), std::move(nested)),
      stored.dtype, stored.columns);
}

}  // namespace tokamak
