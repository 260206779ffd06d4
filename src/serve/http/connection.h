// A connection of a Server: reads requests, one after the other, and writes their answers.
#pragma once
#include <array>
#include <utility>
// Asio takes std::exchange without including <utility>.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <set>

#include "serve/http/server.h"
#include "serve/http/tls.h"

namespace tokamak::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using TimePoint = std::chrono::steady_clock::time_point;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server::State& server, tcp::socket socket, std::string remote);

  void start();
  /// A connection that is one too many hears so and is closed.
  void turn_away();

  void reply(Reply reply);
  void begin(Reply head);
  void write(std::string_view bytes);
  void end();

  /// Ends what has taken too long.
  void check_time();
  /// Ends after the answer under way, or at once where there is none.
  void finish();
  /// Where it is from.
  const std::string& remote() const { return remote_; }

 private:
  enum class Framing : uint8_t { kLength, kChunked, kUntilClose };
  struct Call {
    CallId id = {};
    std::string request_id, method, path;
    std::vector<Field> fields;
    TimePoint started;
    int status = 0;
    uint64_t bytes = 0;
    Framing framing = Framing::kLength;
    bool is_head = false, is_http_1_0 = false, keeps_alive = false;
    bool has_begun = false, is_held = false;
    std::string_view quiet;  // what a stream says that has no event; "": nothing
  };

  bool receive(std::string_view bytes);
  void wait_for_bytes();
  void read_some();
  /// Goes as far as the bytes that have been read go.
  void take_requests();
  /// False where more bytes are needed, or none will count.
  bool take_request();
  bool check_head();
  Call new_call();
  void take_end();

  void refuse(int status, std::string_view message);
  void put(std::string_view bytes);
  void put_head(const Reply& reply, std::optional<uint64_t> length);
  void put_body(std::string_view bytes);
  void flush();
  void wait_to_write();
  void end_call();
  void report(int status);
  void give_up();
  void linger();
  void say_end();
  void close();
  double seconds_since(TimePoint point) const;

  Server::State& server_;
  tcp::socket socket_;
  const std::string remote_;
  std::unique_ptr<TlsSession> tls_;  // null: the bytes are HTTP's
  RequestReader reader_;
  RequestReader::Stage seen_ = RequestReader::Stage::kNothing;
  std::string unread_;     // of requests that are not taken yet
  std::string unwritten_;  // of answers, as the socket gets them
  size_t written_ = 0;     // bytes at its front that are out already
  std::optional<Call> call_;
  std::vector<Field> fields_;  // for the answer to the request that is being read
  bool is_checked_ = false, is_taking_ = false;
  bool waits_to_read_ = false, waits_to_write_ = false;
  bool ends_ = false, lingers_ = false, is_closed_ = false;
  TimePoint since_;     // the stage of reading, or of lingering
  TimePoint moved_;     // bytes were taken by the client
  TimePoint was_loud_;  // something was written to the stream
};

struct Server::State {
  ServerOptions options;
  Handler handler;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer tick{io}, pause{io};
  asio::signal_set signals{io};
  std::map<CallId, std::weak_ptr<Connection>> calls;
  std::set<std::shared_ptr<Connection>> connections;
  std::map<std::string, uint32_t> by_address;
  std::array<char, size_t{64} << 10> buffer;  // what is being read, of whatever connection
  uint64_t next_call = 1;
  bool is_stopping = false;

  void accept();
  void take(tcp::socket socket);
  void keep_time();
  void wait_for_signal(std::function<void()> job);
  void forget(const std::shared_ptr<Connection>& connection);
  std::shared_ptr<Connection> connection_of(CallId id) const;
  void stop_when_empty();
};

}  // namespace tokamak::serve
