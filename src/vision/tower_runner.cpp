#include "vision/tower_runner.h"

#include <algorithm>
#include <cstring>

#include "backend/one_sequence.h"
#include "base/check.h"
#include "plan/plan.h"

namespace tokamak {
namespace {

// Each stage has two phases.
constexpr size_t patches_phase(size_t stage) {
  return 2 * stage;
}
constexpr size_t merge_phase(size_t stage) {
  return 2 * stage + 1;
}

/// The floats of a constant.
Result<std::vector<float>> read_floats(const ConstantReader& constants, const TensorDesc& tensor) {
  std::vector<float> out(size_t(element_count(tensor.shape, 1)));
  TOK_TRY(constants(tensor, {}, [&](uint64_t offset, std::span<const std::byte> bytes) {
    TOK_CHECK(offset + bytes.size() <= out.size() * sizeof(float));
    std::memcpy(reinterpret_cast<std::byte*>(out.data()) + offset, bytes.data(), bytes.size());
    return Result<void>();
  }));
  return out;
}

/// The rows of a matrix of `columns` become its columns.
std::vector<std::byte> transposed(std::span<const std::byte> bytes, size_t columns, size_t each) {
  std::vector<std::byte> out(bytes.size());
  const size_t rows = bytes.size() / each / columns;
  for (size_t i = 0; i < rows * columns; ++i) {
    const size_t to = i % columns * rows + i / columns;
    std::ranges::copy(bytes.subspan(i * each, each), out.begin() + std::ptrdiff_t(to * each));
  }
  return out;
}

/// The columns of a matrix, which are those of `inside` patches for each channel in turn, become
/// those of each patch.
std::vector<std::byte> by_patch(std::span<const std::byte> bytes, size_t columns, size_t inside,
                                size_t each) {
  std::vector<std::byte> out(bytes.size());
  const size_t channels = columns / inside, rows = bytes.size() / each / columns;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < columns; ++i) {
      const size_t to = row * columns + i % inside * channels + i / inside;
      std::ranges::copy(bytes.subspan((row * columns + i) * each, each),
                        out.begin() + std::ptrdiff_t(to * each));
    }
  }
  return out;
}

/// `constants`, with those matrices as products take them that the checkpoint has in another order.
ConstantReader in_order(const ConstantReader& constants, const VisionTower& tower) {
  return [constants, turned = tower.transposed, channels = tower.by_channel,
          inside = size_t{tower.side} * tower.side](const TensorDesc& tensor, Share share,
                                                    const WriteBytes& write) -> Result<void> {
    const auto* weight = std::get_if<Weight>(&tensor.recipe);
    const auto is_of = [&](const std::vector<std::string>& names) {
      return weight != nullptr && std::ranges::find(names, weight->parts[0].name) != names.end();
    };
    const bool is_turned = is_of(turned);
    if (!is_turned && !is_of(channels)) return constants(tensor, share, write);
    std::vector<std::byte> stored(size_t(byte_count(tensor, 1)));
    TOK_TRY(constants(tensor, {}, [&](uint64_t offset, std::span<const std::byte> bytes) {
      std::ranges::copy(bytes, stored.begin() + std::ptrdiff_t(offset));
      return Result<void>();
    }));
    const size_t each = stored.size() / size_t(element_count(tensor.shape, 1));
    if (is_turned) {
      return write_whole(transposed(stored, size_t(tensor.shape[0]), each), share, write);
    }
    return write_whole(by_patch(stored, size_t(tensor.shape[1]), inside, each), share, write);
  };
}

template <typename Number>
InputWrite input(const Plan& plan, std::string_view name, const std::vector<Number>& values) {
  return {plan.named(name), std::as_bytes(std::span(values))};
}

}  // namespace

Result<CompiledPart> TowerRunner::compile(const VisionTower& tower, const DeviceInfo& device,
                                          const PartOptions& options) {
  const fuse::Target target = for_rows(options.target, tower.tower_rows());
  PartRequest part;
  for (size_t i = 0; i < tower.stages.size(); ++i) {
    const std::string number = i == 0 ? "" : fmt::format(".{}", i);
    part.graphs.push_back({tower.stages[i].patches, target});
    part.graphs.push_back({tower.stages[i].merge, target});
    part.phases.push_back(
        {.name = "patches" + number, .max_rows = tower.tower_rows(), .graph = patches_phase(i)});
    part.phases.push_back(
        {.name = "merge" + number, .max_rows = tower.max_rows(), .graph = merge_phase(i)});
  }
  return compile_part(std::move(part), device, options);
}

