// The grammars of answers in channels (channels.h).
#pragma once
#include <vector>

#include "protocol/grammars/call_grammar.h"

namespace tokamak::protocol {

/// `answer` as the body of the final message, after at most one of reasoning.
Answer<Grammar> final_message(const OutputFormat& form, const Grammar& answer);
/// A call and nothing else, after at most one message of reasoning.
Answer<Grammar> demanded_channel_call(const OutputFormat& form,
                                      const std::vector<ConstrainedFunction>& functions);
/// Any messages, and perhaps a call at last.
Answer<Grammar> calls_in_channels(const OutputFormat& form,
                                  const std::vector<ConstrainedFunction>& functions);

}  // namespace tokamak::protocol
