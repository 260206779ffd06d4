// Gateway: what stands between connections and the models. It decides who may ask, answers what is
// about the server, and hands on everything else. On the thread of the server.
#pragma once
#include <map>

#include "serve/access.h"
#include "serve/http/server.h"
#include "serve/metrics.h"
#include "serve/model_pool.h"

namespace tokamak::serve {

struct GatewayOptions {
  AccessRules access;
  uint32_t requests_of_key = 0;  // most that are under way at once; 0: as many as may of all
  double drain_seconds = 30;
  bool shows_slots = false;
  std::function<void(const Answered&)> log;
  std::function<uint64_t()> random;  // 64 bits
};

class Gateway {
 public:
  /// `server` outlives it.
  Gateway(Server& server, GatewayOptions options);
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  Handler handler();
  /// From here on there is a model. `pool` outlives the server's run().
  void open(ModelPool& pool);
  void take(std::vector<Part> parts);
  /// Takes no new requests, and stops the server when those that run have ended; they are cancelled
  /// after some time.
  void drain();
  bool is_draining() const { return state_ == State::kDraining; }

 private:
  enum class State : uint8_t { kLoading, kReady, kDraining };
  struct Call {
    std::string method, path;
    std::optional<size_t> counted_key;  // of whose requests it is one
    double started = 0;
    bool has_begun = false;  // to be answered
  };

  Verdict check(const RequestHead& head);
  std::optional<Reply> refusal(const RequestHead& head);
  std::optional<Reply> refusal_of_state(std::string_view path) const;
  /// Why no model can take it now.
  std::optional<Reply> refusal_of_work(const RequestHead& head) const;
  /// That its key has as many under way as it may.
  std::optional<Reply> refusal_of_key(const RequestHead& head) const;
  void call(CallId id, const RequestHead& head, std::string body);
  /// The answer to a path of the gateway's own; nothing where it is the service's.
  std::optional<Reply> own_reply(const RequestHead& head);
  Reply root(const RequestHead& head) const;
  Reply health() const;
  Reply metrics() const;
  Reply slots() const;
  void gone(CallId id);
  void forget(CallId id);

  Server& server_;
  GatewayOptions options_;
  Access access_;
  HttpMetrics metrics_;
  State state_ = State::kLoading;
  ModelPool* pool_ = nullptr;
  std::map<CallId, Call> calls_;    // that the pool answers
  std::vector<Admission> of_keys_;  // in the order of the keys; empty: without a limit
};

}  // namespace tokamak::serve