Result<std::unique_ptr<TowerRunner>> TowerRunner::open(const VisionTower& tower, Plan plan,
                                                       Backend& backend,
                                                       const ConstantReader& constants) {
  std::unique_ptr<TowerRunner> own(new TowerRunner());
  own->side_ = tower.side;
  own->window_ = tower.window;
  own->head_dim_ = tower.head_dim;
  if (tower.angle_base) {
    own->angles_ = GridAngles{*tower.angle_base, tower.columns_first, tower.alternates};
  }
  own->positions_are_ = tower.positions_are;
  const Graph& patches = tower.stages.front().patches;
  own->width_ = uint32_t(patches.at(patches.result).shape[1]);
  own->stages_ = tower.stages.size();
  if (tower.positions_are != PatchPositions::kNone) {
    TOK_TRY(own->table_, read_floats(constants, tower.positions));
  }
  if (tower.class_row) {
    TOK_TRY(const std::vector<float> row, read_floats(constants, *tower.class_row));
    for (size_t i = 0; i < row.size(); ++i) own->table_[i] += row[i];
    own->before_ = 1;
  }
  TOK_TRY(own->program_, backend.compile(std::move(plan), in_order(constants, tower)));
  TOK_TRY(write_all_pages(*own->program_));
  return own;
}

Result<std::vector<float>> TowerRunner::run_stage(size_t stage, const PatchGrid& grid,
                                                  std::span<const InputWrite> inputs) {
  const uint32_t count = before_ + grid.patches();
  const std::vector<uint32_t> no_tokens(count);
  TOK_TRY(program_->submit({.phase = patches_phase(stage),
                            .slots = {{.count = count, .length = count}},
                            .tokens = no_tokens,
                            .inputs = inputs,
                            .done = {}}));
  // Neighbouring patches are one row from here on: the same bytes, in another buffer.
  const BufferId made = plan().phases[patches_phase(stage)].result.buffer;
  const uint64_t row = width_ * sizeof(float), bytes = grid.patches() * row;
  std::vector<BufferCopy> copies = {
      {.from = made, .to = plan().named(kUnmerged), .from_first = before_ * row, .bytes = bytes}};
  if (stage + 1 < stages_) {
    copies.push_back({.from = made, .to = plan().named(kPatchStates), .bytes = bytes});
  }
  const uint32_t rows = grid.patches() / (side_ * side_);
  return run_and_read(*program_, {.phase = merge_phase(stage),
                                  .slots = {{.count = rows, .length = rows}},
                                  .tokens = std::span(no_tokens).first(rows),
                                  .done = {},
                                  .copies = copies});
}

Result<std::vector<float>> TowerRunner::run(const Patches& patches) {
  const PatchGrid grid = {patches.rows, patches.columns, side_};
  const uint32_t most = plan().phases[patches_phase(0)].max_tokens;
  if (before_ + grid.patches() > most) {
    return invalid_input("The image has {} patches, expected at most {}.", grid.patches(),
                         most - before_);
  }
  std::vector<uint32_t> order, spans;
  std::vector<float> pixels, positions, angles;
  if (window_ != 0) {
    order = window_order(grid, window_);
    pixels = reordered(patches.values, order);
  }
  if (before_ != 0) {
    pixels.assign(patches.values.size() / grid.patches(), 0.0f);
    pixels.insert(pixels.end(), patches.values.begin(), patches.values.end());
  }
  std::vector<InputWrite> inputs = {
      input(plan(), kPatchPixels, pixels.empty() ? patches.values : pixels)};
  if (written_ != grid) {
    if (positions_are_ != PatchPositions::kNone) {
      const bool is_square = positions_are_ == PatchPositions::kSquare;
      const std::span table = std::span<const float>(table_).subspan(before_ * width_);
      positions =
          is_square ? mixed_positions(table, width_, grid) : added_positions(table, width_, grid);
      positions.insert(positions.begin(), table_.begin(),
                       table_.end() - std::ptrdiff_t(table.size()));
      inputs.push_back(input(plan(), kPatchPositions, positions));
    }
    if (angles_) {
      angles = grid_angles(*angles_, head_dim_, grid);
      if (!order.empty()) angles = reordered(angles, order);
      inputs.push_back(input(plan(), kAngles, angles));
    }
    if (window_ != 0) {
      spans = window_spans(grid, window_);
      inputs.push_back(input(plan(), kPatchSpans, spans));
    }
  }
  written_.reset();  // should the step fail
  std::vector<float> all;
  for (size_t stage = 0; stage < stages_; ++stage) {
    const std::span<const InputWrite> own =
        stage == 0 ? std::span(inputs) : std::span<InputWrite>();
    TOK_TRY(std::vector<float> rows, run_stage(stage, grid, own));
    if (!order.empty()) rows = reordered(rows, order, true);
    const bool is_last = stage + 1 == stages_;
    all.insert(is_last ? all.begin() : all.end(), rows.begin(), rows.end());
  }
  written_ = grid;
  return all;
}

}  // namespace tokamak
