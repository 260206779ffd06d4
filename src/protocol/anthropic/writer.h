// The answers of Anthropic's Messages.
#pragma once
#include "protocol/answers/answer_writer.h"

namespace tokamak::protocol {

std::unique_ptr<AnswerWriter> anthropic_writer(AnswerHead head);

}  // namespace tokamak::protocol
