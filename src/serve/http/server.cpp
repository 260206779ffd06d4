#include "serve/http/server.h"

#include <boost/asio/post.hpp>

#include "base/system/machine.h"
#include "base/system/signals.h"
#include "serve/http/connection.h"

namespace tokamak::serve {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
/// Until descriptors may be there again.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr int kBacklog = 1024;
/// The bytes that the system keeps of an answer that is not taken yet; by default megabytes.
constexpr int kSendBytes = 64 << 10;
/// Connections beyond the limit that get an answer; further ones are closed without one.
constexpr size_t kMaxRejected = 256;
constexpr double kMaxSeconds = 366.0 * 24 * 3600;

std::string text_of(const tcp::endpoint& endpoint) {
  boost::system::error_code ignored;
  const std::string host = endpoint.address().to_string(ignored);
  return fmt::format(fmt::runtime(endpoint.address().is_v6() ? "[{}]:{}" : "{}:{}"), host,
                     endpoint.port());
}

Result<tcp::endpoint> endpoint_of(asio::io_context& io, const ServerOptions& options) {
  boost::system::error_code error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (!error && !found.empty()) return found.begin()->endpoint();
  return fail(ErrorCode::kUsage, "\"{}\" is no address to listen at: {}.", options.host,
              error.message());
}

}  // namespace

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  // Connections refer to the state; handlers that never ran hold some.
  state_->connections.clear();
  state_->calls.clear();
}

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options) {
  auto state = std::make_unique<State>();
  state->bodies = std::make_shared<ByteBudget>(options.limits.all_bodies_bytes);
  // Every connection is an open file; shells allow 1024 of them and often many more on request.
  allow_open_files(uint64_t{options.limits.connections} + 256);
  TOK_TRY(const tcp::endpoint endpoint, endpoint_of(state->io, options));
  auto& acceptor = state->acceptor;
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error) {
    const std::string hint = error == asio::error::address_in_use
                                 ? "; another program listens there, --port takes another one"
                                 : "";
    return fail(ErrorCode::kUsage, "Listening at {} failed: {}{}.", text_of(endpoint),
                error.message(), hint);
  }
  state->options = std::move(options);
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

std::string Server::address() const {
  boost::system::error_code ignored;
  return text_of(state_->acceptor.local_endpoint(ignored));
}

std::string Server::url() const {
  return fmt::format("{}://{}", state_->options.tls ? "https" : "http", address());
}

bool Server::is_loopback() const {
  boost::system::error_code ignored;
  return state_->acceptor.local_endpoint(ignored).address().is_loopback();
}

void Server::run(Handler handler) {
  state_->handler = std::move(handler);
  state_->accept();
  state_->keep_time();
  state_->io.run();
}

void Server::post(std::function<void()> job) {
  asio::post(state_->io, std::move(job));
}

void Server::State::accept() {
  acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
    if (is_stopping) return;
    if (!error) {
      take(std::move(socket));
      return accept();
    }
    // No descriptors, no memory, or a client that was too quick: none of it lasts.
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](boost::system::error_code) {
      if (!is_stopping) accept();
    });
  });
}

void Server::State::take(tcp::socket socket) {
  boost::system::error_code error;
  const auto remote = socket.remote_endpoint(error);
  if (!error) socket.non_blocking(true, error);
  if (!error) socket.set_option(tcp::no_delay(true), error);
  if (!error) socket.set_option(tcp::socket::send_buffer_size(kSendBytes), error);
  if (error) return;
  const std::string address = remote.address().to_string(error);
  const bool has_room = make_room(remote.address(), address);
  if (connections.size() >= options.limits.connections + kMaxRejected) return;
  const auto connection = std::make_shared<Connection>(*this, std::move(socket), address);
  connections.insert(connection);
  ++by_address[address];
  if (has_room) {
    connection->start();
  } else {
    connection->reject();
  }
}

