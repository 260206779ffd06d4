// What the answer to a request is held to.
#pragma once
#include <memory>

#include "openai/fields.h"
#include "openai/output_reader.h"
#include "text/grammar/grammar.h"

namespace tokamak::openai {

/// From response_format, json_schema, regex, grammar or a tool_choice that demands a call, of which
/// only one may be there; null where none is. It binds after the reasoning of an answer that begins
/// with some. `form`: how the answer is read.
Answer<std::shared_ptr<const Grammar>> answer_grammar(const Fields& fields, const OutputForm& form);

}  // namespace tokamak::openai
