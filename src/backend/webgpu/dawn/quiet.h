// Dawn writes remarks straight to standard error, on every start, and has no switch for them: about
// limits it lowered, and where in its sources Vulkan did not start. They tell a user nothing;
// everything else on that channel does.
//
// Standard error belongs to the whole process. So Dawn alone is given another stream for it, and
// the descriptor stays as it is.
#pragma once
#include <link.h>

#include <cstdio>

namespace tokamak {

/// Passes what is written to it on to standard error, but for those remarks. Any thread may write;
/// it is never closed.
std::FILE* stderr_without_remarks();

/// Makes `library` write to `stream` what it would write to the C library's `stderr`. Where its
/// tables are not of the expected form, everything stays as it is. REQUIRES: no thread runs in the
/// library yet; `stream` lives as long as the library is open.
void redirect_stderr(const link_map& library, std::FILE* stream);

}  // namespace tokamak
