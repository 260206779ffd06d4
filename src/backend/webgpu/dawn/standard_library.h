#pragma once

#include <string>

namespace tokamak {

/// Opens the library of C++ that Dawn needs (GCC 12's) before Dawn asks for it: the system's where
/// it is new enough, since drivers that the system opens into this process may need an even newer
/// one; otherwise `fallback`, where that is not empty.
void open_standard_library(const std::string& fallback);

}  // namespace tokamak
