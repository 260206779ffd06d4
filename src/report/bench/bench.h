// The measurements of `tokamak bench`: prefill and decode on one device, against the bandwidth that
// the same device shows in a copy, with checks that the numbers timed are right.
//
// Prompts are random token ids of a fixed seed. Each test is run once to warm up, then
// `repetitions` times. Every repetition is a measurement: speeds are their mean and standard
// deviation, as llama-bench has them; lower bounds are compared with the median.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace tokamak {

/// The kind of a benchmark: it depends on the model.
enum class BenchKind : uint8_t { kText, kImage, kHears, kSpeaks, kTexts, kCodec };

struct BenchOptions {
  // Numbers of tokens, one test for each of them at each depth; 0: no such test.
  std::vector<uint32_t> prompts = {512};                                 // prefill
  std::vector<uint32_t> generate = {128};                                // decode
  std::vector<std::pair<uint32_t, uint32_t>> prompts_and_generate = {};  // one after the other
  std::vector<uint32_t> depths = {0};  // positions taken before a test starts
  /// Sequences that decode at once, one test for each number.
  std::vector<uint32_t> sequences = {1};
  /// Tokens of a prompt that arrives beside the sequences of tests of several; 0: none does.
  uint32_t arriving = 0;
  uint32_t repetitions = 5;
  bool sampled = false;  // decode by drawing, too: from the device's lists, and from all logits
  double repetition_penalty = 1;  // of what is drawn
  bool bounds = true;             // measure what lower bounds need
  /// Compare with the reference; by default when the weights are small.
  std::optional<bool> check;
  std::string reference = "cpu";  // the backend of it

  // The options for models whose work is something else than text after text; the rest of these
  // options, but for repetitions, is not for them.
  uint32_t image_side = 0;      // pixels of the image that a model for text is shown; 0: none
  uint32_t texts = 512;         // that are embedded, or pairs that are ranked
  uint32_t text_tokens = 128;   // of each
  double seconds = 0;           // of sound that is heard or said; 0: 30 or 10
  uint32_t heard_tokens = 128;  // that are written of what is heard
  std::string codec;            // of a model that speaks; "": that in its folder or beside it
  std::function<bool()> cancelled;
  std::function<void(const std::string& doing)> progress;
  /// Called before the first test; an error ends the benchmark.
  std::function<Result<void>(BenchKind)> kind_found;
};

/// Token ids below `below`, the same for the same seed.
std::vector<uint32_t> random_ids(size_t count, uint32_t below, uint32_t seed = 1);

struct Timing {
  double median = 0, spread = 0;  // seconds; share of the median
};
/// REQUIRES: at least one.
Timing timing_of(std::vector<double> seconds);

struct MeanAndDeviation {
  double mean = 0, deviation = 0;  // of a sample: 0 when there is only one
};
/// REQUIRES: at least one.
MeanAndDeviation mean_of(std::span<const double> samples);

/// The delay of sequences that generate while a long prompt arrives beside them.
struct Arrival {
  uint32_t prompt = 0;        // its tokens
  double before_seconds = 0;  // between two tokens of a sequence before it arrives: the median
  double median_seconds = 0, slow_seconds = 0;  // while it is read; the latter: of 100 the slowest
  double first_token_seconds = 0;               // from its arrival on
  /// From when another one is given up, with a step of it in flight, to its end.
  double cancel_seconds = 0;
};

struct BenchTest {
  enum class Choice : uint8_t { kGreedy, kSampled, kSampledFromAllLogits };

  uint32_t prompt = 0, generate = 0;  // tokens fed at once, then tokens generated
  uint32_t depth = 0;
  uint32_t sequences = 1;            // each of which does this
  Choice choice = Choice::kGreedy;   // of what is generated
  std::vector<double> seconds = {};  // of each repetition
  double host_step_seconds = 0;      // of several sequences: what a step takes the host
  uint32_t arriving = 0;             // tokens of a prompt that arrives beside several sequences
  std::optional<Arrival> arrival = {};
  double bytes_per_token = 0, flops_per_token = 0, launches_per_token = 0;
  double link_bytes_per_token = 0;  // of several ranks: what one of them takes from the others

  /// "pp512", "tg128", "pp512+tg128", "tg128 @ d1024", as llama-bench calls them.
  std::string name() const;
  uint32_t tokens() const { return sequences * (prompt + generate); }
  /// The positions that one sequence needs, which begins with a token at least; those beside which
  /// a prompt arrives generate until it has been read.
  uint64_t positions() const {
    const bool begins = sequences > 1 || depth + prompt == 0;
    const uint64_t own = uint64_t{depth} + prompt + generate + begins;
    return arriving == 0 ? own : std::max(own, uint64_t{depth} + arriving + 1);
  }
  /// Tokens per second in each repetition.
  std::vector<double> speeds() const;
  double tokens_per_second() const { return tokens() / timing_of(seconds).median; }
  double bytes_per_second() const { return bytes_per_token * tokens_per_second(); }
  /// The least time of the test: its bytes at `bandwidth`, its launches one after the other, and
  /// what crosses the links at theirs, where that is known.
  double floor_seconds(double bandwidth, double launch_seconds, double link_bandwidth = 0) const {
    const double crossing = link_bandwidth > 0 ? link_bytes_per_token / link_bandwidth : 0;
    return tokens() *
           (bytes_per_token / bandwidth + launches_per_token * launch_seconds + crossing);
  }
};

