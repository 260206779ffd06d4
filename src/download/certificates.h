#pragma once

#include <string>

namespace tokamak::download {

/// The file of the certificates to trust: the variable SSL_CERT_FILE, as OpenSSL reads it; where
/// libcurl was built without a place of its own, the first of those that distributions use. ""
/// leaves libcurl to its own.
std::string certificates_file();

}  // namespace tokamak::download
