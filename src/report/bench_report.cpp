#include "base/table.h"
#include "report/bench.h"

namespace tokamak {
namespace {

Cell fixed(double value, int digits, double scale = 1) {
  return {fmt::format("{:.{}f}", value * scale, digits), value};
}

Cell share(double value) {
  return {fmt::format("{:.1f} %", 100 * value), value};
}

/// "812.3 us", "4.21 ms", "1.33 s"
std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string per_second(double bytes) {
  return fmt::format("{:.2f} GB/s", bytes / 1e9);
}

Table tests_table(const BenchReport& report) {
  const auto right = Table::Align::kRight;
  Table table;
  table.column("test", "name")
      .column("tok/s", "tokens_per_second", right)
      .column("spread", "spread", right)
      .column("median", "median_seconds", right)
      .column("moved/token", "bytes_per_token", right)
      .column("FLOP/token", "flops_per_token", right)
      .column("GB/s", "bytes_per_second", right)
      .column("of bandwidth", "bandwidth_share", right)
      .column("launches/token", "launches_per_token", right)
      .column("floor", "floor_seconds", right)
      .column("of floor", "floor_share", right)
      .column("", "tokens");
  for (const BenchTest& test : report.tests) {
    const double speed = test.tokens_per_second();
    const double floor = test.floor_seconds(report.bandwidth, report.launch_seconds);
    table.row({test.name,
               fixed(speed, speed < 100 ? 2 : 1),
               share(test.seconds.spread),
               {seconds_text(test.seconds.median), test.seconds.median},
               {bytes_text(uint64_t(test.bytes_per_token)), test.bytes_per_token},
               {amount_text(test.flops_per_token), test.flops_per_token},
               {fmt::format("{:.2f}", test.bytes_per_second() / 1e9), test.bytes_per_second()},
               share(test.bytes_per_second() / report.bandwidth),
               fixed(test.launches_per_token, 2),
               {seconds_text(floor), floor},
               share(floor / test.seconds.median),
               {"", test.tokens}});
  }
  return table;
}

std::string check_text(const BenchReport& report) {
  std::vector<std::string> parts = {
      report.greedy_repeats ? "greedy tokens repeat" : "GREEDY TOKENS DIFFER FROM RUN TO RUN",
      report.logits_finite ? "logits are finite" : "LOGITS ARE NOT FINITE"};
  if (report.error) {
    parts.push_back(
        fmt::format("{} the CPU reference: {:.1e} of the largest logit, limit {:.0e}",
                    *report.error <= report.error_limit ? "agrees with" : "DIFFERS FROM",
                    *report.error, report.error_limit));
  } else if (report.device.backend != BackendKind::kCpu) {
    parts.push_back("not compared with the CPU reference (--check does)");
  }
  return joined(parts, "; ");
}

Json check_json(const BenchReport& report) {
  Json out;
  out.set("correct", report.correct());
  out.set("greedy_repeats", report.greedy_repeats).set("logits_finite", report.logits_finite);
  out.set("max_relative_error", report.error ? Json(*report.error) : Json());
  return out.set("error_limit", report.error ? Json(report.error_limit) : Json());
}

Facts about(const BenchReport& report) {
  const DeviceInfo& device = report.device;
  Facts facts;
  facts.add("model",
            fmt::format("{} ({}, {} parameters)", report.model, report.architecture,
                        amount_text(double(report.parameters))),
            "model", report.model);
  facts.add("", "", "architecture", report.architecture);
  facts.add("", "", "parameters", report.parameters);
  facts.add("device",
            fmt::format(
                "{}: {}{}; {}", backend_name(device.backend), device.name,
                device.software && device.backend != BackendKind::kCpu ? " (software, no GPU)" : "",
                device.driver),
            "device", device.name);
  facts.add("", "", "driver", device.driver);
  facts.add("", "", "backend", backend_name(device.backend));
  facts.add("", "", "software", device.software);
  facts.add("", "", "features", features_text(device.features));
  facts.add("commit", "commit", report.commit);
  return facts;
}

Facts figures(const BenchReport& report) {
  Facts facts;
  facts.add("bandwidth",
            per_second(report.bandwidth) +
                (report.device.software ? " by copying in memory, measured in this run"
                                        : " by kernels that copy or read, measured in this run"),
            "bandwidth_bytes_per_second", report.bandwidth);
  facts.add("a launch",
            seconds_text(report.launch_seconds) +
                " when it computes next to nothing; the floor of a test is its bytes at this "
                "bandwidth and its launches one after the other",
            "launch_seconds", report.launch_seconds);
  const LoadTimes& load = report.load;
  Json load_json;
  load_json.set("total_seconds", load.total_seconds).set("plan_seconds", load.compile_seconds);
  load_json.set("device_seconds", load.upload_seconds);
  load_json.set("self_test_seconds", load.test_seconds);
  facts.add("load",
            fmt::format("{}: plan {}, self-test {}, kernels and weights {}",
                        seconds_text(load.total_seconds),
                        seconds_text(load.compile_seconds - load.test_seconds),
                        seconds_text(load.test_seconds), seconds_text(load.upload_seconds)),
            "load", std::move(load_json));
  Json pipelines;
  pipelines.set("compiled", report.compiled.pipelines - report.compiled.cached);
  pipelines.set("cached", report.compiled.cached);
  pipelines.set("seconds", report.compiled.compile_seconds);
  facts.add("pipelines",
            fmt::format("{} in {}", pipelines_text(report.compiled),
                        seconds_text(report.compiled.compile_seconds)),
            "pipelines", std::move(pipelines));
  facts.add(
      report.first_token ? "first token" : "",
      report.first_token ? seconds_text(report.first_token->median) + " after the prompt" : "",
      "time_to_first_token_seconds",
      report.first_token ? Json(report.first_token->median) : Json());
  const Footprint& memory = report.memory;
  Json memory_json;
  memory_json.set("constants", memory.constants).set("kv_cache", memory.states);
  memory_json.set("activations", memory.activations).set("other", memory.other);
  memory_json.set("device_peak", report.device_peak_bytes);
  memory_json.set("host_peak", report.host_peak_bytes);
  facts.add(
      "memory",
      fmt::format("device {} (constants {}, KV cache and states {}, activations {}); host peak {}",
                  bytes_text(report.device_peak_bytes), bytes_text(memory.constants),
                  bytes_text(memory.states), bytes_text(memory.activations),
                  bytes_text(report.host_peak_bytes)),
      "memory_bytes", std::move(memory_json));
  facts.add("check", check_text(report), "check", check_json(report));
  return facts;
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  return about(report).text() + "\n" + tests_table(report).text() + "\n" + figures(report).text();
}

Json bench_json(const BenchReport& report) {
  Json out = about(report).json();
  out.set("tests", tests_table(report).json());
  const Json more = figures(report).json();
  for (const auto& [name, value] : more.as_object()) out.set(name, value);
  return out;
}

}  // namespace tokamak
