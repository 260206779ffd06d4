// The part of `tokamak bench` for models whose work is something else than text after text: they
// see, hear, speak, embed or rank. Native programs only.
//
// Inputs are made up: noise of fixed seeds, token ids that mean nothing. Models of random weights
// take as long as trained ones since how much they write is fixed as well.
#pragma once
#include "engine/codec.h"
#include "report/bench/bench.h"

namespace tokamak {

/// Whether the model's work is measured here: it gives no text, or is to be shown an image.
bool is_other_work(const Engine::Compiled& compiled, const BenchOptions& options);

BenchKind bench_kind(const Engine::Compiled& compiled, const BenchOptions& options);

/// The options that such a model needs beside the user's.
void prepare_work(const BenchOptions& options, OpenOptions& open);

/// The tests of the model's kind. Errors: a text or an image that does not fit into its context.
Result<std::vector<WorkTest>> time_work(Engine& engine, const BenchOptions& options,
                                        const Clock& clock);
/// Pieces of codes to sound, as a player takes them, and all at once.
Result<std::vector<WorkTest>> time_codec(Codec& codec, const BenchOptions& options,
                                         const Clock& clock);

/// Results of a small piece of the same work, to be compared with those of another device. Each has
/// a scale of its own.
using WorkResults = std::vector<std::vector<float>>;
Result<WorkResults> work_results(Engine& engine, const BenchOptions& options);
Result<WorkResults> work_results(Codec& codec);

/// The largest of their relative_error(). REQUIRES: results of the same work.
double relative_error(const WorkResults& a, const WorkResults& b);
bool are_finite(const WorkResults& results);

// The part that these files share.

/// Runs `once(first)` to warm up and then for each repetition; it sets `first` to when the first of
/// its result was there.
Result<void> repeat(WorkTest& test, const BenchOptions& options, const Clock& clock,
                    const std::function<Result<void>(double& first)>& once);

Result<std::vector<WorkTest>> time_hearing(Engine& engine, const BenchOptions& options,
                                           const Clock& clock);
Result<std::vector<WorkTest>> time_speaking(Engine& engine, const BenchOptions& options,
                                            const Clock& clock);
/// The encoder's rows of a second of sound, and the logits after some tokens about it.
Result<WorkResults> heard_results(Engine& engine);
/// The logits after a short text and some codes, and the codec's samples.
Result<WorkResults> said_results(Engine& engine, const BenchOptions& options);

}  // namespace tokamak
