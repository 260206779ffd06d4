// Answers that begin with reasoning: how they are run, and what is shown of them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/chat/thinking.h"
#include "protocol/output/answer_reader.h"

namespace tokamak::cli {

using protocol::AnswerReader;

/// Whether reasoning appears on standard output.
bool shows_reasoning(Think think);
/// A note where an answer ended before its reasoning did; else "".
std::string unfinished_reasoning(const AnswerReader& reader, const Generation& result);

/// Runs a request whose answer `reader` reads. `budget`: most tokens of reasoning, after which
/// `closing` stands in place of the rest. `request` has no stop texts of its own; its callbacks are
/// called as ever. The result's text is the content.
Result<Generation> generate_answer(Engine& engine, Request request, AnswerReader& reader,
                                   std::optional<uint32_t> budget,
                                   const std::vector<uint32_t>& closing);

}  // namespace tokamak::cli
