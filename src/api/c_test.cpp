#include "tokamak/c.h"

#include <gtest/gtest.h>

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tokamak/c_vectors.h"

namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";

/// Frees the error and gives what it says.
std::string said(tokamak_error* error) {
  const std::string message = error == nullptr ? "" : tokamak_error_message(error);
  tokamak_error_free(error);
  return message;
}

struct C : testing::Test {
  void SetUp() override {
    set("model", kModel);
    set("backend", "cpu");
    set("context", "96");
  }
  ~C() override {
    tokamak_request_free(request);
    tokamak_model_free(model);
    tokamak_options_free(options);
  }
  void set(const char* name, const char* value) {
    tokamak_error* error = nullptr;
    EXPECT_TRUE(tokamak_options_set(options, name, value, &error)) << said(error);
  }
  void open() {
    tokamak_error* error = nullptr;
    model = tokamak_model_open(options, &error);
    ASSERT_NE(model, nullptr) << said(error);
  }
  void ask(const char* name, const char* value) {
    tokamak_error* error = nullptr;
    EXPECT_TRUE(tokamak_request_set(request, name, value, &error)) << said(error);
  }

  tokamak_options* options = tokamak_options_new();
  tokamak_request* request = tokamak_request_new();
  tokamak_model* model = nullptr;
};

TEST_F(C, StreamsText) {
  open();
  ask("prompt", "Once upon a time");
  ask("temperature", "0");
  ask("max_tokens", "3");
  ask("logprobs", "true");
  ask("deadline", "1e6");
  tokamak_stream* stream = tokamak_model_start(model, request, nullptr);
  ASSERT_NE(stream, nullptr);
  std::string text;
  size_t tokens = 0;
  tokamak_piece piece = {};
  piece.size = sizeof piece;
  while (tokamak_stream_next(stream, -1, &piece) == TOKAMAK_STREAM_PIECE) {
    text.append(piece.text, piece.text_bytes);
    tokens += piece.count;
    ASSERT_NE(piece.logprobs, nullptr);
    EXPECT_LT(piece.logprobs[0], 0);
    EXPECT_EQ(piece.top, nullptr) << "they were not asked for";
  }
  tokamak_result result = {};
  result.size = sizeof result;
  ASSERT_TRUE(tokamak_stream_result(stream, &result, nullptr));
  EXPECT_EQ(text, ", there lived");
  EXPECT_EQ(result.text, text);
  EXPECT_EQ(result.count, tokens);
  EXPECT_STREQ(result.finish, "length");
  EXPECT_GT(result.prompt_tokens, 3u);
  // A caller that knows of less gets no more.
  tokamak_result older = {};
  older.size = offsetof(tokamak_result, seed);
  older.seed = 99;
  ASSERT_TRUE(tokamak_stream_result(stream, &older, nullptr));
  EXPECT_EQ(older.seed, 99u);
  EXPECT_STREQ(older.stop, "");
  EXPECT_EQ(result.prompt_logprobs, nullptr);
  tokamak_stream_free(stream);
}

TEST_F(C, GivesLogprobsOfPromptsAndOfOtherTokens) {
  open();
  ask("prompt", "Once upon a time");
  ask("temperature", "0");
  ask("max_tokens", "4");
  ask("top_logprobs", "3");
  ask("prompt_logprobs", "true");
  tokamak_stream* stream = tokamak_model_start(model, request, nullptr);
  ASSERT_NE(stream, nullptr);
  tokamak_piece piece = {};
  piece.size = sizeof piece;
  ASSERT_EQ(tokamak_stream_next(stream, -1, &piece), TOKAMAK_STREAM_PIECE);
  ASSERT_EQ(piece.top_count, 3u);
  for (size_t i = 0; i < piece.count; ++i) {
    const tokamak_token_logprob* top = piece.top + 3 * i;
    EXPECT_EQ(top[0].id, piece.ids[i]);
    EXPECT_EQ(top[0].logprob, piece.logprobs[i]);
    EXPECT_GE(top[1].logprob, top[2].logprob);
  }
  // A caller that knows of less gets no more.
  tokamak_piece older = {};
  older.size = offsetof(tokamak_piece, top);
  older.top_count = 99;
  if (tokamak_stream_next(stream, -1, &older) == TOKAMAK_STREAM_PIECE) {
    EXPECT_EQ(older.top_count, 99u);
  }
  tokamak_result result = {};
  result.size = sizeof result;
  ASSERT_TRUE(tokamak_stream_result(stream, &result, nullptr));
  ASSERT_EQ(result.prompt_logprob_count + 1, result.prompt_tokens);
  EXPECT_EQ(result.prompt_top_count, 3u);
  EXPECT_LE(result.prompt_logprobs[0].logprob, result.prompt_top[0].logprob);
  tokamak_stream_free(stream);
}

