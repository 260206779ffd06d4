// How fast a codec makes a sound: whole, and in pieces as a player takes them.
//
//   tools/random_codec --out /tmp/codec
//   bench_codec /tmp/codec [--backend cuda] [--frames 125]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/codec.h"
#include "engine/engine.h"

namespace tokamak {
namespace {

constexpr int kRuns = 5;

struct Measured {
  double first = 0, whole = 0;  // seconds to the first piece, and to all of it
};

/// Frames in pieces of `piece` of them.
Result<Measured> run(Codec& codec, std::span<const uint32_t> codes, uint32_t piece) {
  const Clock clock = steady_clock();
  const double start = clock();
  const auto frames = uint32_t(codes.size() / codec.groups());
  Measured measured;
  for (uint32_t done = 0; done < frames; done += piece) {
    const uint32_t context = std::min(done, codec.context_frames());
    const uint32_t count = context + std::min(piece, frames - done);
    TOK_TRY(codec.decode(
        codes.subspan(size_t{done - context} * codec.groups(), size_t{count} * codec.groups()),
        context));
    if (done == 0) measured.first = clock() - start;
  }
  measured.whole = clock() - start;
  return measured;
}

Result<void> bench(const OpenOptions& options, uint32_t frames) {
  TOK_TRY(const std::unique_ptr<Codec> codec, Codec::open(options));
  std::vector<uint32_t> codes(size_t{frames} * codec->groups());
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = uint32_t(i * 7919 % codec->codes_per_group());
  const double seconds = double(frames) * codec->samples_per_frame() / double(codec->sample_rate());
  TOK_TRY(run(*codec, codes, frames));  // loads the weights
  std::printf("%.1f seconds of sound, best of %d\n", seconds, kRuns);
  for (const uint32_t piece : {5u, 25u, frames}) {
    Measured best{1e9, 1e9};
    for (int i = 0; i < kRuns; ++i) {
      TOK_TRY(const Measured one, run(*codec, codes, piece));
      best = {std::min(best.first, one.first), std::min(best.whole, one.whole)};
    }
    std::printf("pieces of %3u frames: first after %6.1f ms, %6.1f times as fast as it plays\n",
                piece, best.first * 1e3, seconds / best.whole);
  }
  return {};
}

}  // namespace
}  // namespace tokamak

int main(int argc, char** argv) {
  tokamak::OpenOptions options;
  uint32_t frames = 125;
  if (argc > 1) options.model = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--backend") options.backend = argv[i + 1];
    if (name == "--frames") frames = uint32_t(std::max(1, std::atoi(argv[i + 1])));
  }
  const auto done = tokamak::bench(options, frames);
  if (!done) std::fprintf(stderr, "error: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
