#include "report/importance/column_sums.h"

#include <algorithm>
#include <span>

#include "base/bits.h"
#include "engine/files/model_files.h"
#include "formats/gguf_writer.h"
#include "fuse/pipeline.h"

namespace tokamak {
namespace {

constexpr uint64_t kAlignment = 32;

/// The tensor of the file that has the bytes of one that the model reads, which may be an expert's.
const TensorInfo* holder_of(const GgufFile& file, const TensorInfo& part) {
  for (const TensorInfo& whole : file.tensors.tensors()) {
    const bool is_inside = whole.shard == part.shard && whole.offset <= part.offset &&
                           part.offset + part.bytes <= whole.offset + whole.bytes;
    if (is_inside) return &whole;
  }
  return nullptr;
}

/// The product that an unfused step is, as its input x and how many of its matrices there are.
struct Product {
  uint32_t matrices = 0;      // 0: none
  bool is_by_choice = false;  // each row has those that inputs[2] names
};
Product product_of(const Op& op) {
  if (std::holds_alternative<Linear>(op)) return {1};
  if (const auto* experts = std::get_if<ExpertLinear>(&op)) return {experts->experts, true};
  const auto* heads = std::get_if<HeadLinear>(&op);
  return heads != nullptr && !heads->transposed ? Product{heads->heads} : Product{};
}

template <typename T>
void put_floats(std::string& out, const std::vector<T>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  out.append(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
  out.resize(size_t(round_up(uint64_t{out.size()}, kAlignment)));
}

}  // namespace

Result<std::unique_ptr<Engine>> ImportanceMatrix::open(const GgufFile& file, OpenOptions options) {
  file_ = &file;
  TOK_TRY(ModelFiles files, read_model_files(options.model));
  for (const fuse::Pass& pass : fuse::passes()) options.disabled_passes.emplace(pass.name);
  std::unique_ptr<Backend> backend = make_processor_backend(options);
  observe_launches(*backend, [this](const Plan& plan, const Step& step, const CpuCall& call) {
    observe(plan, step, call);
  });
  TOK_TRY(auto engine, Engine::load(std::move(files), std::move(backend), options, steady_clock()));
  tensors_of_model_ = &engine->files().tensors;
  return engine;
}

void ImportanceMatrix::observe(const Plan& plan, const Step& step, const CpuCall& call) {
  const Product product = product_of(step.op);
  if (product.matrices == 0 || tensors_of_model_ == nullptr) return;
  const TensorDesc& constant = plan.buffers[uint32_t(step.inputs[1].buffer)].tensor;
  const Experts& experts = experts_of(constant, product.matrices);
  const std::span<const float> x = call.inputs[0].f32();
  const uint64_t columns = uint64_t(constant.shape[1]);
  const uint64_t rows = call.outputs[0].dims[0];
  const uint64_t slots = product.is_by_choice ? call.inputs[2].dims[1] : product.matrices;
  const bool is_shared = x.size() == rows * columns;  // by all slots
  for (uint64_t i = 0; i < rows * slots; ++i) {
    const uint64_t expert = product.is_by_choice ? call.inputs[2].u32()[i] : i % slots;
    const float* row = x.data() + (is_shared ? i / slots : i) * columns;
    for (const Place& place : experts[expert]) {
      double* squares = place.sums->squares.data() + place.matrix * columns;
      for (uint64_t c = 0; c < columns; ++c) squares[c] += double(row[c]) * double(row[c]);
      ++place.sums->counts[place.matrix];
    }
  }
}

const ImportanceMatrix::Experts& ImportanceMatrix::experts_of(const TensorDesc& constant,
                                                              uint32_t experts) {
  const auto [found, is_new] = experts_.try_emplace(constant.name, experts);
  const auto* weight = std::get_if<Weight>(&constant.recipe);
  // Columns of their own are those of ranks, and matrices that have fewer than the product.
  if (!is_new || weight == nullptr || weight->columns != ColumnRange{}) return found->second;
  add_places(*weight, uint64_t(constant.shape[1]), uint64_t(constant.shape[0]) / experts,
             found->second);
  return found->second;
}

void ImportanceMatrix::add_places(const Weight& weight, uint64_t columns, uint64_t rows_of_expert,
                                  Experts& out) {
  uint64_t row = 0;
  for (const WeightPart& part : weight.parts) {
    const TensorInfo* info = tensors_of_model_->find(part.name);
    const TensorInfo* whole = info == nullptr ? nullptr : holder_of(*file_, *info);
    if (whole == nullptr || whole->shape.empty() || whole->shape.back() != columns) return;
    const uint64_t rows = part.rows != 0 ? part.rows : info->elements() / columns;
    const uint64_t all = whole->elements() / columns;
    const uint64_t matrices = whole->shape.size() > 2 ? all / whole->shape.end()[-2] : 1;
    ColumnSums& sums = tensors_[whole->name];
    sums.columns = columns;
    sums.squares.resize(size_t(matrices * columns));
    sums.counts.resize(size_t(matrices));
    const uint64_t before = (info->offset - whole->offset) / (whole->bytes / all) + part.first_row;
    for (uint64_t i = 0; i < rows; ++i) {
      const Place place{&sums, size_t((before + i) / (all / matrices))};
      std::vector<Place>& places = out[size_t((row + i) / rows_of_expert)];
      if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
    row += rows;
  }
}

std::string ImportanceMatrix::to_gguf(const Source& source) const {
  std::vector<TensorInfo> infos;
  const auto add = [&](std::string name, uint64_t rows, uint64_t columns) {
    TensorInfo& info = infos.emplace_back();
    info.name = std::move(name);
    info.shape = {rows, columns};
    info.bytes = rows * columns * sizeof(float);
  };
  for (const auto& [name, sums] : tensors_) {
    add(name + ".in_sum2", sums.counts.size(), sums.columns);
    add(name + ".counts", sums.counts.size(), 1);
  }
  std::string out =
      gguf_header({gguf_entry("general.type", "imatrix"),
                   gguf_entry("imatrix.datasets", std::vector<std::string>{source.text}),
                   gguf_entry("imatrix.chunk_count", source.windows),
                   gguf_entry("imatrix.chunk_size", source.window)},
                  infos, kAlignment);
  for (const auto& [name, sums] : tensors_) {
    put_floats(out, sums.squares);
    put_floats(out, sums.counts);
  }
  return out;
}

}  // namespace tokamak
