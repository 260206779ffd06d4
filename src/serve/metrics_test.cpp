#include "serve/metrics.h"

#include <gtest/gtest.h>

#include <array>

#include "serve/gateway.h"

namespace tokamak::serve {
namespace {

TEST(Histogram, CountsWhatIsBelowEachBound) {
  static constexpr std::array kBounds = {1.0, 2.5};
  Histogram histogram(kBounds);
  for (const double value : {0.5, 1.0, 2.0, 9.0}) histogram.add(value);
  EXPECT_EQ(histogram.text("x", "a=\"b\""),
            "x_bucket{a=\"b\",le=\"1\"} 2\nx_bucket{a=\"b\",le=\"2.5\"} 3\n"
            "x_bucket{a=\"b\",le=\"+Inf\"} 4\nx_sum{a=\"b\"} 12.5\nx_count{a=\"b\"} 4\n");
}

struct MetricsTest : testing::Test {
  std::string text() {
    samples[0].counters = metrics.counters();
    return http.text(samples, 3);
  }
  bool has(std::string_view line) {
    return text().find(fmt::format("\n{}\n", line)) != std::string::npos;
  }
  void finish(FinishReason reason) {
    Generation generation;
    generation.ids = {1, 2};
    generation.prompt_tokens = 7;
    generation.cached_tokens = 4;
    generation.finish = reason;
    metrics.observer().finished(generation, 0.25, false);
  }

