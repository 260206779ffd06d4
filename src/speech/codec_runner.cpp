#include "speech/codec_runner.h"

#include <algorithm>

#include "backend/one_sequence.h"
#include "base/check.h"

namespace tokamak {
namespace {

/// Some seconds: what each step computes twice, some rows of the first stages, is little beside it.
constexpr uint32_t kMaxFrames = 32;
/// Most rows of a step: what every device allows a grid in one dimension.
constexpr uint64_t kMaxRows = 65535;

/// Most rows of each stage in steps of `frames` frames.
std::vector<uint32_t> max_rows(const CodecModel& model, uint32_t frames) {
  const uint64_t context = model.context_frames();
  std::vector<uint32_t> rows;
  for (const RowSpan& span : model.rows_for(context, context + frames)) {
    rows.push_back(uint32_t(span.size()));
  }
  return rows;
}

uint32_t max_frames(const CodecModel& model) {
  uint32_t frames = kMaxFrames;
  while (frames > 1 && std::ranges::max(max_rows(model, frames)) > kMaxRows) --frames;
  return frames;
}

}  // namespace

Result<CompiledPart> CodecRunner::compile(const CodecModel& model, const DeviceInfo& device,
                                          const PartOptions& options) {
  const std::vector<uint32_t> rows = max_rows(model, max_frames(model));
  PartRequest request;
  for (size_t i = 0; i < model.stages.size(); ++i) {
    request.graphs.push_back({model.stages[i].graph, options.target});
    request.phases.push_back(
        {.name = codec_input(i), .kind = PhaseKind::kSound, .max_rows = rows[i], .graph = i});
  }
  return compile_part(std::move(request), device, options);
}

Result<std::unique_ptr<CodecRunner>> CodecRunner::open(const CodecModel& model, Plan plan,
                                                       Backend& backend,
                                                       const ConstantReader& constants) {
  std::unique_ptr<CodecRunner> own(new CodecRunner(model));
  own->max_frames_ = max_frames(model);
  TOK_TRY(own->program_, backend.compile(std::move(plan), constants));
  return own;
}

Result<std::vector<float>> CodecRunner::decode(std::span<const uint32_t> codes, uint32_t context) {
  const size_t frames = codes.size() / model_.groups;
  TOK_CHECK(codes.size() % model_.groups == 0 && context <= frames);
  TOK_TRY(const std::vector<float> latents, model_.latents(codes));
  std::vector<float> samples;
  samples.reserve((frames - context) * model_.samples_per_frame);
  for (size_t first = context; first < frames; first += max_frames_) {
    TOK_TRY(step(latents, first, std::min<size_t>(first + max_frames_, frames), samples));
  }
  return samples;
}

Result<void> CodecRunner::step(std::span<const float> latents, uint64_t first, uint64_t end,
                               std::vector<float>& samples) {
  const std::vector<RowSpan> rows = model_.rows_for(first, end);
  const size_t width = model_.groups * model_.levels.size();
  const InputWrite input = {.buffer = plan().named(codec_input(0)),
                            .bytes = std::as_bytes(latents.subspan(
                                size_t(rows[0].first) * width, size_t(rows[0].size()) * width))};
  std::vector<float> last;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto count = uint32_t(rows[i].size());
    const std::vector<uint32_t> no_tokens(count);
    StepRequest request{
        .phase = i, .slots = {{.count = count, .length = count}}, .tokens = no_tokens, .done = {}};
    BufferCopy copy;
    if (i == 0) {
      request.inputs = {&input, 1};
    } else {
      // The rows that the stage before has made, without those of which this one needs none.
      const Operand& made = plan().phases[i - 1].result;
      const uint32_t rate = model_.stages[i - 1].rate;
      const uint64_t row_bytes = uint64_t(made.shape[1]) / rate * sizeof(float);
      copy = {.from = made.buffer,
              .to = plan().named(codec_input(i)),
              .from_first = (rows[i].first - rows[i - 1].first * rate) * row_bytes,
              .bytes = count * row_bytes};
      request.copies = {&copy, 1};
    }
    if (i + 1 < rows.size()) {
      TOK_TRY(program_->submit(request));
    } else {
      TOK_TRY(last, run_and_read(*program_, std::move(request)));
    }
  }
  const uint64_t before = first * model_.samples_per_frame - rows.back().first;
  samples.insert(samples.end(), last.begin() + ptrdiff_t(before), last.end());
  return {};
}

}  // namespace tokamak
