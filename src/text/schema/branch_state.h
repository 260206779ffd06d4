// The state that branches.cpp and negation.cpp share.
#pragma once
#include "text/schema/compiler.h"

namespace tokamak::schema {

/// One of several lists of schemas.
struct Choice {
  std::vector<std::vector<SchemaId>> ways;
  uint32_t parent = Branch::kNoParent;
};

/// A branch in which something is left to do.
struct Compiler::Partial {
  Branch branch;
  std::vector<std::pair<SchemaId, uint32_t>> open;  // with the parent
  std::vector<Choice> choices;
  uint8_t types = kAllTypes;
};

struct Compiler::Ways {
  std::vector<SchemaId> all;
  std::vector<std::vector<std::vector<SchemaId>>> choices;
};

}  // namespace tokamak::schema
