// The shape rule of every op: infer_outputs.
#include "base/bits.h"
#include "graph/collective_shapes.h"

namespace tokamak {
namespace {

Dim argmax_columns(Dim columns) {
  return 2 * ceil_div(columns, Dim{kArgmaxBlock});
}

Dim maxima_columns(Dim columns) {
  return 2 * ceil_div(columns, candidate_block(columns));
}

struct Rule : CollectiveRules {
  using CollectiveRules::operator();

  Outputs operator()(const Embed&) const {
    TOK_TRY(count(2, 3));
    if (in[0]->shape.size() != 1 || in[0]->dtype != DType::kU32) return wrong(0, "u32[T]");
    if (!is_matrix(*in[1])) return wrong(1, "a table [vocab, n]");
    if (in.size() == 3) {
      TOK_TRY(activation(2));
      if (in[2]->shape[1] != in[1]->shape[1]) {
        return wrong(2, fmt::format("rows of {} columns", in[1]->shape[1]));
      }
    }
    return {{matrix(in[0]->shape[0], in[1]->shape[1])}};
  }
  Outputs operator()(const Linear&) const {
    TOK_TRY(const Dim out, linear());
    return {{matrix(in[0]->shape[0], out)}};
  }
  Outputs two_alike() const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    TOK_TRY(like(1, *in[0]));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs one() const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const Add&) const { return two_alike(); }
  Outputs operator()(const Glu& op) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    TOK_TRY(rows_like(1, 0));
    const TensorDesc out = matrix(in[0]->shape[0], in[0]->shape[1]);
    if (Dim{op.first} + out.shape[1] > in[1]->shape[1]) {
      return wrong(1, fmt::format("{} columns or more", Dim{op.first} + out.shape[1]));
    }
    return {{out}};
  }
  Outputs operator()(const Scale&) const {
    TOK_TRY(count(1, 2));
    TOK_TRY(activation(0));
    if (in.size() == 2) TOK_TRY(vector(1, 1));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const PositionScale& op) const {
    if (op.period == 0) return wrong(0, "a period above 0");
    return one();
  }
  Outputs operator()(const Softcap&) const { return one(); }
  Outputs operator()(const Activate&) const { return one(); }
  Outputs operator()(const AddPositions& op) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    const TensorDesc& table = *in[1];
    if (!is_matrix(table) || is_packed(table.dtype) || table.shape[1] != in[0]->shape[1] ||
        table.shape[0] <= Dim{op.offset}) {
      return wrong(1, fmt::format("a table [more than {}, {}] that is not packed", op.offset,
                                  in[0]->shape[1]));
    }
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const Rope& op) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    const Dim head_dim = op.head_dim;
    if (head_dim == 0 || in[0]->shape[1] % head_dim != 0) {
      return wrong(0, fmt::format("columns in heads of {}", head_dim));
    }
    const TensorDesc& table = *in[1];
    if (table.shape.size() != 2 || table.dtype != DType::kF32 || table.shape[1] > head_dim ||
        table.shape[1] % 2 != 0) {
      return wrong(1, fmt::format("f32[context, d] with an even d of at most {}", head_dim));
    }
    if (table.shape[0] == kTokens) {
      if (op.short_rows != 0) return wrong(1, "a row for each position");
      TOK_TRY(rows_like(1, 0));
    } else if (table.shape[0] <= Dim{op.short_rows}) {
      return wrong(1, fmt::format("more than {} rows", op.short_rows));
    }
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const KvAppend&) const {
    TOK_TRY(count(4, 4));
    TOK_TRY(activation(0));
    TOK_TRY(cache(2));
    TOK_TRY(pages(3));
    const Dim columns = in[2]->shape[2] * cached_head_dim(in[2]->dtype, in[2]->shape);
    if (in[0]->shape[1] != columns) return wrong(0, fmt::format("{} columns", columns));
    TOK_TRY(like(1, *in[0]));
    return {{same_state(2)}};
  }
  Outputs operator()(const Attention& op) const {
    TOK_TRY(count(3, 4));
    TOK_TRY(activation(0));
    TOK_TRY(cache(1));
    TOK_TRY(pages(2));
    const Dim kv_columns = in[1]->shape[2] * cached_head_dim(in[1]->dtype, in[1]->shape);
    if (in[0]->shape[1] % kv_columns != 0) {
      return wrong(0, fmt::format("a multiple of {} columns", kv_columns));
    }
    if (in.size() == 4) TOK_TRY(scores(3, in[0]->shape[1] / kv_columns * in[1]->shape[2]));
    if (op.rounded == Half::kNone) return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
    if (in[0]->shape[1] % kAligned != 0) return wrong(0, "a multiple of 8 columns");
    return {{half_matrix(in[0]->shape[0], in[0]->shape[1], half_dtype(op.rounded))}};
  }
  Outputs operator()(const ShortConv& op) const {
    TOK_TRY(count(3, 4));
    TOK_TRY(activation(0));
    const Dim parts = op.gated ? 3 : 1, n = in[0]->shape[1] / parts;
    if (in[0]->shape[1] != parts * n) return wrong(0, "three times as many columns");
    const TensorDesc& w = *in[1];
    if (w.shape.size() != 2 || w.shape[0] != n || w.shape[1] < 2 || w.dtype != DType::kF32) {
      return wrong(1, fmt::format("f32[{}, k] with k of at least 2", n));
    }
    TOK_TRY(recurrent(2, {w.shape[1] - 1, n}));
    if (in.size() == 4) TOK_TRY(vector(3, n));
    return {{matrix(in[0]->shape[0], n), same_state(2)}};
  }
  Outputs operator()(const GatedDelta& op) const {
    TOK_TRY(count(4, 4));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    const Shape& s = in[3]->shape;
    if (s.size() != 3 || op.key_heads == 0 || s[0] % Dim{op.key_heads} != 0) {
      return wrong(3, fmt::format("a state [heads, dk, dv], heads a multiple of {}", op.key_heads));
    }
    TOK_TRY(recurrent(3, s));
    const Dim columns = 2 * Dim{op.key_heads} * s[1] + s[0] * s[2];
    if (in[0]->shape[1] < columns) return wrong(0, fmt::format("at least {} columns", columns));
    if (in[1]->shape[0] != in[0]->shape[0] || in[1]->shape[1] < 2 * s[0]) {
      return wrong(1, fmt::format("as many rows, of at least {} columns", 2 * s[0]));
    }
    TOK_TRY(like(2, matrix(2, s[0])));
    return {{matrix(in[0]->shape[0], s[0] * s[2]), same_state(3)}};
  }
  Outputs operator()(const Columns& op) const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    if (op.count == 0 || Dim{op.first} + Dim{op.count} > in[0]->shape[1]) {
      return wrong(0, fmt::format("at least {} columns", Dim{op.first} + Dim{op.count}));
    }
    return {{matrix(in[0]->shape[0], op.count)}};
  }
  Outputs operator()(const GatherColumns&) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    if (in[1]->shape != Shape{in[0]->shape[1]} || in[1]->dtype != DType::kU32) {
      return wrong(1, fmt::format("u32[{}]", in[0]->shape[1]));
    }
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs row_of_each_slot() const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    return {{matrix(kOutputs, in[0]->shape[1])}};
  }
  Outputs operator()(const FirstRow&) const { return row_of_each_slot(); }
  Outputs operator()(const MeanRows&) const { return row_of_each_slot(); }
  Outputs operator()(const LastRow&) const { return row_of_each_slot(); }
  Outputs operator()(const BlockArgmax&) const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    return {{matrix(in[0]->shape[0], argmax_columns(in[0]->shape[1]))}};
  }
  Outputs operator()(const NextToken&) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    if (in[0]->shape[1] % 2 != 0) return wrong(0, "pairs of a value and a column");
    TOK_TRY(sampled(1, {in[1]->shape[0]}));
    return {{same_state(1)}};
  }
  Outputs operator()(const BlockMaxima&) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    TOK_TRY(sampled(1, {token_words(in[0]->shape[1])}, DType::kU32));
    return {{matrix(in[0]->shape[0], maxima_columns(in[0]->shape[1]))}};
  }
  Outputs operator()(const TopKBlocks&) const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    if (in[0]->shape[1] % 2 != 0 || in[0]->shape[1] > 2 * kMaxBlocks) {
      return wrong(0, fmt::format("a peak and a sum of at most {} blocks", kMaxBlocks));
    }
    return {{matrix(in[0]->shape[0], std::min(Dim{kTopK}, in[0]->shape[1] / 2))}};
  }
  Outputs operator()(const TopKTokens&) const {
    TOK_TRY(count(4, 4));
    TOK_TRY(activation(0));
    TOK_TRY(sampled(3, {token_words(in[0]->shape[1])}, DType::kU32));
    const Dim rows = in[0]->shape[0], columns = in[0]->shape[1], maxima = maxima_columns(columns);
    TOK_TRY(like(1, matrix(rows, maxima)));
    TOK_TRY(like(2, matrix(rows, std::min(Dim{kTopK}, maxima / 2))));
    return {{matrix(rows, 2 * std::min(Dim{kTopK}, columns) + 1)}};
  }
  Outputs operator()(const SampleToken&) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    const Dim columns = in[0]->shape[1];
    if (columns % 2 == 0 || columns > 2 * Dim{kTopK} + 1) return wrong(0, "a list of tokens");
    TOK_TRY(sampled(1, {in[1]->shape[0], columns + 1}));
    TOK_TRY(sampled(2, {in[2]->shape[0]}, DType::kU32));
    return {{same_state(1), same_state(2)}};
  }
  Outputs operator()(const SplitLinear& op) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(const Dim out, linear());
    if (op.parts == 0 || in[0]->shape[1] % Dim{op.parts} != 0) {
      return wrong(0, fmt::format("columns in {} parts", op.parts));
    }
    return {{matrix(in[0]->shape[0], Dim{op.parts} * out)}};
  }
  Outputs operator()(const Qkv& op) const {
    TOK_TRY(const Dim out, linear());
    const Dim rows = in[0]->shape[0], v_rows = op.v_rows;
    const Dim left = out - Dim{op.q_rows} - Dim{op.k_rows} - v_rows;
    if (op.q_rows == 0 || op.k_rows == 0 || left < (v_rows == 0 ? 0 : 1)) {
      return wrong(1, fmt::format("{} + {} + {} rows or more", op.q_rows, op.k_rows, v_rows));
    }
    std::vector<TensorDesc> outputs = {matrix(rows, op.q_rows), matrix(rows, op.k_rows)};
    if (v_rows > 0) outputs.push_back(matrix(rows, v_rows));
    if (left > 0) outputs.push_back(matrix(rows, left));
    return outputs;
  }
  Outputs operator()(const LinearGlu&) const {
    TOK_TRY(const Dim out, linear());
    if (out % 2 != 0) return wrong(1, "an even number of rows");
    return {{matrix(in[0]->shape[0], out / 2)}};
  }
  Result<void> prologue(const FusedLinear& op, Dim columns) const {
    const Dim given = in[0]->shape[1] / (are_sums(*in[0]) ? 2 : 1), splits = op.splits;
    if (are_sums(*in[0]) && op.looks_ahead()) return wrong(0, "f32[rows, columns]");
    if (op.prologue == Prologue::kMergeSplits) {
      if (splits < 2 || given <= splits * columns || (given - splits * columns) % (2 * splits)) {
        return wrong(0, fmt::format("at least 2 splits of {} columns and their totals", columns));
      }
    } else if (given != columns) {
      return wrong(1, fmt::format("a matrix [out, {}]", given));
    }
    if (op.adds()) TOK_TRY(like(op.a(), matrix(in[0]->shape[0], columns)));
    if (op.prologue == Prologue::kHeadNorm) {
      const Shape& w = in[op.w()]->shape;
      if (w.size() != 1 || columns % w[0] != 0) {
        return wrong(op.w(), fmt::format("f32[n] with n dividing {}", columns));
      }
    } else if (op.prologue == Prologue::kLayerNorm && in[op.w()]->shape == Shape{2 * columns}) {
      TOK_TRY(vector(op.w(), 2 * columns));
    } else if (op.norms()) {
      TOK_TRY(vector(op.w(), op.prologue == Prologue::kNormAddNorm ? 2 * columns : columns));
    }
    if (op.scaled && !op.adds()) return wrong(op.k(), "a sum to scale");
    if (op.scaled) TOK_TRY(vector(op.k(), 1));
    return op.gated ? gate(op, op.g(), columns) : Result<void>();
  }
  /// Columns `first` to `first + columns - 1` of an operand with the rows of operand 0.
  Result<void> gate(const FusedLinear& op, size_t operand, Dim columns) const {
    TOK_TRY(activation(operand));
    const Shape& shape = in[operand]->shape;
    if (shape[0] != in[0]->shape[0] || shape[1] < Dim{op.first} + columns) {
      return wrong(operand, fmt::format("{} columns from {} on", columns, op.first));
    }
    const bool other = op.epilogue == Epilogue::kGlu || op.epilogue == Epilogue::kGate ||
                       op.epilogue == Epilogue::kConv ||
                       op.norms() != (op.prologue == Prologue::kHeadNorm);
    if (op.gated && (op.first % 4 != 0 || other)) {
      return wrong(operand, "a gate that begins at a multiple of 4, without another activation");
    }
    return {};
  }
  /// The weight and the state of the convolution of an ending with `out` columns.
  Result<void> convolution(const FusedLinear& op, Dim out) const {
    const TensorDesc& w = *in[op.r()];
    if (w.shape.size() != 2 || w.shape[0] > out || w.shape[1] < 2 || w.dtype != DType::kF32 ||
        op.adds()) {
      return wrong(op.r(), fmt::format("f32[at most {}, at least 2] where there is no sum", out));
    }
    return recurrent(op.state(), {w.shape[1] - 1, w.shape[0]});
  }
  Outputs operator()(const FusedLinear& op) const {
    TOK_TRY(count(op.operands(), op.operands()));
    if (!are_sums(*in[0])) TOK_TRY(activation(0));
    const TensorDesc& w = *in[1];
    if (!is_matrix(w)) return wrong(1, "a matrix [out, in]");
    const Dim rows = in[0]->shape[0], out = w.shape[0];
    if (op.bias) TOK_TRY(vector(2, out));
    TOK_TRY(prologue(op, w.shape[1]));
    std::vector<TensorDesc> outputs = {matrix(rows, out)};
    switch (op.epilogue) {
      case Epilogue::kNone:
        break;
      case Epilogue::kGlu:
        if (out % 2 != 0) return wrong(1, "an even number of rows");
        outputs[0].shape[1] = out / 2;
        break;
      case Epilogue::kAdd:
        TOK_TRY(like(op.r(), are_sums(*in[op.r()]) ? sums(rows, out) : outputs[0]));
        break;
      case Epilogue::kArgmax:
        outputs[0].shape[1] = argmax_columns(out);
        break;
      case Epilogue::kGate:
        TOK_TRY(gate(op, op.r(), out));
        break;
      case Epilogue::kConv:
        TOK_TRY(convolution(op, out));
        break;
    }
    if (op.adds()) outputs.push_back(matrix(rows, w.shape[1]));
    if (op.epilogue == Epilogue::kConv) outputs.push_back(same_state(op.state()));
    if (op.clears) {
      if (op.epilogue != Epilogue::kNone && op.epilogue != Epilogue::kAdd) {
        return wrong(1, "the epilogue none or add where sums are cleared");
      }
      outputs.push_back(sums(rows, out));
    }
    return outputs;
  }
  Outputs operator()(const GatedFfn& op) const {
    TOK_TRY(count(op.sums() + 1, op.sums() + 1));
    if (!are_sums(*in[0])) TOK_TRY(activation(0));
    const TensorDesc &w = *in[1], &d = *in[op.d()];
    if (!is_matrix(w)) return wrong(1, "a matrix [out, in]");
    if (!is_matrix(d) || w.shape[0] != 2 * d.shape[1]) {
      return wrong(op.d(), fmt::format("a matrix [n, {}]", w.shape[0] / 2));
    }
    if (op.glu.epilogue != Epilogue::kGlu || op.glu.bias || op.glu.gated || op.glu.clears ||
        op.glu.looks_ahead()) {
      return wrong(0, "the x of a glu of whole rows, without a bias, a gate and sums to clear");
    }
    TOK_TRY(prologue(op.glu, w.shape[1]));
    if (op.adds_x && d.shape[0] != w.shape[1]) {
      return wrong(op.d(), fmt::format("{} rows, as x has columns", w.shape[1]));
    }
    std::vector<TensorDesc> outputs = {sums(in[0]->shape[0], d.shape[0])};
    TOK_TRY(like(op.sums(), outputs[0]));
    if (op.glu.adds()) outputs.push_back(matrix(in[0]->shape[0], w.shape[1]));
    return outputs;
  }
  Outputs operator()(const StepAttention& op) const {
    TOK_TRY(count(4, 5));
    TOK_TRY(activation(0));
    TOK_TRY(cache(2));
    TOK_TRY(pages(3));
    const Dim kv_heads = in[2]->shape[2], heads = op.heads;
    const Dim d = cached_head_dim(in[2]->dtype, in[2]->shape);
    const TensorDesc& table = *in[1];
    if (table.shape.size() != 2 || table.dtype != DType::kF32 || table.shape[1] > d ||
        table.shape[1] % 2 != 0 || table.shape[0] <= Dim{op.short_rows}) {
      return wrong(1, fmt::format("f32[more than {}, even and at most {}]", op.short_rows, d));
    }
    const Dim columns = (heads + (op.appends ? (op.k_is_v ? 1 : 2) * kv_heads : 0)) * d;
    const Dim all = in[0]->shape[1];
    if (op.parts == 0 || all % Dim{op.parts} != 0 || all / Dim{op.parts} < columns) {
      return wrong(0, fmt::format("at least {} columns in {} parts", columns, op.parts));
    }
    if (heads == 0 || heads % kv_heads != 0) {
      return wrong(0, fmt::format("heads, {}, a multiple of {}", heads, kv_heads));
    }
    if (in.size() == 5) TOK_TRY(vector(4, op.appends ? 2 * d : d));
    const Dim splits = op.splits;
    if (splits == 0) return wrong(0, "at least 1 split");
    std::vector<TensorDesc> outputs = {
        matrix(in[0]->shape[0], splits == 1 ? heads * d : splits * heads * (d + 2))};
    if (op.appends) outputs.push_back(same_state(2));
    return outputs;
  }
  Outputs operator()(const MergeSplits& op) const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    const Dim heads = op.heads, each = Dim{op.splits} * heads, all = in[0]->shape[1];
    if (heads == 0 || op.splits < 2 || all % each != 0 || all <= 2 * each) {
      return wrong(0, fmt::format("at least 2 splits of {} heads and their totals", heads));
    }
    return {{matrix(in[0]->shape[0], all / Dim{op.splits} - 2 * heads)}};
  }
  Outputs operator()(const RopeAppend& op) const {
    TOK_TRY(count(op.norms(), op.norms() + 1));
    TOK_TRY(activation(0));
    const Dim d = op.head_dim;
    if (op.heads == 0 || d <= 0 || d % op.kPart != 0 || d > op.kMaxHeadDim) {
      return wrong(0,
                   fmt::format("heads of a multiple of {}, at most {}", op.kPart, op.kMaxHeadDim));
    }
    const TensorDesc& angles = *in[op.kTable];
    if (angles.shape.size() != 2 || angles.dtype != DType::kF32 || angles.shape[1] > d ||
        angles.shape[1] % op.kPart != 0 || angles.shape[0] <= Dim{op.short_rows}) {
      return wrong(op.kTable, fmt::format("f32[more than {}, a multiple of {} up to {}]",
                                          op.short_rows, op.kPart, d));
    }
    Dim kv_heads = 0;
    if (op.appends) {
      TOK_TRY(cache(op.kCache));
      TOK_TRY(pages(op.kPages));
      kv_heads = in[op.kCache]->shape[2];
      if (cached_head_dim(in[op.kCache]->dtype, in[op.kCache]->shape) != d) {
        return wrong(op.kCache, fmt::format("a cache with heads of {}", d));
      }
    }
    const Dim columns = (Dim{op.heads} + (op.k_is_v ? 1 : 2) * kv_heads) * d;
    if (in[0]->shape[1] < columns || in[0]->shape[1] % 4 != 0) {
      return wrong(0, fmt::format("at least {} columns, a multiple of 4", columns));
    }
    if (in.size() > op.norms()) TOK_TRY(vector(op.norms(), op.appends ? 2 * d : d));
    const TensorDesc turned = matrix(in[0]->shape[0], Dim{op.heads} * d);
    if (!op.appends) return {{turned}};
    return {{turned, same_state(op.kCache)}};
  }
  Outputs operator()(const ExpertGlu& op) const {
    const size_t bias = op.norm ? 4 : 3, operands = op.bias ? bias + 1 : bias;
    TOK_TRY(count(operands, operands));
    TOK_TRY(activation(0));
    const TensorDesc &x = *in[0], &w = *in[1];
    TOK_TRY(choice(2, x));
    if (!is_matrix(w) || op.experts == 0 || w.shape[0] % (2 * Dim{op.experts}) != 0 ||
        x.shape[1] != w.shape[1]) {
      return wrong(1, fmt::format("a matrix [{} * 2 * n, {}]", op.experts, x.shape[1]));
    }
    if (op.norm) TOK_TRY(vector(3, x.shape[1]));
    if (op.bias) TOK_TRY(vector(bias, w.shape[0]));
    return {{matrix(x.shape[0], in[2]->shape[1] * (w.shape[0] / (2 * Dim{op.experts})))}};
  }
  Outputs operator()(const ExpertMix& op) const {
    const size_t added = op.bias ? 5 : 4;
    TOK_TRY(count(added, added + 1));
    TOK_TRY(activation(0));
    TOK_TRY(activation(3));
    const TensorDesc &x = *in[0], &w = *in[1];
    TOK_TRY(choice(2, x));
    if (!is_matrix(w) || op.experts == 0 || w.shape[0] % Dim{op.experts} != 0 ||
        x.shape[1] != w.shape[1] * in[2]->shape[1]) {
      return wrong(1, fmt::format("a matrix [{} * out, in] whose rows fit operand 0", op.experts));
    }
    if (in[3]->shape != in[2]->shape) return wrong(3, "a share of each choice");
    const TensorDesc out = matrix(x.shape[0], w.shape[0] / Dim{op.experts});
    if (op.bias) TOK_TRY(vector(4, w.shape[0]));
    if (in.size() > added) TOK_TRY(like(added, out));
    return {{out}};
  }
};

}  // namespace

Result<std::vector<TensorDesc>> infer_outputs(const Graph& graph, const Op& op,
                                              const std::vector<ValueId>& inputs) {
  std::vector<const TensorDesc*> operands;
  operands.reserve(inputs.size());
  for (const ValueId id : inputs) operands.push_back(&graph.at(id));
  return std::visit(Rule{{{{operands, op_name(op)}}}}, op);
}

}  // namespace tokamak
