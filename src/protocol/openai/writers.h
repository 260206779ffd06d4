// The answers of OpenAI's chats, completions and Responses.
#pragma once
#include "protocol/answers/answer_writer.h"

namespace tokamak::protocol {

std::unique_ptr<AnswerWriter> chat_writer(AnswerHead head);
std::unique_ptr<AnswerWriter> completion_writer(AnswerHead head);
std::unique_ptr<AnswerWriter> responses_writer(AnswerHead head);

}  // namespace tokamak::protocol
