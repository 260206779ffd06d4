// Dawn writes remarks straight to standard error, on every start, and has no switch for them: about
// limits it lowered, and where in its sources Vulkan did not start. They tell a user nothing;
// everything else on that channel does.
#pragma once
#include <functional>

namespace tokamak {

/// Runs `action` with standard error held back, then passes it on without those remarks. What other
/// threads write meanwhile comes through afterwards. Where it cannot be held back, `action` just
/// runs.
void without_dawn_remarks(const std::function<void()>& action);

}  // namespace tokamak
