// The grammars of calls of tools, for families that write arguments as JSON.
#pragma once
#include <string>
#include <vector>

#include "protocol/output/output_format.h"
#include "protocol/requests/api_error.h"
#include "text/grammar/grammar.h"

namespace tokamak::protocol {

/// A function that may be called, and what its arguments may be.
struct ConstrainedFunction {
  std::string name;
  Grammar arguments;
};

/// A mark as grammars read it: some are special tokens.
std::string mark_in_grammar(const OutputFormat& form, std::string_view mark);
/// Calls and nothing else, after the reasoning that the prompt has opened. `is_one_only`: not more
/// than one, which some families have anyway.
Answer<Grammar> demanded_calls(const OutputFormat& form,
                               const std::vector<ConstrainedFunction>& functions, bool is_one_only);
/// Any text, in which every call that begins is held to the end.
Answer<Grammar> calls_in_text(const OutputFormat& form,
                              const std::vector<ConstrainedFunction>& functions);

}  // namespace tokamak::protocol
