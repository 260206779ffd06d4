#include "serve/http/connection.h"

#include <algorithm>
#include <ctime>

#include "base/system/calendar.h"

namespace tokamak::serve {
namespace {

constexpr int kClientGone = 499;
/// After which it may be worth trying again where a limit of connections or bodies is reached.
constexpr int kRetrySeconds = 5;

constexpr std::pair<int, std::string_view> kReasons[] = {
    {200, "OK"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

/// The words after the status, for people; they may be missing.
std::string_view reason_of(int status) {
  for (const auto& [known, reason] : kReasons) {
    if (known == status) return reason;
  }
  return "";
}

std::string date_text() {
  const std::tm parts = utc_time(std::time(nullptr)).value_or(std::tm{});
  char text[40] = "";
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

TimePoint now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

Connection::Connection(Server::State& server, tcp::socket socket, std::string remote)
    : server_(server),
      socket_(std::move(socket)),
      remote_(std::move(remote)),
      reader_(server.options.limits.request),
      lease_(server.bodies),
      since_(now()),
      last_progress_(since_) {
  if (server_.options.tls) tls_ = std::make_unique<TlsSession>(server_.options.tls);
}

double Connection::seconds_since(TimePoint point) const {
  return std::chrono::duration<double>(now() - point).count();
}

void Connection::start() {
  wait_for_bytes();
}

void Connection::reject() {
  if (tls_) return close();  // before the handshake no HTTP answer can be sent
  refuse(503, "There are too many connections.");
}

// Reading.

bool Connection::has_backlog() const {
  return unwritten_.size() - written_ > server_.options.limits.unwritten_bytes;
}

bool Connection::may_read() const {
  if (is_closed_ || waits_to_read_) return false;
  if (lingers_) return true;
  if (has_input_ended_ || is_scheduled_) return false;
  if (call_ && unread_.size() >= server_.options.limits.unread_bytes) return false;
  // While a call is answered its client may leave, which shows by reading; but TLS may answer what
  // it reads.
  return !has_backlog() || (call_ && !tls_);
}

void Connection::wait_for_bytes() {
  if (!may_read()) return;
  waits_to_read_ = true;
  socket_.async_wait(tcp::socket::wait_read, [own = shared_from_this()](boost::system::error_code) {
    own->waits_to_read_ = false;
    if (!own->is_closed_) own->read_some();
  });
}

void Connection::read_some() {
  boost::system::error_code error;
  const size_t count = socket_.read_some(asio::buffer(server_.buffer), error);
  if (error && error != asio::error::would_block) return take_end();
  if (!lingers_ && !ends_) {
    const std::string_view bytes(server_.buffer.data(), count);
    if (!tls_) {
      unread_ += bytes;
    } else if (!receive(bytes)) {
      return;
    }
    take_requests();
  }
  wait_for_bytes();
}

/// By TLS. False where nothing more comes of it.
bool Connection::receive(std::string_view bytes) {
  tls_->receive(bytes, unread_, unwritten_);
  using Stage = TlsSession::Stage;
  const Stage stage = tls_->stage();
  if (stage == Stage::kPlain) {
    tls_.reset();
    refuse(400, "This server speaks HTTPS: its addresses begin with https://.");
    return false;
  }
  flush();
  if (stage == Stage::kBroken) give_up();
  if (stage == Stage::kClosed && !is_closed_) {
    take_requests();
    take_end();
  }
  return !is_closed_ && stage != Stage::kClosed;
}

void Connection::take_end() {
  if (lingers_) return close();
  if (call_) return give_up();
  has_input_ended_ = true;
  // Requests that came before it are answered.
  if (is_scheduled_ || (has_backlog() && !unread_.empty())) return;
  if (unwritten_.empty()) return close();
  ends_ = true;  // what has been answered may still be read
}

void Connection::take_requests() {
  if (is_closed_ || ends_ || call_ || is_scheduled_ || has_backlog()) return;
  if (take_request() && !call_) schedule_requests();
  if (has_input_ended_ && !is_scheduled_ && !is_closed_) take_end();
}

/// Others have their turn before the next request of this connection.
void Connection::schedule_requests() {
  if (is_closed_ || std::exchange(is_scheduled_, true)) return;
  asio::post(server_.io, [own = shared_from_this()] {
    own->is_scheduled_ = false;
    own->take_requests();
    own->wait_for_bytes();
  });
}

bool Connection::take_request() {
  reader_.read(unread_);
  using Stage = RequestReader::Stage;
  const Stage stage = reader_.stage();
  if (stage != seen_) since_ = now();
  seen_ = stage;
  if (stage == Stage::kRefused) {
    refuse(reader_.refusal().status, reader_.refusal().message);
    return false;
  }
  if (stage != Stage::kBody && stage != Stage::kWhole) return false;
  if (!is_checked_ && !check_head()) return !ends_;
  if (!lease_.cover(reader_.body_bytes())) {
    refuse(503, "The bodies of other requests take all the room there is for them.");
    return false;
  }
  if (stage != Stage::kWhole) return false;
  call_ = new_call();
  const CallId id = call_->id;
  server_.calls[id] = weak_from_this();
  const RequestHead head = reader_.head();
  std::string body = reader_.take_body();
  BodyLease lease = std::exchange(lease_, BodyLease(server_.bodies));
  reader_ = RequestReader(server_.options.limits.request);
  seen_ = RequestReader::Stage::kNothing;
  is_checked_ = false;
  if (call_->is_counted &&
      server_.by_client[call_->client] > server_.options.limits.connections_of_one) {
    reply(refusal(503, "There are too many requests from this address."));
    return true;
  }
  server_.handler.call(id, head, std::move(body), std::move(lease));
  return true;
}

/// Takes the handler's verdict on the head; false where that was all.
bool Connection::check_head() {
  is_checked_ = true;
  Verdict verdict = server_.handler.check(reader_.head());
  fields_ = std::move(verdict.fields);
  if (!verdict.refusal) {
    if (reader_.head().expects_continue && reader_.stage() == RequestReader::Stage::kBody) {
      put("HTTP/1.1 100 Continue\r\n\r\n");
      flush();
    }
    return true;
  }
  const bool is_whole = reader_.stage() == RequestReader::Stage::kWhole;
  call_ = new_call();
  // A body that nobody reads would be taken for the next request.
  call_->keeps_alive = call_->keeps_alive && is_whole;
  reader_ = RequestReader(server_.options.limits.request);
  seen_ = RequestReader::Stage::kNothing;
  is_checked_ = false;
  reply(*std::move(verdict.refusal));
  return false;
}

Connection::Call Connection::new_call() {
  const RequestHead& head = reader_.head();
  std::string client = server_.options.proxies.client_of(head, remote_);
  const bool is_counted = client != remote_;
  if (is_counted) ++server_.by_client[client];
  return {.id = CallId(server_.next_call++),
          .request_id = fmt::format("req_{:016x}", server_.options.random()),
          .method = head.method,
          .path = std::string(head.path()),
          .client = std::move(client),
          .fields = std::exchange(fields_, {}),
          .started = now(),
          .is_head = head.method == "HEAD",
          .is_http_1_0 = head.is_http_1_0,
          .keeps_alive = head.keeps_alive && !server_.is_stopping,
          .is_counted = is_counted};
}

void Connection::refuse(int status, std::string_view message) {
  call_ = new_call();
  call_->keeps_alive = false;
  reply(refusal(status, message));
}

Reply Connection::refusal(int status, std::string_view message) const {
  Reply reply = server_.handler.refuse(status, message, call_->path);
  if (status == 503) reply.fields.push_back({"Retry-After", std::to_string(kRetrySeconds)});
  return reply;
}

// Writing.

void Connection::put(std::string_view bytes) {
  if (tls_) {
    tls_->send(bytes, unwritten_);
  } else {
    unwritten_ += bytes;
  }
}

void Connection::put_head(const Reply& reply, std::optional<uint64_t> length) {
  Call& call = *call_;
  call.has_begun = true;
  call.status = reply.status;
  call.keep_alive_text = reply.keep_alive_text;
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", reply.status, reason_of(reply.status));
  const auto field = [&](std::string_view name, std::string_view value) {
    head += fmt::format("{}: {}\r\n", name, value);
  };
  field("Date", date_text());
  field("x-request-id", call.request_id);
  if (!reply.content_type.empty()) field("Content-Type", reply.content_type);
  for (const Field& one : reply.fields) field(one.name, one.value);
  for (const Field& one : call.fields) field(one.name, one.value);
  if (length) {
    call.framing = Framing::kLength;
    if (reply.status != 204) field("Content-Length", std::to_string(*length));
  } else if (call.is_http_1_0) {
    call.framing = Framing::kUntilClose;
    call.keeps_alive = false;
  } else {
    call.framing = Framing::kChunked;
    field("Transfer-Encoding", "chunked");
  }
  field("Connection", call.keeps_alive ? "keep-alive" : "close");
  put(head + "\r\n");
}

void Connection::put_body(std::string_view bytes) {
  call_->bytes += bytes.size();
  if (call_->is_head || bytes.empty()) return;
  if (call_->framing == Framing::kChunked) {
    put(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
  } else {
    put(bytes);
  }
  last_event_at_ = now();
}

void Connection::reply(Reply reply) {
  if (!call_ || is_closed_) return;
  put_head(reply, reply.body.size());
  put_body(reply.body);
  end_call();
}

void Connection::begin(Reply head) {
  if (!call_ || is_closed_) return;
  put_head(head, std::nullopt);
  last_event_at_ = now();
  flush();
}

void Connection::write(std::string_view bytes) {
  if (!call_ || is_closed_) return;
  put_body(bytes);
  flush();
  if (is_closed_ || !call_ || call_->is_held || !has_backlog()) return;
  call_->is_held = true;
  server_.handler.hold(call_->id, true);
}

void Connection::end() {
  if (!call_ || is_closed_) return;
  if (call_->framing == Framing::kChunked && !call_->is_head) put("0\r\n\r\n");
  end_call();
}

void Connection::end_call() {
  if (!call_->keeps_alive) ends_ = true;
  drop_call(call_->status);
  since_ = now();
  flush();
  advance();
}

void Connection::flush() {
  if (waits_to_write_ || is_closed_) return;
  last_progress_ = now();  // all was out, or there is room again
  while (written_ < unwritten_.size()) {
    boost::system::error_code error;
    const auto rest = asio::buffer(unwritten_) + written_;
    const size_t count = socket_.write_some(rest, error);
    if (error == asio::error::would_block) return wait_to_write();
    if (error) return give_up();
    written_ += count;
  }
  unwritten_.clear();
  written_ = 0;
  if (unwritten_.capacity() > server_.options.limits.unread_bytes) unwritten_.shrink_to_fit();
  if (call_ && std::exchange(call_->is_held, false)) server_.handler.hold(call_->id, false);
  if (ends_ && !call_) return linger();
  advance();
}

void Connection::advance() {
  if (is_closed_ || ends_) return;
  // A body has made it large, and thousands of connections may be idle.
  if (!call_ && unread_.empty()) std::string().swap(unread_);
  // Requests that came while one was answered, or its answer not read.
  if (!call_ && !has_backlog() && (!unread_.empty() || has_input_ended_)) schedule_requests();
  wait_for_bytes();
}

void Connection::wait_to_write() {
  waits_to_write_ = true;
  socket_.async_wait(tcp::socket::wait_write,
                     [own = shared_from_this()](boost::system::error_code) {
                       own->waits_to_write_ = false;
                       if (!own->is_closed_) own->flush();
                     });
}

// Ending.

void Connection::drop_call(int status) {
  const Call call = *std::move(call_);
  call_.reset();
  server_.calls.erase(call.id);
  if (call.is_counted) {
    const auto found = server_.by_client.find(call.client);
    if (--found->second == 0) server_.by_client.erase(found);
  }
  server_.handler.answered({.request_id = call.request_id,
                            .remote = call.client,
                            .method = call.method,
                            .path = call.path,
                            .status = status,
                            .bytes = call.bytes,
                            .seconds = seconds_since(call.started)});
}

/// The client is gone.
void Connection::give_up() {
  if (call_) {
    const CallId id = call_->id;
    drop_call(kClientGone);
    server_.handler.gone(id);
  }
  close();
}

/// A socket that is closed while bytes of the client are in flight takes back what was written
/// last: the client's end comes first.
void Connection::linger() {
  if (std::exchange(lingers_, true)) return;
  since_ = now();
  boost::system::error_code error;
  send_close_notify();
  socket_.shutdown(tcp::socket::shutdown_send, error);
  if (error) return close();
  wait_for_bytes();
}

/// Everything is out: TLS says that nothing was cut off.
void Connection::send_close_notify() {
  if (!tls_) return;
  tls_->close(unwritten_);
  boost::system::error_code ignored;
  socket_.write_some(asio::buffer(std::exchange(unwritten_, {})), ignored);
}

void Connection::close() {
  if (std::exchange(is_closed_, true)) return;
  if (!lingers_ && unwritten_.empty()) send_close_notify();
  boost::system::error_code ignored;
  socket_.close(ignored);
  server_.forget(shared_from_this());
}

void Connection::finish() {
  ends_ = true;
  if (call_) {
    call_->keeps_alive = false;
  } else if (unwritten_.empty() && !lingers_) {
    close();
  }
}

std::optional<TimePoint> Connection::idle_since() const {
  using Stage = RequestReader::Stage;
  const bool waits = reader_.stage() == Stage::kNothing || reader_.stage() == Stage::kHeader;
  const bool is_idle = waits && !call_ && !ends_ && !is_scheduled_ && unwritten_.empty();
  return is_idle ? std::optional(since_) : std::nullopt;
}

void Connection::check_time() {
  const ServerLimits& limits = server_.options.limits;
  const double waited = seconds_since(since_);
  if (lingers_) {
    if (waited > limits.linger_seconds) close();
    return;
  }
  if (written_ < unwritten_.size() && seconds_since(last_progress_) > limits.write_seconds) {
    return give_up();
  }
  if (call_) {
    const std::string_view text = call_->keep_alive_text;
    const bool is_quiet = call_->has_begun && !text.empty() && unwritten_.empty();
    if (is_quiet && seconds_since(last_event_at_) > limits.quiet_seconds) write(text);
    return;
  }
  using Stage = RequestReader::Stage;
  if (ends_) return;
  const bool is_joining = tls_ && tls_->stage() == TlsSession::Stage::kHandshake;
  const double allowed_quiet = is_joining ? limits.header_seconds : limits.idle_seconds;
  if (reader_.stage() == Stage::kNothing && waited > allowed_quiet) return close();
  if (reader_.stage() == Stage::kHeader && waited > limits.header_seconds) {
    return refuse(408,
                  fmt::format("The header did not come within {} seconds.", limits.header_seconds));
  }
  if (reader_.stage() != Stage::kBody) return;
  const uint64_t size = reader_.head().length.value_or(reader_.body_bytes());
  const double allowed = limits.body_seconds + double(size >> 16);
  if (waited > allowed) {
    refuse(408, fmt::format("The body did not come within {:.0f} seconds.", allowed));
  }
}

}  // namespace tokamak::serve