TEST_F(C, SetsWhichTokensMayComeAndEndTheText) {
  open();
  std::vector<uint32_t> ids;
  const auto run = [&] {
    tokamak_stream* stream = tokamak_model_start(model, request, nullptr);
    tokamak_result result = {};
    result.size = sizeof result;
    EXPECT_TRUE(tokamak_stream_result(stream, &result, nullptr));
    ids.assign(result.ids, result.ids + result.count);
    const std::string all = std::string(result.text) + "|" + result.finish;
    tokamak_stream_free(stream);
    return all;
  };
  ask("prompt", "Once upon a time");
  ask("temperature", "0");
  ask("max_tokens", "6");
  ASSERT_EQ(run().find(", there lived"), 0u);
  const std::string id = std::to_string(ids.at(1));  // " there"
  ask("end_ids", id.c_str());
  EXPECT_EQ(run(), ",|end");
  ask("min_tokens", "6");
  EXPECT_NE(run().find("|length"), std::string::npos) << "an end token comes late";
  ask("min_tokens", "0");
  ask("logit_bias", (id + ":-100").c_str());
  EXPECT_EQ(run().find(" there"), std::string::npos);
  ask("end_ids", "");
  EXPECT_NE(run().find("|length"), std::string::npos) << "no token ends it";
  ask("presence_penalty", "1.5");
  ask("frequency_penalty", "-1.5");
  EXPECT_NE(run(), "");
  tokamak_error* error = nullptr;
  EXPECT_FALSE(tokamak_request_set(request, "end_ids", "1,,2", &error));
  EXPECT_EQ(said(error), "end_ids is \"1,,2\", expected token ids with commas between them.");
  EXPECT_FALSE(tokamak_request_set(request, "logit_bias", "7", &error));
  EXPECT_EQ(said(error), "logit_bias is \"7\", expected ID:BIAS.");
  ask("logit_bias", "999999:1");
  EXPECT_EQ(tokamak_model_start(model, request, &error), nullptr);
  EXPECT_NE(said(error).find("logit_bias has token 999999, but the vocabulary has "),
            std::string::npos);
}

TEST_F(C, TakesImagesOfMessages) {
  constexpr const char* kImage = TOKAMAK_TEST_DATA "/images/wide.png";
  set("model", TOKAMAK_TEST_DATA "/vision/qwen3_5_vl_images");
  set("context", "128");
  set("image_pixels", "65536");
  open();
  tokamak_error* error = nullptr;
  EXPECT_FALSE(tokamak_request_add_image_file(request, kImage, &error));
  EXPECT_EQ(said(error), "There is no message yet that the image could belong to.");
  EXPECT_TRUE(tokamak_request_add_message(request, "user", "What is it?", nullptr));
  EXPECT_TRUE(tokamak_request_add_image_file(request, kImage, nullptr));
  ask("max_tokens", "4");
  tokamak_stream* stream = tokamak_model_start(model, request, &error);
  ASSERT_NE(stream, nullptr) << said(error);
  tokamak_result result = {};
  result.size = sizeof result;
  EXPECT_TRUE(tokamak_stream_result(stream, &result, &error)) << said(error);
  EXPECT_EQ(result.count, 4u);
  tokamak_stream_free(stream);
  const char none[] = "no image";
  EXPECT_TRUE(tokamak_request_add_image(request, none, sizeof none, nullptr));
  EXPECT_EQ(tokamak_model_start(model, request, &error), nullptr);
  EXPECT_EQ(said(error),
            "messages[0]: The file is not an image that is read here, expected PNG, JPEG or WebP; "
            "convert it first.");
}

