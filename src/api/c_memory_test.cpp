// The C interface where memory is used up: this program's own operator new fails on demand.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tokamak/c.h"
#include "tokamak/c_openai.h"
#include "tokamak/c_vectors.h"

namespace {

/// Allocations of this thread until none succeeds; negative: without end.
thread_local int64_t allocations_left = -1;

}  // namespace

// Not inlined: the compiler would see malloc() and operator delete in one function, and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (allocations_left > 0) --allocations_left;
  void* memory = allocations_left == 0 ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Takes the same memory as the others: a sanitizer has its own, which std::free() does not take.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace {

/// Whether `call` succeeds with that many allocations. Where it does not, its error is that memory
/// is used up.
template <typename Call>
bool succeeds_with(int64_t allocations, const Call& call) {
  tokamak_error* error = nullptr;
  allocations_left = allocations + 1;
  const bool is_done = call(&error);
  allocations_left = -1;
  if (is_done) return true;
  EXPECT_NE(error, nullptr) << "after " << allocations << " allocations";
  if (error == nullptr) return true;
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_OUT_OF_MEMORY) << tokamak_error_message(error);
  EXPECT_STREQ(tokamak_error_message(error), "Out of memory.");
  tokamak_error_free(error);
  return false;
}

/// Fails each allocation of `call` in turn, of many some, and gives about their number.
template <typename Call>
int64_t fail_each_allocation(const Call& call) {
  int64_t allocations = 0;
  while (!succeeds_with(allocations, call)) allocations += 1 + allocations / 8;
  return allocations;
}

struct CMemory : testing::Test {
  void SetUp() override {
    for (const auto& [name, value] : {std::pair("model", TOKAMAK_SOURCE_DIR "/models/storyteller"),
                                      std::pair("backend", "cpu"), std::pair("context", "96")}) {
      ASSERT_TRUE(tokamak_options_set(options, name, value, nullptr));
    }
  }
  ~CMemory() override {
    tokamak_request_free(request);
    tokamak_model_free(model);
    tokamak_options_free(options);
  }

  tokamak_options* options = tokamak_options_new();
  tokamak_request* request = tokamak_request_new();
  tokamak_model* model = nullptr;
};

TEST_F(CMemory, OfHandlesIsMissedAsNull) {
  allocations_left = 1;
  EXPECT_EQ(tokamak_options_new(), nullptr);
  EXPECT_EQ(tokamak_request_new(), nullptr);
  EXPECT_EQ(tokamak_embed_options_new(), nullptr);
  EXPECT_EQ(tokamak_logits_options_new(), nullptr);
  EXPECT_EQ(tokamak_rerank_options_new(), nullptr);
  allocations_left = -1;
}

TEST_F(CMemory, OfRequestsIsMissedAsAnError) {
  const auto set = [&](tokamak_error** error) {
    return tokamak_request_set(request, "stop", "a text that is longer than a short one", error);
  };
  EXPECT_GT(fail_each_allocation(set), 0);
  const auto add = [&](tokamak_error** error) {
    return tokamak_request_add_message(request, "user", "a message of many characters", error);
  };
  EXPECT_GT(fail_each_allocation(add), 0);
  const auto show = [&](tokamak_error** error) {
    return tokamak_request_add_image_file(request, "path/to/an/image/file.png", error);
  };
  EXPECT_GT(fail_each_allocation(show), 0);
}

TEST_F(CMemory, OfStartingIsMissedAsAnError) {
  model = tokamak_model_open(options, nullptr);
  ASSERT_NE(model, nullptr);
  ASSERT_TRUE(tokamak_request_add_message(request, "user", "Hello", nullptr));
  tokamak_stream* stream = nullptr;
  const auto start = [&](tokamak_error** error) {
    stream = tokamak_model_start(model, request, error);
    return stream != nullptr;
  };
  EXPECT_GT(fail_each_allocation(start), 10);
  tokamak_result result = {};
  result.size = sizeof result;
  EXPECT_TRUE(tokamak_stream_result(stream, &result, nullptr)) << "the model is as it was";
  EXPECT_GT(result.count, 0u);
  tokamak_stream_free(stream);
}

TEST_F(CMemory, OfCallsIsMissedAsAnError) {
  model = tokamak_model_open(options, nullptr);
  ASSERT_NE(model, nullptr);
  constexpr const char* kBody = R"({"prompt": "Once", "max_tokens": 2, "temperature": 0})";
  tokamak_call* call = nullptr;
  const auto begin = [&](tokamak_error** error) {
    call = tokamak_model_call(model, "/v1/completions", kBody, error);
    return call != nullptr;
  };
  EXPECT_GT(fail_each_allocation(begin), 10);
  tokamak_answer_part part = {};
  part.size = sizeof part;
  ASSERT_EQ(tokamak_call_next(call, -1, &part), TOKAMAK_STREAM_PIECE) << "the model is as it was";
  EXPECT_EQ(part.status, 200) << part.bytes;
  EXPECT_EQ(tokamak_call_next(call, -1, &part), TOKAMAK_STREAM_END);
  tokamak_call_free(call);
}

}  // namespace
