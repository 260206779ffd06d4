// Bodies of other protocols become the request that a chat of OpenAI's is.
//
// The rule of all readers for fields (decision 0066): one that changes what is asked is obeyed or
// refused with an error that names it; what changes nothing is ignored; another name or spelling
// of the same, as programs send it, is taken in every protocol.
#pragma once
#include "protocol/chat/text_body.h"
#include "protocol/requests/kept_items.h"

namespace tokamak::protocol {

/// `endpoint`: one that gives texts, kCountTokens or kApplyTemplate. `kept`: finds items of earlier
/// answers; null where none are kept. Errors name the part of the body that is wrong.
Answer<TextBody> read_text_body(std::string_view body, Endpoint endpoint,
                                const FindItem& kept = {});

}  // namespace tokamak::protocol
