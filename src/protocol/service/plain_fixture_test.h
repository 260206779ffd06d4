// A service over an encoder on the CPU, and one request to it.
#pragma once
#include <gtest/gtest.h>

#include "protocol/service/service.h"

namespace tokamak::protocol {

/// An engine of the model below tests/data, with as many positions or, 0, those of the model.
inline std::unique_ptr<Engine> open_encoder(const std::string& model, uint32_t context = 0) {
  auto opened = Engine::open(
      {.model = TOKAMAK_TEST_DATA "/" + model, .backend = "cpu-reference", .context = context});
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

struct PlainAnswer {
  int status = 0;
  Json json;
};

inline PlainAnswer response(Engine& engine, std::string_view path, std::string_view body) {
  auto service = Service::make(
      engine, {.model = "m", .unix_seconds = [] { return 0; }, .random = [] { return 4u; }});
  EXPECT_TRUE(service) << service.error().message;
  PlainAnswer received;
  std::string text;
  (*service)->begin({"POST", std::string(path), std::string(body)},
                    {.begin = [&](int status, std::string_view) { received.status = status; },
                     .write = [&](std::string_view more) { text += more; },
                     .end = [] {}});
  while ((*service)->has_jobs()) (*service)->run_job();
  auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed) << text;
  if (parsed) received.json = *std::move(parsed);
  return received;
}

}  // namespace tokamak::protocol
