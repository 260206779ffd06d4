#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/wrap.h"
#include "report/bench/bench.h"

namespace tokamak {
namespace {

/// Two tests of three and two repetitions.
BenchReport two_tests() {
  BenchReport report{.model = "models/small",
                     .architecture = "LlamaForCausalLM",
                     .quantization = "Q4_0",
                     .kv = "f16",
                     .title = "org/small",
                     .short_name = "small",
                     .version = "1.2.3",
                     .commit = "0123456789",
                     .date = "2025-01-31T23:59:59Z"};
  report.device = {.backend = BackendKind::kWebGpu, .name = "A GPU, \"fast\"", .driver = "1.0"};
  report.parameters = 1'240'000'000;
  report.weight_bytes = uint64_t{700} << 20;
  report.bandwidth = 1e12;
  report.launch_seconds = 1e-6;
  report.greedy_repeats = report.logits_finite = true;
  report.tests = {{.prompt = 512, .seconds = {0.5, 0.25, 0.5}},
                  {.generate = 128, .depth = 512, .seconds = {2, 1}}};
  return report;
}

TEST(BenchText, HasTheLoadOfAMeasuredProcessor) {
  BenchReport report = two_tests();
  EXPECT_EQ(bench_text(report).find("steal"), std::string::npos);
  EXPECT_TRUE(bench_json(report).find("machine")->is_null());
  report.machine = {.before = 0.5, .after = 2.25, .processors = 2, .stolen = 0.012};
  const std::string text = bench_text(report);
  EXPECT_NE(text.find("load 0.50 before and 2.25 after it, 2 processors, 1.2 %"), std::string::npos)
      << text;
  EXPECT_EQ(bench_json(report).find("machine")->dump(),
            R"({"load_before": 0.5, "load_after": 2.25, "processors": 2, "steal_share": 0.012})");
}

TEST(BenchMarkdown, HasTheColumnsOfLlamaBench) {
  EXPECT_EQ(bench_markdown(two_tests()),
            "| model      |       size | params | backend | test         |              t/s |\n"
            "| ---------- | ---------: | -----: | ------- | ------------ | ---------------: |\n"
            "| small Q4_0 | 700.00 MiB | 1.24 B | WebGPU  | pp512        | 1365.33 ± 591.21 |\n"
            "| small Q4_0 | 700.00 MiB | 1.24 B | WebGPU  | tg128 @ d512 |    96.00 ± 45.25 |\n"
            "\nbuild: 1.2.3 (0123456789)\ndevice: A GPU, \"fast\"\n");
}

TEST(BenchList, HasEveryRepetitionAndWhatItWasMeasuredWith) {
  const Json list = bench_list(two_tests());
  ASSERT_EQ(list.as_array().size(), 2u);
  EXPECT_EQ(
      list.as_array()[1].dump(),
      R"({"build_version": "1.2.3", "build_commit": "0123456789", "backends": "WebGPU", )"
      R"("device": "A GPU, \"fast\"", "driver": "1.0", "model_filename": "models/small", )"
      R"("model_type": "small Q4_0", "model_size": 734003200, "model_n_params": 1240000000, )"
      R"("type_k": "f16", "type_v": "f16", "n_prompt": 0, "n_gen": 128, "n_depth": 512, "n_sequences": 1, )"
      R"("test": "tg128 @ d512", "test_time": "2025-01-31T23:59:59Z", )"
      R"("avg_ns": 1500000000, "stddev_ns": 707106781, "avg_ts": 96, )"
      R"("stddev_ts": 45.254833995939045, "samples_ns": [2000000000, 1000000000], )"
      R"("samples_ts": [64, 128]})");
}

TEST(BenchCsv, HasALineOfNamesAndOnePerTest) {
  std::istringstream csv(bench_csv(two_tests()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("build_version,build_commit,backends,device,")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with(",avg_ts,stddev_ts,samples_ns,samples_ts")) << lines[0];
  EXPECT_TRUE(lines[2].starts_with(R"("1.2.3","0123456789","WebGPU","A GPU, ""fast""","1.0",)"))
      << lines[2];
  EXPECT_TRUE(lines[2].ends_with(R"(,"2000000000 1000000000","64 128")")) << lines[2];
}

TEST(BenchScreen, HasAHundredColumns) {
  BenchReport report = two_tests();
  report.title = "organization/a-model-whose-name-is-longer-than-most-names-are-on-the-hub";
  report.short_name = "a-model-whose-name-is-longer-than-most-names-are-on-the-hub";
  report.device.name = "A GPU (that its driver describes in many words, with its numbers)";
  report.error = 1e-3;
  report.error_limit = 2e-3;
  report.tests.push_back({.generate = 16384,
                          .depth = 131072,
                          .choice = BenchTest::Choice::kSampledFromAllLogits,
                          .seconds = {0.1, 0.2},
                          .bytes_per_token = 1e10,
                          .flops_per_token = 1e10,
                          .launches_per_token = 1000});
  for (const std::string& text : {bench_text(report), bench_markdown(report)}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns_of(line), kScreenColumns) << line;
    }
  }
}

TEST(BatchCheck, AllowsWhatPromptsDifferBy) {
  EXPECT_TRUE((BatchCheck{.deficit = 0.02}.is_right()));
  EXPECT_FALSE((BatchCheck{.deficit = 0.03}.is_right()));
  EXPECT_TRUE((BatchCheck{.deficit = 0.03, .apart = 0.008}.is_right()));
  EXPECT_FALSE((BatchCheck{.deficit = 0.03, .apart = 0.007}.is_right()));
  EXPECT_FALSE((BatchCheck{.deficit = 0.6, .apart = 0.6}.is_right()));
  EXPECT_FALSE((BatchCheck{.deficit = std::nan("")}.is_right()));
}

}  // namespace
}  // namespace tokamak
