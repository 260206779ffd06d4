// The graph: values and the nodes that make them, in topological order.
//
// Values are numbers into Graph::values; names are for people. A value is one of
//   input       what the host writes each step: token ids, page tables
//   constant    weights and tables, with the recipe that makes them from a checkpoint
//   state       what lives from step to step: the KV cache of a layer
//   activation  made by a node and gone after the step
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "graph/ops.h"
#include "graph/rank_cut.h"
#include "graph/state.h"

namespace tokamak {

/// Tokens in a KV cache page.
inline constexpr uint32_t kPageTokens = 16;

/// A dimension: a size, or a symbol: T, the tokens in this step, and O, those of its rows whose
/// results are wanted (LastRow).
using Dim = int64_t;
inline constexpr Dim kTokens = -1, kOutputs = -2;
using Shape = std::vector<Dim>;

enum class ValueId : uint32_t {};

enum class Storage : uint8_t { kInput, kConstant, kState, kActivation };

/// How a weight's rows are put together from tensors of the checkpoint.
enum class RowOrder : uint8_t { kPlain, kConcat, kInterleave };

/// A checkpoint tensor, or `rows` of it from `first_row` on: some checkpoints store several
/// matrices in one.
///
/// With rope_heads, the tensor's rows are that many heads of d each, and the file has the two
/// halves of a head row by row: row h d + a d/2 + i of the matrix is row h d + 2 i + a of the file.
/// That is how llama.cpp stores what it rotates in pairs of neighbours (its convert_hf_to_gguf.py).
/// With `turned` only that number of rows of each head are in that order, the last ones.
///
/// Parts of a concat may be of different types: the matrix is f32 then, and every part says what it
/// is by itself, how many rows it has, and that is an even number. A plan cuts such a matrix where
/// the type changes, and holds each piece as it is.
struct WeightPart {
  // Implicit: most parts are a name.
  WeightPart(const char* tensor) : name(tensor) {}
  WeightPart(std::string tensor, uint32_t first = 0, uint32_t count = 0)
      : name(std::move(tensor)), first_row(first), rows(count) {}

