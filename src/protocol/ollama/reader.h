// The bodies of Ollama's chat and generate as a chat of OpenAI's, or its completion.
#pragma once
#include "protocol/chat/text_body.h"

namespace tokamak::protocol {

/// `body.fields` as the table has read them.
Answer<void> read_ollama(TextBody& body, Endpoint endpoint);

}  // namespace tokamak::protocol