bool Server::State::make_room(const asio::ip::address& address, const std::string& name) {
  // All clients of a proxy have its address, and on a loopback address a proxy may stand.
  const bool may_be_proxy =
      options.proxies.empty() ? address.is_loopback() : options.proxies.contains(address);
  const auto found = by_address.find(name);
  const bool has_address_too_many = !may_be_proxy && found != by_address.end() &&
                                    found->second >= options.limits.connections_of_one;
  if (!has_address_too_many && connections.size() < options.limits.connections) return true;
  std::shared_ptr<Connection> longest;
  for (const auto& connection : connections) {
    if (has_address_too_many && connection->remote() != name) continue;
    const auto since = connection->idle_since();
    if (since && (longest == nullptr || *since < *longest->idle_since())) longest = connection;
  }
  if (longest != nullptr) longest->close();
  return longest != nullptr;
}

void Server::State::keep_time() {
  tick.expires_after(kTick);
  tick.async_wait([this](boost::system::error_code error) {
    if (error) return;
    // Some of them end by this, and leave the set.
    const std::vector<std::shared_ptr<Connection>> now(connections.begin(), connections.end());
    for (const auto& connection : now) connection->check_time();
    keep_time();
  });
}

void Server::State::forget(const std::shared_ptr<Connection>& connection) {
  if (connections.erase(connection) == 0) return;
  const auto found = by_address.find(connection->remote());
  if (--found->second == 0) by_address.erase(found);
  stop_when_empty();
}

std::shared_ptr<Connection> Server::State::connection_of(CallId id) const {
  const auto found = calls.find(id);
  return found == calls.end() ? nullptr : found->second.lock();
}

void Server::State::stop_when_empty() {
  if (is_stopping && connections.empty()) io.stop();
}

void Server::reply(CallId id, Reply reply) {
  if (const auto connection = state_->connection_of(id)) connection->reply(std::move(reply));
}

void Server::begin(CallId id, Reply head) {
  if (const auto connection = state_->connection_of(id)) connection->begin(std::move(head));
}

void Server::write(CallId id, std::string_view bytes) {
  if (const auto connection = state_->connection_of(id)) connection->write(bytes);
}

void Server::end(CallId id) {
  if (const auto connection = state_->connection_of(id)) connection->end();
}

void Server::after(double seconds, std::function<void()> job) {
  const auto timer = std::make_shared<asio::steady_timer>(state_->io);
  // More would overflow the clock's time.
  const std::chrono::duration<double> wait(std::clamp(seconds, 0.0, kMaxSeconds));
  timer->expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait));
  timer->async_wait([timer, job = std::move(job)](boost::system::error_code error) {
    if (!error) job();
  });
}

void Server::State::wait_for_signal(asio::signal_set& set, std::function<void()> job) {
  set.async_wait([this, &set, job = std::move(job)](boost::system::error_code error, int) {
    if (error) return;
    job();
    wait_for_signal(set, job);
  });
}

void Server::on_signal(std::function<void()> job) {
  boost::system::error_code ignored;
  for (const Signal signal : {Signal::kTerminate, Signal::kInterrupt}) {
    if (const auto number = heeded_signal(signal)) state_->signals.add(*number, ignored);
  }
  state_->wait_for_signal(state_->signals, std::move(job));
}

void Server::on_hangup(std::function<void()> job) {
  boost::system::error_code ignored;
  const auto number = heeded_signal(Signal::kHangup);
  if (!number) return;
  state_->hangups.add(*number, ignored);
  state_->wait_for_signal(state_->hangups, std::move(job));
}

void Server::set_tls(std::shared_ptr<const TlsIdentity> identity) {
  state_->options.tls = std::move(identity);
}

size_t Server::connections() const {
  return state_->connections.size();
}

void Server::stop() {
  if (std::exchange(state_->is_stopping, true)) return;
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  const std::vector<std::shared_ptr<Connection>> now(state_->connections.begin(),
                                                     state_->connections.end());
  for (const auto& connection : now) connection->finish();
  state_->stop_when_empty();
}

}  // namespace tokamak::serve
