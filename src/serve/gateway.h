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
  uint32_t requests_of_key = 0;  // most that are in flight at once; 0: as many as may of all
  double drain_seconds = 30;
  bool shows_slots = false;
  bool has_public_metrics = false;  // /metrics needs no key
  std::function<void(const Answered&)> log;
  std::function<uint64_t()> random;  // 64 bits
};

/// The label of a path in the metrics: one of few, whatever strangers ask for.
std::string_view metric_path(std::string_view path);

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
  /// The keys that count from here on; what runs for others goes on. REQUIRES: keys, as before.
  void set_keys(std::vector<std::string> keys);

 private:
  enum class State : uint8_t { kLoading, kReady, kDraining };
  /// A path for probes and browsers, with nothing of the model and of others, needs no key.
  enum class Needs : uint8_t { kKey, kNothing, kKeyUnlessMetricsArePublic };
  struct OwnPath {
    std::string_view path;
    Reply (Gateway::*reply)(const RequestHead& head) const;
    Needs needs;
  };
  static const OwnPath kOwnPaths[];
  friend std::string_view metric_path(std::string_view path);
  struct Key {
    uint64_t id = 0;  // no other key has had it: what was kept for one is never another one's
    std::shared_ptr<Admission> admission;  // of its requests; null: without a limit
  };
  struct Call {
    std::string method, path;
    std::shared_ptr<Admission::Place> place;  // among those of its key; null: it has no limit
    double started = 0;
    bool has_begun = false;  // to be answered
  };

  Verdict check(const RequestHead& head);
  bool is_public(std::string_view path) const;
  std::optional<Reply> refusal(const RequestHead& head) const;
  /// The refusal of a client that may not ask.
  std::optional<Reply> refusal_of_client(const RequestHead& head) const;
  std::optional<Reply> refusal_of_state(std::string_view path) const;
  /// Why no model can take it now.
  std::optional<Reply> refusal_of_work(const RequestHead& head) const;
  /// That its key has as many in flight as it may.
  std::optional<Reply> refusal_of_key(const RequestHead& head) const;
  void call(CallId id, const RequestHead& head, std::string body, BodyLease lease);
  /// The answer to a path of the gateway's own; nothing where it is the service's.
  std::optional<Reply> own_reply(const RequestHead& head);
  Reply root(const RequestHead& head) const;
  Reply health(const RequestHead& head) const;
  Reply metrics(const RequestHead& head) const;
  Reply slots(const RequestHead& head) const;
  void gone(CallId id);
  void forget(CallId id);

  Server& server_;
  GatewayOptions options_;
  Access access_;
  HttpMetrics metrics_;
  State state_ = State::kLoading;
  ModelPool* pool_ = nullptr;
  std::map<CallId, Call> calls_;           // that the pool answers
  std::map<std::string, Key> known_keys_;  // those of Access
  std::vector<Key> keys_;                  // the same in the order of Access
  uint64_t next_key_ = 0;
};

}  // namespace tokamak::serve
