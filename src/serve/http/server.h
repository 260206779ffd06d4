// Server: listens, reads requests, writes answers; HTTP/1.1 and 1.0, with TLS where it has a
// certificate. What an answer is a Handler decides. All of it happens on the thread of run(), and
// nothing of it waits.
//
// Requests of a connection are answered in their order, one at a time, and other connections have
// their turn between them. A client that closes its end is gone: what it asked for is given up. One
// that does not read is not answered any further. docs/serve.md has the limits.
#pragma once
#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "serve/http/body_lease.h"
#include "serve/http/message.h"
#include "serve/http/proxies.h"
#include "serve/http/request_reader.h"

namespace tokamak::serve {

class TlsIdentity;

struct ServerLimits {
  RequestReader::Limits request;
  uint32_t connections = 4096;         // beyond, the one that is idle longest gives way
  uint32_t connections_of_one = 1024;  // address; of a client of a proxy, requests in flight
  uint64_t all_bodies_bytes = uint64_t{1} << 30;  // of all connections, and of requests that wait
  size_t unread_bytes = size_t{64} << 10;         // of requests that wait for their turn
  /// Bytes of answers that the client does not read: beyond, Handler::hold() is called for a
  /// stream, and no further request is taken.
  size_t unwritten_bytes = size_t{256} << 10;
  double idle_seconds = 75;    // of a connection without a request
  double header_seconds = 10;  // from its first byte to its last one
  double body_seconds = 30;    // and a second more for each 64 KiB
  double write_seconds = 30;   // without a byte that the client takes
  double quiet_seconds = 15;   // of a stream, after which Reply::keep_alive_text is written
  double linger_seconds = 2;   // for the client to read the last answer
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8080;                    // 0: any that is free
  std::shared_ptr<const TlsIdentity> tls;  // null: without TLS
  Proxies proxies;                         // whose word for the client's address counts
  ServerLimits limits;
  std::function<uint64_t()> random;  // 64 bits, for the ids of requests
};

/// The record of an answer that is over.
struct Answered {
  std::string request_id, remote, method, path;  // remote: the client, also of a proxy
  int status = 0;                                // 499: the client went before the answer was whole
  uint64_t bytes = 0;
  double seconds = 0;
};

/// The verdict of the handler on the head of a request.
struct Verdict {
  std::optional<Reply> refusal;  // answers at once; the body is not read
  std::vector<Field> fields;     // for the answer, whoever makes it
};

struct Handler {
  std::function<Verdict(const RequestHead&)> check;
  /// The whole request: reply(), or begin(), write() and end(), answers it, at once or later. The
  /// lease is to be kept as long as the body.
  std::function<void(CallId, const RequestHead&, std::string body, BodyLease lease)> call;
  /// An answer to what is no request, in the dialect of the path it asked for.
  std::function<Reply(int status, std::string_view message, std::string_view path)> refuse;
  /// The client is gone; nothing about the call counts any more.
  std::function<void(CallId)> gone;
  /// The client reads more slowly than it is written to; with false: it has caught up.
  std::function<void(CallId, bool)> hold;
  std::function<void(const Answered&)> answered;
};

class Server {
 public:
  /// Errors: the address is no address of this machine, or taken.
  static Result<std::unique_ptr<Server>> listen(ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// "127.0.0.1:8080", "[::1]:8080"
  std::string address() const;
  /// "https://[::1]:8080", or with http.
  std::string url() const;
  /// Nobody but programs of this machine can connect.
  bool is_loopback() const;

  /// Until stop(). It is called once.
  void run(Handler handler);

  /// Runs `job` on the thread of run(). Any thread may call it.
  void post(std::function<void()> job);

  // The rest is for the thread of run().

  void reply(CallId id, Reply reply);
  /// The head of an answer whose parts follow.
  void begin(CallId id, Reply head);
  void write(CallId id, std::string_view bytes);
  void end(CallId id);
  /// Runs `job` after that time, of at most a year.
  void after(double seconds, std::function<void()> job);
  /// Calls `job` at every SIGINT and SIGTERM; ends the process at none of them.
  void on_signal(std::function<void()> job);
  /// Calls `job` at every SIGHUP, unless the program was started so that it counts for nothing.
  void on_hangup(std::function<void()> job);
  /// The certificate of connections that come from here on.
  void set_tls(std::shared_ptr<const TlsIdentity> identity);
  size_t connections() const;
  /// Connections end when what they have is written, at the latest after the time to linger.
  void stop();

 private:
  struct State;
  friend class Connection;

  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tokamak::serve
