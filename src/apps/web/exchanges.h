// Requests of OpenAI's protocol that the page makes: their answers come as events.
#pragma once
#include <map>
#include <memory>

#include "protocol/service/service.h"

namespace tokamak::web {

class Exchanges {
 public:
  /// The number of the exchange, from 1. Errors: those of the service.
  Result<uint32_t> begin(Engine& engine, const protocol::HttpRequest& request);
  /// Does nothing where it has ended or never was.
  void cancel(uint32_t exchange);
  /// Before the engine ends.
  void clear();

  /// Returns the events since the last call: {exchange, status, contentType}, {exchange, body} any
  /// number of times, {exchange, end}.
  Json::Array take_events();

 private:
  std::unique_ptr<protocol::Service> service_;  // made by the first exchange with an engine
  std::map<uint32_t, protocol::ExchangeId> running_;
  std::map<uint32_t, std::string> bodies_;  // that no event has yet
  Json::Array events_;
  uint32_t last_ = 0;
  uint64_t random_ = 0;

  void flush(uint32_t exchange);
};

}  // namespace tokamak::web
