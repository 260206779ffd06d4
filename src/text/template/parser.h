// Template text -> syntax tree, with the grammar of Jinja as Hugging Face configures it: loop
// controls, `generation` blocks, no `do`, no inheritance and no includes.
#pragma once
#include <memory>
#include <string_view>

#include "base/result.h"
#include "text/template/ast.h"

namespace tokamak::jinja {

inline constexpr size_t kMaxSourceBytes = size_t{4} << 20;

/// Nested expressions and blocks, and operators in one chain.
inline constexpr uint32_t kMaxSyntaxDepth = 150;

/// Errors read "NAME: line 7: ...".
Result<std::shared_ptr<const Template>> parse_template(std::string_view source,
                                                       std::string_view name);

}  // namespace tokamak::jinja
