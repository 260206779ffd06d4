// TLS as a filter on the bytes of a connection: what comes from the socket goes in, texts come out,
// and the other way round. No sockets, no clock. By OpenSSL; TLS 1.2 and 1.3.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak::serve {

/// The identity of the server, which all connections share.
class TlsIdentity {
 public:
  /// `certificate`: the path of a PEM file with the server's certificate and those that vouch for
  /// it, in this order. `key`: that of its private key, without a password. Errors: files that are
  /// not there or hold something else, a key of another certificate.
  static Result<std::shared_ptr<const TlsIdentity>> of_files(const std::string& certificate,
                                                             const std::string& key);
  TlsIdentity(const TlsIdentity&) = delete;
  ~TlsIdentity();

 private:
  friend class TlsSession;
  struct State;
  explicit TlsIdentity(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// One connection. What it has to send itself, such as its part of the handshake, is appended to
/// `out` of each call.
class TlsSession {
 public:
  enum class Stage : uint8_t {
    kHandshake,
    kOpen,
    kClosed,  // by the client
    kPlain,   // the client speaks HTTP, not TLS
    kBroken,  // what came makes no sense; `out` may have an alert
  };

  explicit TlsSession(std::shared_ptr<const TlsIdentity> identity);
  TlsSession(const TlsSession&) = delete;
  ~TlsSession();

  Stage stage() const { return stage_; }
  /// Bytes of the socket; what the client says by them is appended to `text`.
  void receive(std::string_view bytes, std::string& text, std::string& out);
  /// REQUIRES: kOpen.
  void send(std::string_view text, std::string& out);
  /// The last thing of a session: the client knows then that nothing was cut off.
  void close(std::string& out);

 private:
  struct State;
  void take_out(std::string& out);

  std::shared_ptr<const TlsIdentity> identity_;
  std::unique_ptr<State> state_;
  Stage stage_ = Stage::kHandshake;
};

}  // namespace tokamak::serve
