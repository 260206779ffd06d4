// What the answer to a request is held to.
#pragma once
#include <memory>

#include "openai/fields.h"
#include "openai/output_reader.h"
#include "text/grammar/grammar.h"

namespace tokamak::openai {

/// Of response_format, grammar and a tool_choice that demands a call, of which only one may be
/// there; null where none is. `form`: how the answer is read.
Answer<std::shared_ptr<const Grammar>> answer_grammar(const Fields& fields, const OutputForm& form);

/// The grammar of a JSON Schema, of which `field` names the place in errors.
Answer<Grammar> schema_grammar(const Json& schema, std::string_view field);

}  // namespace tokamak::openai
