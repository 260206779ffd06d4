// The use of a model, in words for clients.
#pragma once
#include "engine/task.h"
#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

/// 400 where the model is not for that, with the path that it is for.
Answer<void> check_use(const Engine& engine, Task task);

}  // namespace tokamak::protocol
