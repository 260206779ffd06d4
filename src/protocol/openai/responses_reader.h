// The body of OpenAI's Responses as a chat of OpenAI's.
#pragma once
#include "protocol/requests/fields.h"
#include "protocol/requests/kept_items.h"

namespace tokamak::protocol {

/// `fields` as the table has read them. `kept`: finds items of earlier answers.
Answer<void> read_responses(Fields& fields, const FindItem& kept);

/// Whether `include` has reasoning.encrypted_content.
bool has_opaque_reasoning(const Fields& fields);

}  // namespace tokamak::protocol
