#include "download/certificates.h"

#include <curl/curl.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/environment.h"

namespace tokamak::download {
namespace {

constexpr const char* kPlaces[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",                   // older ones of these
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

}  // namespace

std::string certificates_file() {
  if (std::string given = environment_variable("SSL_CERT_FILE"); !given.empty()) return given;
  const curl_version_info_data* const curl = curl_version_info(CURLVERSION_NOW);
  if (curl->cainfo != nullptr || curl->capath != nullptr) return "";
  const auto found = std::ranges::find_if(kPlaces, [](const char* place) {
    std::error_code unreadable;
    return std::filesystem::exists(place, unreadable);
  });
  return found == std::end(kPlaces) ? "" : *found;
}

}  // namespace tokamak::download