TEST_F(C, ErrorsAreHandles) {
  tokamak_error* error = nullptr;
  EXPECT_FALSE(tokamak_options_set(options, "colour", "red", &error));
  EXPECT_EQ(said(error),
            "There is no option \"colour\", but model, backend, device, gpus, split, threads, "
            "context, sequences, cache_tokens, memory, kv, precision, quantize, image_pixels, "
            "projector, batch_invariant, speculate, draft, "
            "pooling, adapter, has_thread.");
  EXPECT_FALSE(tokamak_options_set(options, "context", "-1", &error));
  EXPECT_EQ(said(error), "context is \"-1\", expected a whole number that is not negative.");
  EXPECT_TRUE(tokamak_options_set(options, "gpus", "0,1", &error));
  EXPECT_FALSE(tokamak_options_set(options, "gpus", "all", &error));
  EXPECT_EQ(said(error), "gpus is \"all\", expected numbers of devices with commas between them.");
  EXPECT_FALSE(tokamak_options_set(options, "has_thread", "no", &error));
  EXPECT_EQ(said(error), "has_thread is \"no\", expected true or false.");
  EXPECT_FALSE(tokamak_request_set(request, "temperature", "0.5x", &error));
  EXPECT_EQ(said(error), "temperature is \"0.5x\", expected a number.");
  EXPECT_FALSE(tokamak_request_set(request, "deadline", "-1", nullptr));
  open();
  ask("prompt", "Once");
  ask("grammar", "root = 1");
  EXPECT_EQ(tokamak_model_start(model, request, &error), nullptr);
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_INVALID_INPUT);
  EXPECT_NE(said(error).find("grammar: "), std::string::npos);
  set("model", "no/such/folder/anywhere");
  EXPECT_EQ(tokamak_model_open(options, &error), nullptr);
  EXPECT_NE(said(error).find("no/such/folder"), std::string::npos);
}

TEST_F(C, CallsBackWithTheCallersPointer) {
  struct Seen {
    int calls = 0;
    bool continues = true;
  } seen;
  tokamak_options_on_progress(
      options,
      [](void* user, tokamak_load_phase phase, uint64_t done, uint64_t total) {
        auto* own = static_cast<Seen*>(user);
        ++own->calls;
        EXPECT_TRUE(phase <= TOKAMAK_LOAD_KERNELS && done <= total);
        return own->continues;
      },
      &seen);
  open();
  EXPECT_GT(seen.calls, 2);
  seen.continues = false;
  tokamak_error* error = nullptr;
  EXPECT_EQ(tokamak_model_open(options, &error), nullptr);
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_CANCELLED);
  tokamak_error_free(error);
}

TEST_F(C, TokenizesAndRendersChats) {
  open();
  size_t count = 0;
  uint32_t* ids = tokamak_model_tokenize(model, "a fox", false, &count, nullptr);
  ASSERT_NE(ids, nullptr);
  char* text = tokamak_model_detokenize(model, ids, count, nullptr);
  EXPECT_STREQ(text, "a fox");
  tokamak_text_free(text);
  EXPECT_TRUE(tokamak_request_set_ids(request, ids, count, nullptr));
  tokamak_ids_free(ids);
  EXPECT_TRUE(tokamak_request_add_message(request, "user", "Hello", nullptr));
  tokamak_error* error = nullptr;
  EXPECT_EQ(tokamak_model_start(model, request, &error), nullptr);
  EXPECT_NE(said(error).find("more than one of prompt, ids and a chat"), std::string::npos);
  text = tokamak_model_render_chat(model, R"({"messages": [{"role": "user", "content": "Hello"}]})",
                                   nullptr);
  ASSERT_NE(text, nullptr);
  EXPECT_NE(std::string(text).find("user\nHello"), std::string::npos);
  tokamak_text_free(text);
  EXPECT_NE(std::string(tokamak_model_details(model)).find(R"("context": 96)"), std::string::npos)
      << tokamak_model_details(model);
}

TEST_F(C, Embeds) {
  set("pooling", "mean");
  open();
  const char* texts[] = {"A fox", "The sea"};
  tokamak_error* error = nullptr;
  tokamak_embed_options* how = tokamak_embed_options_new();
  EXPECT_TRUE(tokamak_embed_options_set(how, "dimensions", "8", nullptr));
  EXPECT_TRUE(tokamak_embed_options_set(how, "normalize", "true", nullptr));
  EXPECT_FALSE(tokamak_embed_options_set(how, "colour", "red", &error));
  EXPECT_EQ(said(error),
            "There is no option \"colour\", but prompt, dimensions, normalize, truncate.");
  tokamak_vectors* vectors = tokamak_model_embed(model, texts, 2, how, nullptr);
  ASSERT_NE(vectors, nullptr);
  size_t dimensions = 0;
  double length = 0;
  for (size_t i = 0; i < 8; ++i) {
    length += std::pow(tokamak_vectors_at(vectors, 0, &dimensions)[i], 2);
  }
  EXPECT_NEAR(length, 1, 1e-5);
  EXPECT_NE(tokamak_vectors_at(vectors, 0, &dimensions)[0],
            tokamak_vectors_at(vectors, 1, &dimensions)[0]);
  EXPECT_EQ(dimensions, 8u);
  tokamak_vectors_free(vectors);
  const auto cancel = [](void* user) { return ++*static_cast<int*>(user) > 0; };
  int calls = 0;
  tokamak_embed_options_on_step(how, cancel, &calls);
  EXPECT_EQ(tokamak_model_embed(model, texts, 2, how, &error), nullptr);
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_CANCELLED) << tokamak_error_message(error);
  EXPECT_GT(calls, 0);
  tokamak_error_free(error);
  tokamak_embed_options_free(how);
}

