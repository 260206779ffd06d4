// The text form of the parts of a weight (graph/text.h).
#pragma once
#include <string>

#include "base/scan.h"
#include "graph/graph.h"

namespace tokamak {

Result<DType> parse_dtype(Scanner& scan);

/// " ~cut=each,group,share,step,total"; "" where every rank has all.
std::string cut_text(const RankCut& cut);
Result<RankCut> parse_cut(Scanner& scan);

/// "qkv_proj.weight"[128:192] ~heads=4: rows 128 to 191 of a tensor with turned rows; without a
/// range all of them. In a matrix of several types, "v"[0:64] as q6_k.
std::string part_text(const WeightPart& part);
Result<WeightPart> parse_part(Scanner& scan);
Result<LoraPart> parse_lora_part(Scanner& scan);

}  // namespace tokamak