/// A test of a model whose work is something else: an image and the first token about it, a sound
/// and a text, a sentence and its sound, texts and their vectors.
struct WorkTest {
  std::string name;                   // "512 texts of 128 tokens"
  std::string unit;                   // of its speed: "texts/s", "x real time"
  double amount = 0;                  // what is done in a repetition; of sounds, their seconds
  uint64_t tokens = 0;                // that a repetition reads or writes; 0: there are none
  std::vector<double> seconds;        // of each repetition
  std::string first_name;             // what comes first of its result: "sound"; "": all at once
  std::vector<double> first_seconds;  // until that, of each repetition

  /// `amount` per second in each repetition.
  std::vector<double> speeds() const;
};

/// The tests that the options ask for, in the order in which they run.
std::vector<BenchTest> tests_of(const BenchOptions& options);
/// The one that needs most positions. REQUIRES: at least one.
const BenchTest& largest(std::span<const BenchTest> tests);

/// The machine during a benchmark: a figure of its processor holds if nobody else had that.
struct MachineLoad {
  double before = 0, after = 0;  // programs that ran or waited to, on average of a minute
  uint32_t processors = 0;
  double stolen = 0;  // share of their time that other machines on the same ones had
};

/// How the tokens of sequences at once are those of each alone, of the largest magnitude of logits.
struct BatchCheck {
  double deficit = 0;  // the most that one was below the best of a session alone
  double apart = 0;    // of that session's last logits from those of the same ids read as a prompt

  /// Whether f16 factors, which some kernels have and others not, make that much of it. Experts
  /// that are chosen otherwise make more, in prompts, too; above kMaxDeficit something is wrong.
  bool is_right() const {
    constexpr double kTolerance = 0.02, kMaxDeficit = 0.5;
    return deficit <= kTolerance || (deficit <= kMaxDeficit && deficit <= 4 * apart);
  }
};

struct BenchReport {
  std::string model, architecture, quantization, kv;
  std::string title, short_name;      // of the model, for people
  std::string version, commit, date;  // of the program; when it began, in UTC
  DeviceInfo device;
  uint64_t parameters = 0, weight_bytes = 0;  // of what the model reads
  std::vector<BenchTest> tests;
  std::vector<WorkTest> work;         // instead of these
  double bandwidth = 0;               // bytes per second; see measure_bandwidth()
  double launch_seconds = 0;          // see measure_launch()
  double link_bandwidth = 0;          // of the slowest link between the ranks; 0: there are none
  std::optional<Timing> first_token;  // first prefill test and the choice of a token
  LoadTimes load;
  CompileReport compiled;
  Footprint memory;
  uint64_t device_peak_bytes = 0, host_peak_bytes = 0;
  std::optional<MachineLoad> machine;  // where the processor was measured

  bool greedy_repeats = false, logits_finite = false;  // of `work`: its results
  BatchCheck batches;                                  // see time_sequences()
  std::optional<double> error;  // largest difference from the reference, of max|logit|
  double error_limit = 0;
  BackendKind reference = BackendKind::kCpu;  // what `error` is the difference from
  bool correct() const {
    return greedy_repeats && logits_finite && batches.is_right() &&
           (!error || *error <= error_limit);
  }
};

/// The facts about the model and the device before anything is measured.
BenchReport described(const Engine& engine);

/// The tests, and whether greedy decoding repeats itself. Errors: more tokens than the context has.
Result<BenchReport> bench_engine(Engine& engine, const BenchOptions& options, const Clock& clock);

/// Logits after a short prompt and after each of a few greedy tokens after it; `ids` receives
/// the tokens when it is empty and sets them when it is not.
Result<std::vector<float>> short_run(Engine& engine, std::vector<uint32_t>& ids);

/// max |a - b| / max |b|.
double relative_error(std::span<const float> a, std::span<const float> b);

/// Bytes per second between memory and the device's processors: the best that kernels reach which
/// copy large buffers or stream a large matrix, or memcpy where the processor is the host's.
Result<double> measure_bandwidth(Backend& backend, const Clock& clock);
/// The same by kernels on buffers of `bytes`, at least 64 KiB, whatever the device.
Result<double> stream_bandwidth(Backend& backend, uint64_t bytes, const Clock& clock);

/// Seconds that a launch takes which does next to nothing but wait for the one before.
Result<double> measure_launch(Backend& backend, const Clock& clock);

/// Whether the results are right, in a sentence.
std::string check_text(const BenchReport& report);

std::string bench_text(const BenchReport& report);
Json bench_json(const BenchReport& report);

/// llama-bench's table in Markdown.
std::string bench_markdown(const BenchReport& report);
/// An object per test, with llama-bench's names where it has the same.
Json bench_list(const BenchReport& report);
/// The same with a line of names and one per test.
std::string bench_csv(const BenchReport& report);

/// Opens the model, measures, checks. Native programs only.
Result<BenchReport> bench(const OpenOptions& open, const BenchOptions& options);

}  // namespace tokamak
