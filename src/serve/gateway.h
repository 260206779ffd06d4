// Gateway: what stands between connections and the engine. It decides who may ask and how many may
// wait, answers what needs no engine, and hands on everything else. On the thread of the server.
#pragma once
#include <map>

#include "serve/access.h"
#include "serve/admission.h"
#include "serve/http/server.h"
#include "serve/service_loop.h"

namespace tokamak::serve {

struct GatewayOptions {
  AccessRules access;
  uint32_t sequences = 1;    // that run at once
  uint32_t max_queue = 512;  // requests that wait for one of those to end
  double drain_seconds = 30;
  std::function<void(const Answered&)> log;
};

class Gateway {
 public:
  /// `server` outlives it.
  Gateway(Server& server, GatewayOptions options);
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  Handler handler();
  /// From here on there is a model. `loop` outlives the server's run().
  void open(ServiceLoop& loop);
  void take(std::vector<Part> parts);
  /// Takes no new requests, and stops the server when those that run have ended; they are cancelled
  /// after some time.
  void drain();
  bool is_draining() const { return state_ == State::kDraining; }

 private:
  enum class State : uint8_t { kLoading, kReady, kDraining };
  struct Waiting {
    double started = 0;
  };

  Verdict check(const RequestHead& head);
  std::optional<Reply> refusal(const RequestHead& head);
  std::optional<Reply> refusal_of_state(std::string_view path) const;
  void call(CallId id, const RequestHead& head, std::string body);
  /// An answer that needs no engine; nothing where the service makes it.
  std::optional<Reply> own_reply(const RequestHead& head);
  Reply health() const;
  void forget(CallId id);

  Server& server_;
  GatewayOptions options_;
  Access access_;
  Admission admission_;
  State state_ = State::kLoading;
  ServiceLoop* loop_ = nullptr;
  std::map<CallId, Waiting> calls_;  // that the engine answers
};

}  // namespace tokamak::serve
