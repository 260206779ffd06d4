#include "serve/http/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <map>
#include <mutex>
#include <thread>

namespace tokamak::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// A server that answers every request with the same text, but for those to /wait, which it keeps
/// with their bodies' leases.
class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options) {
    options.port = 0;
    options.random = [] { return uint64_t{1}; };
    server_ = *Server::listen(std::move(options));
    thread_ = std::thread([this] {
      server_->run({.check = [](const RequestHead&) { return Verdict{}; },
                    .call = [this](CallId id, const RequestHead& head, std::string,
                                   BodyLease lease) { call(id, head, std::move(lease)); },
                    .refuse =
                        [](int status, std::string_view message, std::string_view) {
                          return Reply{.status = status, .body = std::string(message)};
                        },
                    .gone = [this](CallId id) { kept_.erase(id); },
                    .hold = [](CallId, bool) {},
                    .answered =
                        [this](const Answered& one) {
                          const std::scoped_lock lock(mutex_);
                          remotes_.push_back(one.remote);
                        }});
    });
  }
  void TearDown() override {
    server_->post([this] { server_->stop(); });
    thread_.join();
  }

  void call(CallId id, const RequestHead& head, BodyLease lease) {
    ++calls_;
    if (head.target == "/wait") {
      kept_[id] = std::move(lease);
      calls_at_wait_ = calls_;
    } else {
      server_->reply(id, {.body = answer_});
    }
  }
  /// The value of `read` on the server's thread.
  template <typename Read>
  auto on_server(Read read) {
    std::promise<decltype(read())> promise;
    server_->post([&] { promise.set_value(read()); });
    return promise.get_future().get();
  }
  /// Waits until `is_so` on the server's thread.
  template <typename Test>
  bool comes(Test is_so) {
    for (int i = 0; i < 2000; ++i) {
      if (on_server(is_so)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  /// Waits until the server takes no further request, however many turns it has.
  size_t calls_at_rest() {
    size_t before = 0, same = 0;
    while (same < 100) {
      const size_t now = on_server([this] { return size_t(calls_); });
      same = now == before ? same + 1 : 0;
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return before;
  }

  tcp::socket connect() {
    tcp::socket socket(io_);
    const std::string address = server_->address();
    const auto port = uint16_t(std::stoi(address.substr(address.rfind(':') + 1)));
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    return socket;
  }
  static void send(tcp::socket& socket, std::string_view bytes) {
    asio::write(socket, asio::buffer(bytes.data(), bytes.size()));
  }
  /// The bytes that come until the end of the connection.
  static std::string rest_of(tcp::socket& socket) {
    std::string out;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(out), end);
    return out;
  }
  /// The bytes that come until there are `bytes` of them or the connection has ended.
  static std::string read(tcp::socket& socket, size_t bytes) {
    std::string out;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(out), asio::transfer_at_least(bytes), end);
    return out;
  }
  static size_t count(std::string_view text, std::string_view part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
    return found;
  }

  asio::io_context io_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::string answer_ = "answer";
  std::atomic<size_t> calls_ = 0;
  std::map<CallId, BodyLease> kept_;  // of the server's thread
  size_t calls_at_wait_ = 0;          // when one of them came
  std::mutex mutex_;
  std::vector<std::string> remotes_;
};

TEST_F(ServerTest, AnswersNoMoreThanItsClientReads) {
  answer_ = std::string(13000, 'x');
  start({.limits = {.unwritten_bytes = size_t{256} << 10}});
  tcp::socket socket = connect();
  constexpr size_t kRequests = 2000;
  std::string all;
  for (size_t i = 0; i < kRequests; ++i) all += kGet;
  send(socket, all);
  // The bytes that the sockets of both sides keep count, too.
  const size_t taken = calls_at_rest();
  EXPECT_GT(taken, 10u);
  EXPECT_LT(taken * answer_.size(), size_t{8} << 20) << taken << " of " << kRequests;
  socket.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(count(rest_of(socket), "HTTP/1.1 200"), kRequests) << "once it reads, all are answered";
}

TEST_F(ServerTest, GivesOthersTheirTurnBetweenRequestsOfAConnection) {
  start({});
  std::string all;
  for (size_t i = 0; i < 2000; ++i) all += kGet;
  tcp::socket busy = connect(), other = connect();
  // Both are there when the server looks.
  std::promise<void> go;
  server_->post([done = go.get_future().share()] { done.wait(); });
  send(busy, all);
  send(other, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  go.set_value();
  ASSERT_TRUE(comes([this] { return !kept_.empty(); }));
  EXPECT_LT(calls_at_wait_, 100u);
}

TEST_F(ServerTest, BoundsTheBodiesOfAllConnectionsTogether) {
  start({.limits = {.all_bodies_bytes = 300'000}});
  const std::string body(200'000, 'x');
  const std::string post =
      fmt::format("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.size());
  tcp::socket one = connect(), two = connect();
  send(one, post + body);
  ASSERT_TRUE(comes([this] { return kept_.size() == 1; }));
  send(two, post + body.substr(0, 199'000) + body.substr(0, 1000));
  ASSERT_TRUE(comes([this] { return kept_.size() == 2; })) << "64 KiB of each are free";
  tcp::socket three = connect();
  send(three, post + body.substr(0, 150'000));  // not whole, and no more will come
  const std::string refusal = rest_of(three);
  EXPECT_TRUE(refusal.starts_with("HTTP/1.1 503")) << refusal;
  EXPECT_EQ(count(refusal, "Retry-After: 5"), 1u);
  tcp::socket small = connect();
  send(small, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_TRUE(read(small, 12).starts_with("HTTP/1.1 200")) << "small bodies are taken all the same";
  one.close();  // its body is dropped with its request
  ASSERT_TRUE(comes([this] { return kept_.size() == 1; }));
  tcp::socket four = connect();
  send(four, post + body);
  EXPECT_TRUE(comes([this] { return kept_.size() == 2; }));
}

TEST_F(ServerTest, ClosesAnIdleConnectionForANewOne) {
  start({.limits = {.connections = 3}});
  tcp::socket first = connect(), busy = connect(), second = connect();
  send(busy, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(comes([this] { return kept_.size() == 1 && server_->connections() == 3; }));
  tcp::socket third = connect();
  send(third, kGet);
  EXPECT_TRUE(read(third, 12).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(rest_of(first), "") << "it was idle for longest";
  tcp::socket fourth = connect();
  send(fourth, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(rest_of(second), "");
  send(third, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(comes([this] { return kept_.size() == 3; }));
  tcp::socket refused = connect();
  EXPECT_TRUE(rest_of(refused).starts_with("HTTP/1.1 503")) << "all others are busy";
}

TEST_F(ServerTest, ClosesAConnectionThatOnlyBeginsForANewOne) {
  start({.limits = {.connections = 2}});
  tcp::socket half = connect(), busy = connect();
  send(half, "GET / HTTP/1.1\r\nHost: x\r\n");
  send(busy, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(comes([this] { return kept_.size() == 1 && server_->connections() == 2; }));
  tcp::socket other = connect();
  send(other, kGet);
  EXPECT_TRUE(read(other, 12).starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, RecognizesTheClientsOfAProxyThatIsNamed) {
  start({.proxies = *Proxies::parse({"127.0.0.1"}), .limits = {.connections_of_one = 2}});
  const auto from = [](std::string_view path, std::string_view client) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {}\r\n\r\n", path, client);
  };
  tcp::socket one = connect(), two = connect(), three = connect(), four = connect();
  send(one, from("/wait", "192.0.2.1"));
  send(two, from("/wait", "192.0.2.1"));
  ASSERT_TRUE(comes([this] { return kept_.size() == 2; }));
  send(three, from("/", "192.0.2.1"));
  EXPECT_TRUE(read(three, 12).starts_with("HTTP/1.1 503")) << "it has as many as it may";
  send(four, from("/", "192.0.2.2"));
  EXPECT_TRUE(read(four, 12).starts_with("HTTP/1.1 200"));
  one.close();
  ASSERT_TRUE(comes([this] { return kept_.size() == 1; }));
  send(three, from("/", "192.0.2.1"));
  EXPECT_TRUE(read(three, 12).starts_with("HTTP/1.1 200"));
  const std::scoped_lock lock(mutex_);
  EXPECT_EQ(remotes_,
            (std::vector<std::string>{"192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.1"}));
}

TEST_F(ServerTest, WaitsNoLongerThanItsClockCanCount) {
  start({});
  std::atomic<int> fired = 0;
  on_server([&] {
    server_->after(1e300, [&] { ++fired; });
    server_->after(1e10, [&] { ++fired; });
    server_->after(-1, [&] { fired += 100; });
    return 0;
  });
  ASSERT_TRUE(comes([&] { return fired >= 100; }));
  EXPECT_EQ(fired, 100);
}

}  // namespace
}  // namespace tokamak::serve
