#include "download/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace tokamak::download {
namespace {

EVP_MD_CTX* evp(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

}  // namespace

void Digest::Free::operator()(void* context) const {
  EVP_MD_CTX_free(evp(context));
}

Digest::Digest(const char* algorithm) : context_(EVP_MD_CTX_new()) {
  TOK_CHECK(context_ != nullptr);
  TOK_CHECK(EVP_DigestInit_ex(evp(context_.get()), EVP_get_digestbyname(algorithm), nullptr) == 1);
}

Digest Digest::sha256() {
  return Digest("SHA256");
}

Digest Digest::git_blob(uint64_t size) {
  Digest digest("SHA1");
  const std::string head = fmt::format("blob {}", size);
  digest.add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
  return digest;
}

void Digest::add(std::span<const std::byte> bytes) {
  TOK_CHECK(EVP_DigestUpdate(evp(context_.get()), bytes.data(), bytes.size()) == 1);
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  TOK_CHECK(EVP_DigestFinal_ex(evp(context_.get()), bytes.data(), &size) == 1);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

}  // namespace tokamak::download
