#include "graph/weight_text.h"

#include <utility>

#include "base/json.h"

namespace tokamak {
namespace {

/// "16:48]", after the bracket that opens the range; `part` is a WeightPart or a LoraPart.
Result<void> parse_rows(Scanner& scan, auto& part) {
  uint32_t end = 0;
  TOK_TRY(part.first_row, scan.integer32());
  TOK_TRY(scan.expect(":"));
  TOK_TRY(end, scan.integer32());
  TOK_TRY(scan.expect("]"));
  if (end <= part.first_row) {
    return scan.wrong(fmt::format("a range of rows that ends after {}", part.first_row));
  }
  part.rows = end - part.first_row;
  return {};
}

}  // namespace

std::string cut_text(const RankCut& cut) {
  if (cut.is_whole()) return "";
  return fmt::format(" ~cut={},{},{},{},{}", cut.each, cut.group, cut.share, cut.step, cut.total);
}

Result<RankCut> parse_cut(Scanner& scan) {
  RankCut cut;
  if (!scan.take("~cut=")) return cut;
  bool first = true;
  for (uint32_t* const number : {&cut.each, &cut.group, &cut.share, &cut.step, &cut.total}) {
    if (!std::exchange(first, false)) TOK_TRY(scan.expect(","));
    TOK_TRY(*number, scan.integer32());
  }
  if (cut.each == 0 || cut.share == 0) return scan.wrong("a cut of some rows for some ranks");
  return cut;
}

std::string part_text(const WeightPart& part) {
  std::string text = Json(part.name).dump();
  if (part.rows != 0) {
    text += fmt::format("[{}:{}]", part.first_row, uint64_t{part.first_row} + part.rows);
  }
  if (part.rope_heads != 0) text += fmt::format(" ~heads={}", part.rope_heads);
  if (part.turned != 0) text += fmt::format(" ~turned={}", part.turned);
  if (part.transposed) text += " ~transposed";
  if (part.dtype) text += fmt::format(" as {}", dtype_name(*part.dtype));
  if (part.factor != 1) text += fmt::format(" * {}", part.factor);
  text += cut_text(part.cut);
  if (part.cut_row != 0) text += fmt::format(" ~row={}", part.cut_row);
  return text;
}

Result<DType> parse_dtype(Scanner& scan) {
  TOK_TRY(const std::string dtype, scan.word());
  const auto known = dtype_from_name(dtype);
  if (!known) return scan.wrong(fmt::format("an element type, not \"{}\"", dtype));
  return *known;
}

Result<WeightPart> parse_part(Scanner& scan) {
  TOK_TRY(std::string name, scan.quoted());
  WeightPart part(std::move(name));
  if (scan.take("[")) TOK_TRY(parse_rows(scan, part));
  if (scan.take("~heads=")) {
    TOK_TRY(part.rope_heads, scan.integer32());
    if (part.rope_heads == 0) return scan.wrong("a number of heads above 0");
    if (scan.take("~turned=")) {
      TOK_TRY(part.turned, scan.integer32());
    }
  }
  part.transposed = scan.take("~transposed");
  if (scan.take("as")) {
    TOK_TRY(part.dtype, parse_dtype(scan));
  }
  if (scan.take("*")) {
    TOK_TRY(part.factor, scan.number());
  }
  TOK_TRY(part.cut, parse_cut(scan));
  if (scan.take("~row=")) {
    TOK_TRY(part.cut_row, scan.integer32());
  }
  return part;
}

Result<LoraPart> parse_lora_part(Scanner& scan) {
  LoraPart part;
  TOK_TRY(part.tensor, scan.quoted());
  TOK_TRY(scan.expect("["));
  TOK_TRY(parse_rows(scan, part));
  TOK_TRY(scan.expect("*"));
  TOK_TRY(part.factor, scan.number());
  TOK_TRY(part.cut, parse_cut(scan));
  return part;
}

}  // namespace tokamak