  std::string name;
  uint32_t first_row = 0;
  uint32_t rows = 0;  // 0: all
  uint32_t rope_heads = 0;
  uint32_t turned = 0;      // 0: all of a head
  bool transposed = false;  // the tensor is [in, out]
  std::optional<DType> dtype = std::nullopt;
  float factor = 1;  // of what is read as f32
  /// Not whole: the rows are those of a rank, from its row `cut_row` on; cut.first() counts from
  /// first_row.
  RankCut cut = {};
  uint32_t cut_row = 0;
  uint32_t zeros = 0;  // the number of the rows, the last ones, that are zeros and not in the file
  bool operator==(const WeightPart&) const = default;
};

/// Some columns of the tensors of a weight; zeros follow as far as the constant has more.
struct ColumnRange {
  uint32_t first = 0, count = 0;
  uint32_t whole = 0;  // of the tensors; 0: all of them are meant
  bool operator==(const ColumnRange&) const = default;
};

/// Rows of one or more checkpoint tensors. `add_one`: 1 + w, as Gemma's norms store it.
struct Weight {
  std::vector<WeightPart> parts;
  RowOrder order = RowOrder::kPlain;
  bool add_one = false;
  RankCut column_cut = {};  // not whole: the columns are those of a rank
  ColumnRange columns = {};
  bool operator==(const Weight&) const = default;
};

/// Row p: factor * cos(p * inverse_frequencies[i]) for all i, then factor * sin(...).
///
/// With short_rows, sequences of at most that many tokens turn by short_frequencies instead: that
/// many rows for them come first, and the rows of longer sequences, from position 0 on, follow.
struct RopeTable {
  std::vector<float> inverse_frequencies;
  float factor = 1;
  uint32_t short_rows = 0;
  std::vector<float> short_frequencies;
  bool operator==(const RopeTable&) const = default;
};

/// The content of `rows` rows of a table, from row `first` on: rows * 2 * frequencies floats.
std::vector<float> rope_table(const RopeTable& recipe, uint32_t rows, uint32_t first = 0);

/// Row r of 2 R + 1: -slopes[h] * |r - R| for every head h, which lowers the scores of keys by
/// their distance (ALiBi, arXiv:2108.12409).
struct Slopes {
  std::vector<float> slopes;
  bool operator==(const Slopes&) const = default;
};

/// The content of `count` of its `rows` rows, from row `first` on.
std::vector<float> slope_table(const Slopes& recipe, uint32_t rows, uint32_t count,
                               uint32_t first = 0);

/// Every element is `value`: the weight of a norm that has none, or whose weight is a number.
struct Fill {
  float value = 1;
  bool operator==(const Fill&) const = default;
};

/// The columns of each matrix by the group of weights they belong to, and by number within one: u32
/// [columns] of one matrix, else [matrices, columns]. `groups` are the checkpoint tensors that have
/// the group of each column; "": as they are.
struct ColumnOrder {
  std::vector<std::string> groups;
  bool operator==(const ColumnOrder&) const = default;
};

/// Rows of f32 that the checkpoint has as directions and their lengths (arXiv:1602.07868): row i is
/// magnitude[i] v / |v| of row v of `direction`.
struct WeightNorm {
  std::string magnitude, direction;
  bool operator==(const WeightNorm&) const = default;
};

/// Rows of one matrix of one adapter, or of none.
struct LoraPart {
  std::string tensor;  // "": there is none, all rows are zeros
  uint32_t first_row = 0;
  uint32_t rows = 0;   // of the constant
  float factor = 1;    // of all values
  RankCut cut = {};    // as of WeightPart
  uint32_t zeros = 0;  // the number of the rows, the last ones, that are zeros
  bool operator==(const LoraPart&) const = default;
};

/// Matrices of several adapters, one after another. Where a tensor has fewer rows or columns than
/// its part, zeros follow.
struct LoraStack {
  std::vector<LoraPart> parts;
  RankCut column_cut = {};  // as of Weight
  ColumnRange columns = {};
  bool operator==(const LoraStack&) const = default;
};

using Recipe = std::variant<std::monostate, Weight, RopeTable, Fill, ColumnOrder, WeightNorm,
                            LoraStack, Slopes>;

struct TensorDesc {
  std::string name;
  Shape shape;
  DType dtype = DType::kF32;
  Storage storage = Storage::kActivation;
  Recipe recipe;        // constants only
  uint32_t window = 0;  // rings and page tables: the sliding window they serve; 0: none
  std::optional<StateSpec> state = {};  // states only
  bool operator==(const TensorDesc&) const = default;
};

struct Node {
  Op op;
  std::vector<ValueId> inputs, outputs;
  bool operator==(const Node&) const = default;
};

struct Graph {
  std::vector<TensorDesc> values;
  std::vector<Node> nodes;
  ValueId result = {};

  const TensorDesc& at(ValueId id) const { return values[uint32_t(id)]; }
  TensorDesc& at(ValueId id) { return values[uint32_t(id)]; }
};

/// The number of elements with T = `tokens` and O = `outputs`.
uint64_t element_count(const Shape& shape, uint64_t tokens, uint64_t outputs = 1);
/// Bytes of a tensor of this type, packed or not.
uint64_t byte_count(DType dtype, const Shape& shape, uint64_t tokens, uint64_t outputs = 1);
uint64_t byte_count(const TensorDesc& tensor, uint64_t tokens, uint64_t outputs = 1);

/// The operand of `node` that it changes in place and gives as that output: the states among its
/// outputs are, in their order, the first ones among its operands. Nothing for most outputs.
std::optional<size_t> changed_state(const Graph& graph, const Node& node, size_t output);

/// The operand of `op` that its first output takes the place of, since it adds to it. Nothing for
/// most ops.
std::optional<size_t> added_to(const Op& op);

/// "f32[T,64]"
std::string type_text(const TensorDesc& tensor);

/// The output descriptions of `op` on these values; names are left empty. This is the op's shape
/// rule. Errors name the op, the operand, what it is and what it must be.
Result<std::vector<TensorDesc>> infer_outputs(const Graph& graph, const Op& op,
                                              const std::vector<ValueId>& inputs);

/// Checks everything a later stage relies on: ids in range, each value made once and before it is
/// used, shapes as the rules say, states declared and appended at most once, a result.
Result<void> verify(const Graph& graph);

/// Drops nodes, constants, inputs and states that nothing uses, and renumbers.
void remove_unused(Graph& graph);

}  // namespace tokamak
