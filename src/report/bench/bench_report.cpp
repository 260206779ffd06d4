#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "report/bench/bench.h"

namespace tokamak {
namespace {

std::string share(double value) {
  return fmt::format("{:.1f} %", 100 * value);
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

/// "9012.34 ± 12.30"
std::string speed_text(const BenchTest& test) {
  const MeanAndDeviation speed = mean_of(test.speeds());
  return fmt::format("{:.2f} ± {:.2f}", speed.mean, speed.deviation);
}

/// "512.3 ± 1.2 texts/s"
std::string speed_text(const WorkTest& test) {
  const MeanAndDeviation speed = mean_of(test.speeds());
  return fmt::format("{:.2f} ± {:.2f} {}", speed.mean, speed.deviation, test.unit);
}

/// "sound after 182.10 ms"; "" where a result comes all at once.
std::string first_text(const WorkTest& test) {
  if (test.first_seconds.empty()) return "";
  return fmt::format("{} after {}", test.first_name,
                     seconds_text(timing_of(test.first_seconds).median));
}

Table work_table(const BenchReport& report) {
  const auto right = Table::Align::kRight;
  Table table;
  table.column("test", "").column("speed", "", right).column("median", "", right);
  table.column("tokens/s", "", right).column("first", "", right);
  for (const WorkTest& test : report.work) {
    const double median = timing_of(test.seconds).median;
    table.row({test.name, speed_text(test), seconds_text(median),
               test.tokens == 0 ? "-" : fmt::format("{:.1f}", double(test.tokens) / median),
               first_text(test)});
  }
  return table;
}

double floor_of(const BenchTest& test, const BenchReport& report) {
  return test.floor_seconds(report.bandwidth, report.launch_seconds, report.link_bandwidth);
}

Table speeds_table(const BenchReport& report) {
  const auto right = Table::Align::kRight;
  Table table;
  table.column("test", "").column("t/s", "", right).column("median", "", right);
  table.column("floor", "", right).column("of floor", "", right);
  for (const BenchTest& test : report.tests) {
    const double median = timing_of(test.seconds).median, floor = floor_of(test, report);
    table.row({test.name(), speed_text(test), seconds_text(median), seconds_text(floor),
               share(floor / median)});
  }
  return table;
}

/// The costs of a token.
Table costs_table(const BenchReport& report) {
  const auto right = Table::Align::kRight;
  Table table;
  table.column("test", "").column("moved/token", "", right).column("FLOP/token", "", right);
  table.column("launches/token", "", right).column("GB/s", "", right);
  table.column("of bandwidth", "", right);
  for (const BenchTest& test : report.tests) {
    table.row({test.name(), bytes_text(uint64_t(test.bytes_per_token)),
               amount_text(test.flops_per_token), fmt::format("{:.2f}", test.launches_per_token),
               fmt::format("{:.2f}", test.bytes_per_second() / 1e9),
               share(test.bytes_per_second() / report.bandwidth)});
  }
  return table;
}

Json tests_json(const BenchReport& report) {
  Json::Array list;
  for (const BenchTest& test : report.tests) {
    const Timing timing = timing_of(test.seconds);
    const MeanAndDeviation speed = mean_of(test.speeds());
    const double floor = floor_of(test, report);
    Json one;
    one.set("name", test.name()).set("tokens_per_second", test.tokens_per_second());
    one.set("spread", timing.spread).set("median_seconds", timing.median);
    one.set("bytes_per_token", test.bytes_per_token).set("flops_per_token", test.flops_per_token);
    one.set("bytes_per_second", test.bytes_per_second());
    one.set("bandwidth_share", test.bytes_per_second() / report.bandwidth);
    one.set("launches_per_token", test.launches_per_token);
    if (test.link_bytes_per_token > 0) one.set("link_bytes_per_token", test.link_bytes_per_token);
    one.set("floor_seconds", floor).set("floor_share", floor / timing.median);
    one.set("tokens", test.tokens()).set("mean_tokens_per_second", speed.mean);
    one.set("tokens_per_second_deviation", speed.deviation);
    list.push_back(one.set("seconds", Json::Array(test.seconds.begin(), test.seconds.end())));
  }
  return list;
}

Json check_json(const BenchReport& report) {
  Json out;
  out.set("correct", report.correct());
  out.set("greedy_repeats", report.greedy_repeats).set("logits_finite", report.logits_finite);
  out.set("batches_are_right", report.batches.is_right());
  out.set("batches_deficit", report.batches.deficit).set("batches_apart", report.batches.apart);
  out.set("max_relative_error", report.error ? Json(*report.error) : Json());
  return out.set("error_limit", report.error ? Json(report.error_limit) : Json());
}

Facts about(const BenchReport& report) {
  const DeviceInfo& device = report.device;
  Facts facts;
  facts.add("model",
            fmt::format("{}: {}, {} parameters, {}, {}", report.title, report.architecture,
                        amount_text(double(report.parameters)), report.quantization,
                        bytes_text(report.weight_bytes)),
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

/// "50.75 ms after a prompt of 512"
std::string first_token_text(const BenchReport& report) {
  const auto prefill = std::ranges::find(report.tests, 0u, &BenchTest::generate);
  if (!report.first_token || prefill == report.tests.end()) return "";
  return fmt::format("{} after a prompt of {}", seconds_text(report.first_token->median),
                     prefill->prompt);
}

/// "x 8: 40 us, x 64: 90 us"
std::string host_steps_text(const BenchReport& report) {
  std::vector<std::string> steps;
  for (const BenchTest& test : report.tests) {
    if (test.sequences == 1) continue;
    steps.push_back(fmt::format("x {}: {}", test.sequences, seconds_text(test.host_step_seconds)));
  }
  return fmt::format("{}", fmt::join(steps, ", "));
}

Json arrival_json(const Arrival& arrival) {
  Json out;
  out.set("prompt", arrival.prompt).set("gap_before_p50_seconds", arrival.before_seconds);
  out.set("gap_p50_seconds", arrival.median_seconds).set("gap_p99_seconds", arrival.slow_seconds);
  out.set("first_token_seconds", arrival.first_token_seconds);
  return out.set("cancel_seconds", arrival.cancel_seconds);
}

/// "between tokens 2.10 ms, 4.00 ms while 4000 tokens are read, p99 4.31 ms (2.1 x); ..."
std::string arrival_text(const Arrival& arrival) {
  return fmt::format(
      "between tokens {}, {} while a prompt of {} is read, p99 {} ({:.1f} x); its first token "
      "after {}; one given up ends after {}",
      seconds_text(arrival.before_seconds), seconds_text(arrival.median_seconds), arrival.prompt,
      seconds_text(arrival.slow_seconds),
      arrival.slow_seconds / std::max(arrival.before_seconds, 1e-9),
      seconds_text(arrival.first_token_seconds), seconds_text(arrival.cancel_seconds));
}

/// "load 0.61 before and 2.10 after it, 2 processors, 1.2 % of whose time went to other machines"
std::string machine_text(const MachineLoad& load) {
  return fmt::format(
      "load {:.2f} before and {:.2f} after it, {} processor{}, {:.1f} % of whose time went to "
      "other "
      "machines (steal)",
      load.before, load.after, load.processors, load.processors == 1 ? "" : "s", 100 * load.stolen);
}

Json machine_json(const MachineLoad& load) {
  Json out;
  out.set("load_before", load.before).set("load_after", load.after);
  return out.set("processors", load.processors).set("steal_share", load.stolen);
}

Facts figures(const BenchReport& report) {
  Facts facts;
  if (report.work.empty()) {
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
  }
  if (report.link_bandwidth > 0) {
    facts.add("links",
              per_second(report.link_bandwidth) +
                  " between the ranks, measured in this run; the floor counts what each takes from "
                  "the others, too",
              "link_bytes_per_second", report.link_bandwidth);
  }
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
  facts.add(report.first_token ? "first token" : "", first_token_text(report),
            "time_to_first_token_seconds",
            report.first_token ? Json(report.first_token->median) : Json());
  const std::string host = host_steps_text(report);
  Json host_json{Json::Array{}};
  for (const BenchTest& test : report.tests) {
    if (test.sequences > 1) host_json.as_array().push_back(test.host_step_seconds);
  }
  facts.add(host.empty() ? "" : "host, a step", host, "host_step_seconds", std::move(host_json));
  Json arrivals{Json::Array{}};
  for (const BenchTest& test : report.tests) {
    if (!test.arrival) continue;
    facts.add(test.name(), arrival_text(*test.arrival), "", Json());
    Json one = arrival_json(*test.arrival);
    arrivals.as_array().push_back(std::move(one.set("name", test.name())));
  }
  facts.add("", "", "arrivals", std::move(arrivals));
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
  const auto& machine = report.machine;
  facts.add(machine ? "machine" : "", machine ? machine_text(*machine) : "", "machine",
            machine ? machine_json(*machine) : Json());
  facts.add("check", check_text(report), "check", check_json(report));
  return facts;
}

/// "storyteller bf16"
std::string model_type(const BenchReport& report) {
  return fmt::format("{} {}", report.short_name, report.quantization);
}

std::string_view backend_title(BackendKind backend) {
  switch (backend) {
    case BackendKind::kCpu:
      return "CPU";
    case BackendKind::kWebGpu:
      return "WebGPU";
    case BackendKind::kCuda:
      break;
  }
  return "CUDA";
}

/// "9.02 M", "1.24 B": of parameters, thousands of millions are billions.
std::string parameters_text(uint64_t parameters) {
  const double millions = double(parameters) / 1e6;
  return millions < 1000 ? fmt::format("{:.2f} M", millions)
                         : fmt::format("{:.2f} B", millions / 1000);
}

/// The program that measured.
Json program_json(const BenchReport& report) {
  Json out;
  out.set("build_version", report.version).set("build_commit", report.commit);
  out.set("backends", backend_title(report.device.backend)).set("device", report.device.name);
  out.set("driver", report.device.driver).set("model_filename", report.model);
  out.set("model_type", model_type(report)).set("model_size", report.weight_bytes);
  return out.set("model_n_params", report.parameters);
}

Json test_json(const BenchReport& report, const BenchTest& test) {
  const std::vector<double> speeds = test.speeds();
  const auto nanoseconds = [](double seconds) { return uint64_t(std::llround(seconds * 1e9)); };
  const MeanAndDeviation time = mean_of(test.seconds), speed = mean_of(speeds);
  Json::Array samples;
  for (const double one : test.seconds) samples.emplace_back(nanoseconds(one));
  Json out = program_json(report);
  out.set("type_k", report.kv).set("type_v", report.kv);
  out.set("n_prompt", test.prompt).set("n_gen", test.generate).set("n_depth", test.depth);
  out.set("n_sequences", test.sequences);
  if (test.sequences > 1) out.set("host_ns_per_step", nanoseconds(test.host_step_seconds));
  out.set("test", test.name()).set("test_time", report.date);
  out.set("avg_ns", nanoseconds(time.mean)).set("stddev_ns", nanoseconds(time.deviation));
  out.set("avg_ts", speed.mean).set("stddev_ts", speed.deviation);
  out.set("samples_ns", std::move(samples));
  return out.set("samples_ts", Json::Array(speeds.begin(), speeds.end()));
}

Json work_json(const BenchReport& report, const WorkTest& test) {
  const auto nanoseconds = [](double seconds) { return uint64_t(std::llround(seconds * 1e9)); };
  const auto list = [&](std::span<const double> seconds) {
    Json::Array out;
    for (const double one : seconds) out.emplace_back(nanoseconds(one));
    return Json(std::move(out));
  };
  const MeanAndDeviation time = mean_of(test.seconds), speed = mean_of(test.speeds());
  Json out = program_json(report);
  out.set("test", test.name).set("test_time", report.date);
  out.set("avg_ns", nanoseconds(time.mean)).set("stddev_ns", nanoseconds(time.deviation));
  out.set("unit", test.unit).set("amount", test.amount);
  out.set("avg_speed", speed.mean).set("stddev_speed", speed.deviation);
  out.set("n_tokens", test.tokens).set("first", test.first_name);
  const bool has_first = !test.first_seconds.empty();
  out.set("first_ns", has_first ? Json(nanoseconds(timing_of(test.first_seconds).median)) : Json());
  out.set("samples_ns", list(test.seconds));
  return out.set("samples_first_ns", list(test.first_seconds));
}

/// All that was measured, an object each.
std::vector<Json> all_tests(const BenchReport& report) {
  std::vector<Json> out;
  for (const BenchTest& test : report.tests) out.push_back(test_json(report, test));
  for (const WorkTest& test : report.work) out.push_back(work_json(report, test));
  return out;
}

/// A value of a CSV file; of a list, the numbers with spaces between.
std::string csv_text(const Json& value) {
  std::string text;
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& one : value.as_array()) parts.push_back(one.dump());
    text = joined(parts, " ");
  } else if (value.is_string()) {
    text = value.as_string();
  } else {
    return value.dump();
  }
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

namespace {

/// The name of what the results were compared with: of several GPUs perhaps the first alone.
std::string reference_title(const BenchReport& report) {
  if (report.reference == BackendKind::kCpu) return "the CPU reference";
  const bool is_one = report.reference == report.device.backend;
  return fmt::format("{}{}", is_one ? "the first device alone, by " : "",
                     backend_title(report.reference));
}

}  // namespace

std::string check_text(const BenchReport& report) {
  std::vector<std::string> parts = {
      report.greedy_repeats ? "greedy tokens repeat" : "GREEDY TOKENS DIFFER FROM RUN TO RUN",
      report.logits_finite ? "logits are finite" : "LOGITS ARE NOT FINITE"};
  if (!report.work.empty()) {
    parts = {report.greedy_repeats ? "results repeat" : "RESULTS DIFFER FROM RUN TO RUN",
             report.logits_finite ? "they are finite" : "THEY ARE NOT FINITE"};
  }
  if (!report.batches.is_right()) {
    parts.push_back(
        fmt::format("SEQUENCES AT ONCE GIVE WRONG TOKENS (one is {:.2g} of the largest "
                    "logit below the best; read as a prompt all are within {:.2g})",
                    report.batches.deficit, report.batches.apart));
  }
  if (report.error) {
    parts.push_back(
        fmt::format("{} {}: {:.1e} of the largest {}, limit {:.0e}",
                    *report.error <= report.error_limit ? "agrees with" : "DIFFERS FROM",
                    reference_title(report), *report.error, report.work.empty() ? "logit" : "value",
                    report.error_limit));
  } else if (report.device.backend != BackendKind::kCpu) {
    parts.push_back("not compared with the CPU reference (--check does)");
  }
  return joined(parts, "; ");
}

std::string bench_text(const BenchReport& report) {
  if (!report.work.empty()) {
    return about(report).text() + "\n" + work_table(report).text(kScreenColumns) + "\n" +
           figures(report).text();
  }
  return about(report).text() + "\n" + speeds_table(report).text(kScreenColumns) + "\n" +
         costs_table(report).text(kScreenColumns) + "\n" + figures(report).text();
}

std::string bench_markdown(const BenchReport& report) {
  const auto right = Table::Align::kRight;
  Table table;
  table.column("model", "").column("size", "", right).column("params", "", right);
  // Names of tests may be cut, figures may not.
  table.column("backend", "").column("test", "");
  table.column(report.work.empty() ? "t/s" : "speed", "", right);
  for (const BenchTest& test : report.tests) {
    table.row({model_type(report), bytes_text(report.weight_bytes),
               parameters_text(report.parameters), backend_title(report.device.backend),
               test.name(), speed_text(test)});
  }
  for (const WorkTest& test : report.work) {
    const std::string first = first_text(test);
    table.row({model_type(report), bytes_text(report.weight_bytes),
               parameters_text(report.parameters), backend_title(report.device.backend), test.name,
               first.empty() ? speed_text(test) : fmt::format("{}, {}", speed_text(test), first)});
  }
  return fmt::format("{}\nbuild: {} ({})\ndevice: {}\n", table.markdown(kScreenColumns),
                     report.version, report.commit, report.device.name);
}

Json bench_list(const BenchReport& report) {
  Json::Array list;
  for (Json& one : all_tests(report)) list.push_back(std::move(one));
  return list;
}

std::string bench_csv(const BenchReport& report) {
  std::string out;
  for (const Json& one : all_tests(report)) {
    std::vector<std::string> names, values;
    for (const auto& [name, value] : one.as_object()) {
      names.push_back(name);
      values.push_back(csv_text(value));
    }
    if (out.empty()) out += joined(names, ",") + "\n";
    out += joined(values, ",") + "\n";
  }
  return out;
}

Json bench_json(const BenchReport& report) {
  Json out = about(report).json();
  if (report.work.empty()) {
    out.set("tests", tests_json(report));
  } else {
    out.set("tests", bench_list(report));
  }
  const Json more = figures(report).json();
  for (const auto& [name, value] : more.as_object()) out.set(name, value);
  return out;
}

}  // namespace tokamak
