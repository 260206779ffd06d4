// The event of Ctrl-C, which ends waiting for input. For the *_windows.cpp beside it alone.
#pragma once

namespace tokamak {

/// A HANDLE that is set at each Ctrl-C; one wait for it resets it.
void* interrupt_event();

}  // namespace tokamak
