#include "serve/trace.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tokamak::serve {
namespace {

class TraceTest : public testing::Test {
 protected:
  /// The events as a viewer reads them: the array is closed where it was cut.
  std::vector<Json> events() const {
    const auto read = Json::parse(text_ + "\n]");
    EXPECT_TRUE(read) << read.error().message << text_;
    return read ? std::vector<Json>(read->as_array().begin(), read->as_array().end())
                : std::vector<Json>();
  }
  static std::string text_of(const Json& event, std::string_view key) {
    const Json* found = event.find(key);
    return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
  }
  static double number_of(const Json& event, std::string_view key) {
    const Json* found = event.find(key);
    return found != nullptr ? found->as_number() : -1;
  }

  std::string text_;
  double now_ = 100;
  bool is_full_ = false;
  int failures_ = 0;
  Trace trace_{[this](std::string_view more) {
                 if (!is_full_) text_ += more;
                 return !is_full_;
               },
               [this] { return now_; }, [this] { ++failures_; }};
};

TEST_F(TraceTest, ShowsStepsOneAfterTheOther) {
  uint32_t passed_on = 0;
  const SchedulerObserver observer =
      trace_.observer("a \"b\"", {.steps = [&](const StepsRun& run) { passed_on += run.steps; }});
  now_ = 101;  // when they are heard of
  observer.steps({.steps = 2, .tokens = 3, .seconds = 0.25, .end = 100.5, .is_prefill = false});
  EXPECT_EQ(passed_on, 2u);
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 3u) << text_;
  EXPECT_EQ(text_of(all[0], "name"), "thread_name");
  EXPECT_EQ(text_of(*all[0].find("args"), "name"), "steps of a \"b\"");
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(text_of(all[1 + i], "name"), "decode");
    EXPECT_EQ(number_of(all[1 + i], "ts"), 250000.0 + 125000.0 * double(i));
    EXPECT_EQ(number_of(all[1 + i], "dur"), 125000.0);
    EXPECT_EQ(number_of(*all[1 + i].find("args"), "tokens"), 3);
  }
}

TEST_F(TraceTest, ShowsARequestByItsParts) {
  const SchedulerObserver observer = trace_.observer("m", {});
  Generation generation;
  generation.prompt_tokens = 7;
  generation.ids = {1, 2};
  generation.prefill_seconds = 3;
  generation.decode_seconds = 2;
  now_ = 110;
  observer.finished(generation, 1, false);
  std::map<std::string, std::pair<double, double>> spans;
  for (const Json& event : events()) {
    EXPECT_EQ(text_of(event, "id"), "1");
    auto& [begin, end] = spans[text_of(event, "name")];
    (text_of(event, "ph") == "b" ? begin : end) = number_of(event, "ts") / 1e6;
  }
  EXPECT_EQ(
      spans,
      (std::map<std::string, std::pair<double, double>>{
          {"request", {5, 10}}, {"queue", {5, 6}}, {"prefill", {6, 8}}, {"decode", {8, 10}}}));
}

TEST_F(TraceTest, CountsWhatHasChanged) {
  trace_.count("m", 0, 0);
  trace_.count("m", 1, 2);
  trace_.count("m", 1, 2);
  trace_.count("m", 0, 0);
  size_t counts = 0;
  for (const Json& event : events()) counts += text_of(event, "ph") == "C" ? 1 : 0;
  EXPECT_EQ(counts, 2u);
}

TEST_F(TraceTest, ReportsOnceThatNothingMoreIsWritten) {
  is_full_ = true;
  for (uint32_t i = 1; i <= 3; ++i) trace_.count("m", i, 0);
  EXPECT_EQ(failures_, 1);
}

}  // namespace
}  // namespace tokamak::serve
