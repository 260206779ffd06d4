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
  /// Answers 503 and closes: the connection limit is reached.
  void reject();

  void reply(Reply reply);
  void begin(Reply head);
  void write(std::string_view bytes);
  void end();

  /// Ends what has taken too long.
  void check_time();
  /// Ends after the answer in flight, or at once where there is none.
  void finish();
  /// The address of the client, or of its proxy.
  const std::string& remote() const { return remote_; }
  /// Since when it waits for a request, or for the rest of its header; unset while one is read
  /// further or answered.
  std::optional<TimePoint> idle_since() const;
  void close();

 private:
  enum class Framing : uint8_t { kLength, kChunked, kUntilClose };
  struct Call {
    CallId id = {};
    std::string request_id, method, path;
    std::string client;  // its address, also where it comes by a proxy
    std::vector<Field> fields;
    TimePoint started;
    int status = 0;
    uint64_t bytes = 0;
    Framing framing = Framing::kLength;
    bool is_head = false, is_http_1_0 = false, keeps_alive = false;
    bool has_begun = false, is_held = false;
    bool is_counted = false;           // among the requests of a client of a proxy
    std::string_view keep_alive_text;  // written to a stream that had no event; "": nothing
  };

  bool receive(std::string_view bytes);
  bool may_read() const;
  void wait_for_bytes();
  void read_some();
  /// Takes one request of the bytes that have been read, and the others in later turns.
  void take_requests();
  void schedule_requests();
  /// After an answer, or a part of one, is out.
  void advance();
  /// False where more bytes are needed, or none will count.
  bool take_request();
  bool check_head();
  Call new_call();
  void take_end();
  /// Whether the client leaves more unread than may be kept for it.
  bool has_backlog() const;

  void refuse(int status, std::string_view message);
  Reply refusal(int status, std::string_view message) const;
  void put(std::string_view bytes);
  void put_head(const Reply& reply, std::optional<uint64_t> length);
  void put_body(std::string_view bytes);
  void flush();
  void wait_to_write();
  void end_call();
  /// Reports the call and forgets it.
  void drop_call(int status);
  void give_up();
  void linger();
  void send_close_notify();
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
  BodyLease lease_;            // of its body
  bool is_checked_ = false;
  bool is_scheduled_ = false;     // take_requests() comes in a turn of its own
  bool has_input_ended_ = false;  // the client sends nothing more
  bool waits_to_read_ = false, waits_to_write_ = false;
  bool ends_ = false, lingers_ = false, is_closed_ = false;
  TimePoint since_;          // the stage of reading, or of lingering
  TimePoint last_progress_;  // bytes were taken by the client
  TimePoint last_event_at_;  // something was written to the stream
};

struct Server::State {
  ServerOptions options;
  Handler handler;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer tick{io}, pause{io};
  asio::signal_set signals{io}, hangups{io};
  std::map<CallId, std::weak_ptr<Connection>> calls;
  std::set<std::shared_ptr<Connection>> connections;
  std::map<std::string, uint32_t> by_address;
  std::map<std::string, uint32_t> by_client;  // requests in flight of clients of proxies
  std::shared_ptr<ByteBudget> bodies;
  std::array<char, size_t{64} << 10> buffer;  // what is being read, of whatever connection
  uint64_t next_call = 1;
  bool is_stopping = false;

  void accept();
  void take(tcp::socket socket);
  /// Whether there is a place for one more from this address, if need be that of an idle one.
  bool make_room(const asio::ip::address& address, const std::string& name);
  void keep_time();
  void wait_for_signal(asio::signal_set& set, std::function<void()> job);
  void forget(const std::shared_ptr<Connection>& connection);
  std::shared_ptr<Connection> connection_of(CallId id) const;
  void stop_when_empty();
};

}  // namespace tokamak::serve
