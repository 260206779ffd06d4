#include "serve/metrics.h"

#include <gtest/gtest.h>

#include <array>

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
  bool has(std::string_view line) {
    const std::string text = metrics.text(stats, 3);
    return text.find(fmt::format("\n{}\n", line)) != text.npos;
  }
  void finish(FinishReason reason) {
    Generation generation;
    generation.ids = {1, 2};
    generation.prompt_tokens = 7;
    generation.cached_tokens = 4;
    generation.finish = reason;
    metrics.observer().finished(generation, 0.25);
  }

  Metrics metrics;
  SchedulerStats stats;
};

TEST_F(MetricsTest, NamesTheModel) {
  metrics.name_model("org/\"x\"");
  stats.running = 2;
  EXPECT_TRUE(has("tokamak:num_requests_running{model_name=\"org/\\\"x\\\"\"} 2"));
  EXPECT_TRUE(has("tokamak:http_connections{model_name=\"org/\\\"x\\\"\"} 3"));
}

TEST_F(MetricsTest, CountsAnAnswerOnceHoweverManyChoicesItHas) {
  finish(FinishReason::kMaxTokens);
  finish(FinishReason::kMaxTokens);
  metrics.succeeded();
  metrics.succeeded();  // of an answer without text
  EXPECT_TRUE(has("tokamak:request_success_total{model_name=\"\",finished_reason=\"length\"} 1"));
  EXPECT_TRUE(has("tokamak:prompt_tokens_total{model_name=\"\"} 14"));
  EXPECT_TRUE(has("tokamak:generation_tokens_total{model_name=\"\"} 4"));
  EXPECT_TRUE(has("tokamak:prefix_cache_hits_total{model_name=\"\"} 8"));
  EXPECT_TRUE(has("tokamak:request_queue_time_seconds_count{model_name=\"\"} 2"));
}

TEST_F(MetricsTest, DoesNotTakeWhatWasCancelledForASuccess) {
  finish(FinishReason::kCancelled);
  metrics.succeeded();
  EXPECT_EQ(metrics.text(stats, 0).find("finished_reason"), std::string::npos);
  EXPECT_TRUE(has("tokamak:e2e_request_latency_seconds_count{model_name=\"\"} 0"));
}

TEST_F(MetricsTest, MakesNoSeriesOfPathsThatStrangersInvent) {
  metrics.answered({.path = "/v1/models", .status = 200});
  metrics.answered({.path = "/a", .status = 404});
  metrics.answered({.path = "/b", .status = 404});
  EXPECT_TRUE(
      has("tokamak:http_requests_total{model_name=\"\",path=\"/v1/models\",status=\"200\"} 1"));
  EXPECT_TRUE(has("tokamak:http_requests_total{model_name=\"\",path=\"other\",status=\"404\"} 2"));
}

TEST_F(MetricsTest, ShowsTheShareOfPagesInUse) {
  stats.pages = 8;
  stats.free_pages = 2;
  EXPECT_TRUE(has("tokamak:kv_cache_usage_perc{model_name=\"\"} 0.75"));
}

}  // namespace
}  // namespace tokamak::serve