TEST_F(C, RanksAndCanBeCancelled) {
  set("model", TOKAMAK_TEST_DATA "/rerank/cross_bert");
  open();
  const char* documents[] = {"the fox", "a river", "an owl"};
  float plain[3] = {}, same[3] = {};
  ASSERT_TRUE(tokamak_model_rerank(model, "a fox", documents, 3, nullptr, plain, nullptr));
  EXPECT_NE(plain[0], plain[1]);
  tokamak_error* error = nullptr;
  tokamak_rerank_options* how = tokamak_rerank_options_new();
  EXPECT_TRUE(tokamak_rerank_options_set(how, "truncate", "false", nullptr));
  EXPECT_TRUE(tokamak_rerank_options_set(how, "instruction", "", nullptr));
  ASSERT_TRUE(tokamak_model_rerank(model, "a fox", documents, 3, how, same, nullptr));
  EXPECT_EQ(plain[2], same[2]);
  tokamak_rerank_options_on_step(how, [](void*) { return true; }, nullptr);
  EXPECT_FALSE(tokamak_model_rerank(model, "a fox", documents, 3, how, same, &error));
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_CANCELLED) << tokamak_error_message(error);
  tokamak_error_free(error);
  tokamak_rerank_options_free(how);
}

TEST_F(C, WakesWhoWaitsElsewhere) {
  struct Bell {
    std::mutex mutex;
    std::condition_variable rang;
    int rings = 0;
  } bell;
  const auto ring = [](void* user) {
    auto* own = static_cast<Bell*>(user);
    const std::scoped_lock lock(own->mutex);
    ++own->rings;
    own->rang.notify_all();
  };
  open();
  ask("prompt", "Once upon a time");
  ask("temperature", "0");
  ask("max_tokens", "3");
  tokamak_stream* stream = tokamak_model_start(model, request, nullptr);
  tokamak_stream_on_ready(stream, ring, &bell);
  std::string text;
  tokamak_piece piece = {};
  piece.size = sizeof piece;
  for (int seen = 0;;) {
    tokamak_next next = TOKAMAK_STREAM_END;
    while ((next = tokamak_stream_next(stream, 0, &piece)) == TOKAMAK_STREAM_PIECE) {
      text += piece.text;
    }
    if (next == TOKAMAK_STREAM_END) break;
    std::unique_lock lock(bell.mutex);
    bell.rang.wait(lock, [&] { return bell.rings > seen; });
    seen = bell.rings;
  }
  EXPECT_EQ(text, ", there lived");
  bell.rings = 0;
  tokamak_stream_on_ready(stream, ring, &bell);
  EXPECT_EQ(bell.rings, 1) << "at once, where it has ended";
  tokamak_stream_on_ready(stream, nullptr, nullptr);
  tokamak_stream_free(stream);
  EXPECT_EQ(bell.rings, 1);
}

TEST_F(C, PumpsCancelsAndCloses) {
  set("has_thread", "false");
  open();
  ask("prompt", "Once upon a time");
  tokamak_stream* stream = tokamak_model_start(model, request, nullptr);
  tokamak_piece piece = {};
  piece.size = sizeof piece;
  EXPECT_EQ(tokamak_stream_next(stream, 0, &piece), TOKAMAK_STREAM_TIMEOUT);
  EXPECT_TRUE(tokamak_model_pump(model));
  tokamak_stream_cancel(stream);
  while (tokamak_stream_next(stream, -1, &piece) != TOKAMAK_STREAM_END) {
  }
  tokamak_result result = {};
  result.size = sizeof result;
  EXPECT_TRUE(tokamak_stream_result(stream, &result, nullptr));
  EXPECT_STREQ(result.finish, "cancelled");
  tokamak_model_close(model);
  EXPECT_EQ(tokamak_model_start(model, request, nullptr), nullptr);
  tokamak_model_free(model);
  model = nullptr;
  tokamak_stream_free(stream);
}

}  // namespace
