// The answers of Ollama's chat and generate.
#pragma once
#include "protocol/answers/answer_writer.h"

namespace tokamak::protocol {

std::unique_ptr<AnswerWriter> ollama_chat_writer(AnswerHead head);
std::unique_ptr<AnswerWriter> ollama_generate_writer(AnswerHead head);

/// The answer to a request that only wants the model to be there, or gone: "load", "unload".
Json ollama_load_json(std::string_view model, int64_t created, Endpoint endpoint,
                      std::string_view reason);

}  // namespace tokamak::protocol
