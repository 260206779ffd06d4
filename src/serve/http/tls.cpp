#include "serve/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>

namespace tokamak::serve {
namespace {

template <auto free>
struct Freed {
  void operator()(auto* object) const { free(object); }
};

/// The oldest error, which is the cause of the others, of which nothing stays.
std::string taken_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason is given" : reason;
}

/// Clients that offer other protocols get the only one there is.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, size, kHttp, sizeof kHttp, offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/// Nobody is asked for the password of a key.
int no_password(char*, int, int, void*) {
  return -1;
}

}  // namespace

struct TlsIdentity::State {
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context{SSL_CTX_new(TLS_server_method())};
};

struct TlsSession::State {
  std::unique_ptr<SSL, Freed<SSL_free>> ssl;
  BIO* in = nullptr;  // both are ssl's
  BIO* out = nullptr;
};

TlsIdentity::TlsIdentity(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsIdentity::~TlsIdentity() = default;

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::of_files(const std::string& certificate,
                                                                 const std::string& key) {
  auto state = std::make_unique<State>();
  SSL_CTX* const context = state->context.get();
  ERR_clear_error();
  if (context == nullptr) return fail(ErrorCode::kDevice, "OpenSSL: {}.", taken_error());
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  SSL_CTX_set_default_passwd_cb(context, no_password);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return fail(ErrorCode::kUsage, "{} gives no certificate in PEM: {}.", certificate,
                taken_error());
  }
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return fail(ErrorCode::kUsage,
                "{} gives no private key in PEM, without a password, of the certificate in {}: {}.",
                key, certificate, taken_error());
  }
  return std::shared_ptr<const TlsIdentity>(new TlsIdentity(std::move(state)));
}

TlsSession::TlsSession(std::shared_ptr<const TlsIdentity> identity)
    : identity_(std::move(identity)), state_(std::make_unique<State>()) {
  state_->ssl.reset(SSL_new(identity_->state_->context.get()));
  state_->in = BIO_new(BIO_s_mem());
  state_->out = BIO_new(BIO_s_mem());
  SSL_set_bio(state_->ssl.get(), state_->in, state_->out);
  SSL_set_accept_state(state_->ssl.get());
}

TlsSession::~TlsSession() = default;

void TlsSession::receive(std::string_view bytes, std::string& text, std::string& out) {
  ERR_clear_error();
  BIO_write(state_->in, bytes.data(), int(bytes.size()));
  SSL* const ssl = state_->ssl.get();
  std::array<char, size_t{16} << 10> part;
  int count = 0;
  while ((count = SSL_read(ssl, part.data(), int(part.size()))) > 0) {
    text.append(part.data(), size_t(count));
  }
  switch (SSL_get_error(ssl, count)) {
    case SSL_ERROR_WANT_READ:
      stage_ = SSL_is_init_finished(ssl) != 0 ? Stage::kOpen : Stage::kHandshake;
      break;
    case SSL_ERROR_ZERO_RETURN:
      stage_ = Stage::kClosed;
      break;
    default:
      stage_ =
          ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST ? Stage::kPlain : Stage::kBroken;
      ERR_clear_error();
  }
  if (stage_ != Stage::kPlain) take_out(out);
}

void TlsSession::send(std::string_view text, std::string& out) {
  // Memory takes whatever is written.
  constexpr size_t kMaxPart = size_t{1} << 20;
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kMaxPart))) {
    SSL_write(state_->ssl.get(), text.data(), int(std::min(text.size(), kMaxPart)));
    take_out(out);
  }
}

void TlsSession::close(std::string& out) {
  if (stage_ != Stage::kOpen) return;
  SSL_shutdown(state_->ssl.get());
  take_out(out);
}

void TlsSession::take_out(std::string& out) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(state_->out, &bytes);
  if (size > 0) out.append(bytes, size_t(size));
  (void)BIO_reset(state_->out);
}

}  // namespace tokamak::serve