  ModelMetrics metrics;
  HttpMetrics http;
  std::vector<ModelSample> samples = {{.name = "m"}};
};

TEST_F(MetricsTest, NamesTheModel) {
  samples[0].name = "org/\"x\"";
  samples[0].stats.running = 2;
  EXPECT_TRUE(has("tokamak:num_requests_running{model_name=\"org/\\\"x\\\"\"} 2"));
  EXPECT_TRUE(has("tokamak:http_connections 3"));
}

TEST_F(MetricsTest, HasEveryMetricOnceAndASampleForEachModel) {
  samples.push_back({.name = "n", .is_loaded = true, .loads = 4});
  EXPECT_TRUE(
      has("# TYPE tokamak:model_loaded gauge\ntokamak:model_loaded{model_name=\"m\"} 0\n"
          "tokamak:model_loaded{model_name=\"n\"} 1"));
  EXPECT_TRUE(has("tokamak:model_loads_total{model_name=\"n\"} 4"));
  const std::string all = text();
  const size_t first = all.find("# TYPE tokamak:step_seconds ");
  EXPECT_NE(first, all.npos);
  EXPECT_EQ(all.find("# TYPE tokamak:step_seconds ", first + 1), all.npos);
}

TEST_F(MetricsTest, ShowsTheMemoryOfEachDeviceAndWhatCrossesTheLinks) {
  metrics.count_links(100);
  metrics.observer().steps({.steps = 2, .tokens = 3});
  samples[0].devices = {{.bytes = 7}, {.bytes = 8}};
  samples.push_back({.name = "n", .devices = {{.bytes = 9}}});
  EXPECT_TRUE(has("tokamak:device_memory_bytes{model_name=\"m\",device=\"1\"} 8"));
  EXPECT_TRUE(has("tokamak:device_memory_bytes{model_name=\"n\",device=\"0\"} 9"));
  EXPECT_TRUE(has("tokamak:link_bytes_total{model_name=\"m\",device=\"0\"} 600"));
  EXPECT_EQ(text().find("link_bytes_total{model_name=\"n\""), std::string::npos);
}

TEST_F(MetricsTest, CountsThePromptOfSeveralChoicesOnce) {
  finish(FinishReason::kEndToken);
  Generation again;
  again.ids = {1};
  again.prompt_tokens = 7;
  metrics.observer().finished(again, 0, true);
  EXPECT_EQ(metrics.counters().prompt_tokens, 7u);
  EXPECT_EQ(metrics.counters().cached_tokens, 4u);
  EXPECT_EQ(metrics.counters().generated_tokens, 3u);
}

TEST_F(MetricsTest, CountsAnAnswerOnceHoweverManyChoicesItHas) {
  finish(FinishReason::kMaxTokens);
  finish(FinishReason::kMaxTokens);
  metrics.succeeded();
  metrics.succeeded();  // of an answer without text
  EXPECT_TRUE(has("tokamak:request_success_total{model_name=\"m\",finished_reason=\"length\"} 1"));
  EXPECT_TRUE(has("tokamak:prompt_tokens_total{model_name=\"m\"} 14"));
  EXPECT_TRUE(has("tokamak:generation_tokens_total{model_name=\"m\"} 4"));
  EXPECT_TRUE(has("tokamak:prefix_cache_hits_total{model_name=\"m\"} 8"));
  EXPECT_TRUE(has("tokamak:request_queue_time_seconds_count{model_name=\"m\"} 2"));
}

TEST_F(MetricsTest, DoesNotTakeWhatWasCancelledForASuccess) {
  finish(FinishReason::kCancelled);
  metrics.succeeded();
  EXPECT_EQ(text().find("finished_reason"), std::string::npos);
  EXPECT_TRUE(has("tokamak:e2e_request_latency_seconds_count{model_name=\"m\"} 0"));
}

TEST_F(MetricsTest, MakesNoSeriesOfPathsThatStrangersInvent) {
  for (const char* path : {"/v1/models", "/v1/models/a", "/v1/models/b", "/a", "/v1", "/v1/a"}) {
    http.answered(metric_path(path), 200);
  }
  EXPECT_TRUE(has("tokamak:http_requests_total{path=\"/v1/models\",status=\"200\"} 1"));
  EXPECT_TRUE(has("tokamak:http_requests_total{path=\"/v1/models/\",status=\"200\"} 2"));
  EXPECT_TRUE(has("tokamak:http_requests_total{path=\"other\",status=\"200\"} 3"));
}

TEST_F(MetricsTest, RecognizesEveryPathThatIsAnswered) {
  for (const char* path : {"/", "/health", "/v1/health", "/slots", "/v1/audio/voices", "/tokenize",
                           "/v1/tokenize", "/chat/completions", "/api/chat"}) {
    EXPECT_EQ(metric_path(path), path);
  }
}

TEST_F(MetricsTest, ShowsTheShareOfPagesThatRequestsUse) {
  samples[0].stats.pages = 8;
  samples[0].stats.free_pages = 2;
  EXPECT_TRUE(has("tokamak:kv_cache_usage_perc{model_name=\"m\"} 0.75"));
  samples[0].stats.idle_pages = 4;
  EXPECT_TRUE(has("tokamak:kv_cache_usage_perc{model_name=\"m\"} 0.25"));
  EXPECT_TRUE(
      has("tokamak:cache_config_info{model_name=\"m\",block_size=\"16\",num_gpu_blocks=\"8\"} 1"));
}

TEST_F(MetricsTest, AddsUpTheRequestsOfAllModels) {
  EXPECT_TRUE(has("tokamak:total_queued_requests 0"));
  samples.push_back({.name = "n"});
  samples[0].stats = {.waiting = 2, .running = 1, .pages = 4, .free_pages = 3};
  samples[1].stats = {.waiting = 3, .running = 5, .pages = 4, .free_pages = 1};
  EXPECT_TRUE(has("tokamak:total_queued_requests 5"));
  EXPECT_TRUE(has("tokamak:total_running_requests 6"));
  EXPECT_TRUE(has("tokamak:kv_cache_utilization 0.75"));
}

TEST_F(MetricsTest, NamesTheAdaptersThatAreInMemory) {
  EXPECT_EQ(text().find("max_lora"), std::string::npos) << "the model has none";
  samples[0].adapters = {"sql", "poems"};
  samples[0].changed = 1'900'000'123;
  samples[0].is_loading = true;
  constexpr std::string_view kStart =
      "tokamak:lora_requests_info{model_name=\"m\",max_lora=\"2\",running_lora_adapters=";
  EXPECT_TRUE(has(fmt::format("{}\"\",waiting_lora_adapters=\"sql,poems\"}} 1900000123", kStart)));
  samples[0].is_loading = false;
  samples[0].is_loaded = true;
  EXPECT_TRUE(has(fmt::format("{}\"sql,poems\",waiting_lora_adapters=\"\"}} 1900000123", kStart)));
}

}  // namespace
}  // namespace tokamak::serve
