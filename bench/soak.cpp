// Does memory stay flat? Opens and closes a model again and again, then generates with one engine
// for a while, writes down what the process holds, and fails where that grows. On the way every run
// must give the tokens that the first one gave.
//
//   soak tests/data/models/gemma3_hub --backend webgpu --cycles 1000 --seconds 1200
//
// The memory of the process is RssAnon and RssShmem of /proc/self/status, which no file backs, a
// software device's included; and the open files count. The first third of the samples is warming
// up (caches of the allocator and the driver fill); growth is from the median of the second third
// to that of the last. Files must not grow at all.
#include <fmt/format.h>
#include <getopt.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/engine.h"

namespace tokamak {
namespace {

constexpr double kMiB = 1 << 20;

struct Settings {
  OpenOptions open;
  uint32_t cycles = 20;
  double seconds = 10;
  uint32_t tokens = 24;
  double max_growth = 8;  // MiB
};

double held_mib() {
  // The memory that is free but kept by the allocator varies by 12 MiB from load to load.
  malloc_trim(0);
  std::ifstream status("/proc/self/status");
  double bytes = 0;
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if ((word == "RssAnon:" || word == "RssShmem:") && status >> kib) bytes += double(kib) * 1024;
  }
  return bytes / kMiB;
}

size_t open_files() {
  std::error_code ignored;
  const std::filesystem::directory_iterator all("/proc/self/fd", ignored);
  return size_t(std::distance(begin(all), end(all)));
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

/// The memory and files of the process over time.
class Samples {
 public:
  explicit Samples(std::string unit) : unit_(std::move(unit)) {}

  void add(double at) {
    at_.push_back(at);
    held_.push_back(held_mib());
    files_.push_back(double(open_files()));
  }

  /// Prints some of the samples; false when there is more at the end, of memory by `max_growth`
  /// MiB.
  bool judge(double max_growth) const {
    for (size_t i = 0; i < held_.size(); i += std::max<size_t>(1, held_.size() / 12)) print(i);
    if (held_.size() < 3) return true;
    print(held_.size() - 1);
    const double growth = grown(held_), files = grown(files_);
    const bool flat = growth <= max_growth && files <= 0;
    fmt::print("  {:+.2f} MiB and {:+.0f} open files from the second third to the last: {}\n",
               growth, files, flat ? "flat" : "it grows");
    std::fflush(stdout);
    return flat;
  }

 private:
  void print(size_t i) const {
    fmt::print("  {:8.0f} {} {:10.2f} MiB {:6.0f} files\n", at_[i], unit_, held_[i], files_[i]);
  }
  static double grown(std::span<const double> values) {
    const size_t third = values.size() / 3;
    return median(values.last(third)) - median(values.subspan(values.size() - 2 * third, third));
  }

  std::string unit_;
  std::vector<double> at_, held_, files_;
};

/// A prompt, sampled tokens, then tokens that the device chooses.
Result<std::vector<uint32_t>> generate_some(Engine& engine, uint32_t tokens) {
  const uint32_t vocab = engine.compiled().facts.vocab;
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < 40; ++i) ids.push_back((i * 37 + 11) % vocab);
  for (const bool is_greedy : {false, true}) {
    Request request{.prompt = ids};
    request.params.sampling = {.temperature = 0.8, .top_k = 40, .seed = 7};
    if (is_greedy) request.params.sampling = {.temperature = 0};
    request.params.max_tokens = is_greedy ? tokens : tokens / 2;
    request.params.end_ids.emplace();
    TOK_TRY(const Generation made, engine.generate(std::move(request)));
    ids.insert(ids.end(), made.ids.begin(), made.ids.end());
  }
  return ids;
}

Result<void> compare(const std::vector<uint32_t>& first, const std::vector<uint32_t>& now) {
  if (first == now) return {};
  return fail(ErrorCode::kDevice, "A run gives other tokens than the first one.");
}

Result<bool> soak(const Settings& settings) {
  const Clock clock = steady_clock();
  std::vector<uint32_t> first;
  bool flat = true;
  Samples loads("loads");
  const double start = clock();
  for (uint32_t i = 0; i < settings.cycles; ++i) {
    {
      TOK_TRY(const auto engine, Engine::open(settings.open));
      TOK_TRY(std::vector<uint32_t> ids, generate_some(*engine, settings.tokens));
      if (first.empty()) first = ids;
      TOK_TRY(compare(first, ids));
    }
    loads.add(i + 1);
  }
  if (settings.cycles > 0) {
    fmt::print("{} loads in {:.0f} s\n", settings.cycles, clock() - start);
    flat = loads.judge(settings.max_growth);
  }
  if (settings.seconds <= 0) return flat;
  TOK_TRY(const auto engine, Engine::open(settings.open));
  Samples runs("seconds");
  const double begin = clock();
  uint64_t sequences = 0, tokens = 0;
  for (double next = 0; clock() - begin < settings.seconds;) {
    TOK_TRY(std::vector<uint32_t> ids, generate_some(*engine, settings.tokens));
    if (first.empty()) first = ids;
    TOK_TRY(compare(first, ids));
    ++sequences;
    tokens += ids.size();
    if (clock() - begin < next) continue;
    runs.add(clock() - begin);
    next += settings.seconds / 300;
  }
  fmt::print("{} sequences, {} tokens in {:.0f} s\n", sequences, tokens, clock() - begin);
  return runs.judge(settings.max_growth) && flat;
}

}  // namespace
}  // namespace tokamak

int main(int argc, char** argv) {
  tokamak::Settings settings;
  const option options[] = {
      {"backend", required_argument, nullptr, 'b'},    {"cycles", required_argument, nullptr, 'c'},
      {"seconds", required_argument, nullptr, 's'},    {"tokens", required_argument, nullptr, 't'},
      {"max-growth", required_argument, nullptr, 'g'}, {}};
  for (int found = 0; (found = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    switch (found) {
      case 'b':
        settings.open.backend = optarg;
        break;
      case 'c':
        settings.cycles = uint32_t(std::strtoul(optarg, nullptr, 10));
        break;
      case 's':
        settings.seconds = std::strtod(optarg, nullptr);
        break;
      case 't':
        settings.tokens = uint32_t(std::strtoul(optarg, nullptr, 10));
        break;
      case 'g':
        settings.max_growth = std::strtod(optarg, nullptr);
        break;
      default:
        std::fputs(
            "Opens and closes a model again and again, then generates for a while; fails when the "
            "memory of the process grows.\nusage: soak [MODEL] [--backend NAME] [--cycles N] "
            "[--seconds S] [--tokens N] [--max-growth MIB]\n",
            stderr);
        return 2;
    }
  }
  if (optind < argc) settings.open.model = argv[optind];
  settings.open.context = 128;
  const auto flat = tokamak::soak(settings);
  if (!flat) {
    std::fprintf(stderr, "error: %s\n", flat.error().message.c_str());
    return 1;
  }
  return *flat ? 0 : 1;
}
