// ModelBuilder: what the architectures share when they write their graph: weights looked up in the
// checkpoint, rotary tables, the cache and the page tables of each layer.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "graph/builder.h"
#include "model/embedding_head.h"
#include "model/quantization.h"
#include "model/stored_matrix.h"

namespace tokamak {

/// Inputs of graphs that read images: the rows that tokens beyond the vocabulary name, those that
/// are added after layer i under that name with ".i", and the angles of each row of a step, d/2
/// cosines, then d/2 sines, or up to where it sees.
inline constexpr std::string_view kImageRows = "image_rows", kAngles = "angles", kEnds = "ends";

struct BuildOptions {
  uint32_t context = 2048;   // positions a sequence may have
  uint32_t chunk = 512;      // most tokens in one step
  uint32_t sequences = 1;    // that are held at once
  uint32_t cache_pages = 0;  // of layers that see everything, for all of them; 0: a context each
  DType kv_dtype = DType::kF32;
  bool all_logits = false;  // logits of every token of the step, not only of the last
  std::optional<EmbeddingHead> embedding;  // ends in this instead of logits
  uint32_t image_rows = 0;                 // that token ids beyond the vocabulary name; 0: none
  uint32_t image_layers = 0;  // the first layers, after which rows of images are added to theirs
  bool own_angles = false;    // the host gives the angles of each row, as those of images need
  bool own_ends = false;      // and up to where it sees, as images that see all of themselves need
  bool own_ends_in_windows = false;  // the same, but only where layers see a window
  Quantization quantization;
  std::optional<DType> quantize;  // what matrices of floats become: kQ8_0 or kQ4_0
};

class ModelBuilder : public GraphBuilder {
 public:
  /// REQUIRES: both outlive the builder. `prefix` stands in the checkpoint before "layers.0...".
  ModelBuilder(const TensorFile& file, const BuildOptions& options, std::string prefix);

  /// A matrix [rows, columns] in the checkpoint's own element type or packing. `name` is without
  /// the prefix; one with a folder is whole, and so is what follows a '/' in front. An error when
  /// its columns are in another order: those go with projection().
  ValueId matrix(std::string_view name, uint32_t rows, uint32_t columns);
  /// Some rows of a matrix that has more: several matrices stored in one.
  struct Rows {
    uint32_t first, count, of;
    bool alternate = false;   // the file has the two halves of `of` row by row
    bool transposed = false;  // the file has [columns, rows] of each; for stacked()
  };
  ValueId matrix(std::string_view name, Rows rows, uint32_t columns);
  /// Rows from several places make one matrix, one after another.
  struct Piece {
    std::string tensor;
    Rows rows;
  };
  /// The same rows of each matrix in a tensor [count, rows.of, columns], one after another.
  ValueId stacked(std::string_view name, uint32_t count, Rows rows, uint32_t columns);
  /// Whether the checkpoint has each matrix of a tensor for stacked() as [columns, rows].
  bool has_transposed(std::string_view name, uint32_t columns) const;
  /// Their biases, in a tensor [count, rows.of]: f32 [count * rows.count].
  ValueId stacked_biases(std::string_view name, uint32_t count, Rows rows);
  /// The pieces as one matrix; `name` is its own.
  ValueId matrix(std::string_view name, const std::vector<Piece>& pieces, uint32_t columns);
  /// A matrix in its own float type from a tensor of any number of dimensions.
  ValueId flat_matrix(std::string_view name, uint32_t rows, uint32_t columns);
  /// A row of a table of floats, as f32 [1, columns].
  ValueId table_row(std::string_view name, uint32_t row, uint32_t columns);
  /// Pieces of a vector in f32, one after another. `name` is the value's alone: constants of one
  /// name are one.
  ValueId pieces_of_vector(std::string_view name, std::string_view tensor,
                           const std::vector<Rows>& pieces);
  /// A vector [size] in f32, times `factor`; `add_one` for norms stored as w - 1.
  ValueId vector(std::string_view name, uint32_t size, bool add_one = false, float factor = 1);
  ValueId vector(std::string_view name, Rows rows);
  /// Vectors of [size] as the rows of f32 [vectors, size]; `name` is the value's own.
  ValueId vectors(std::string_view name, const std::vector<std::string>& tensors, uint32_t size);
  /// A vector [size] whose elements are all that number.
  ValueId filled(float value, uint32_t size);
  /// A norm that has no weight.
  ValueId plain_norm(ValueId x, uint32_t size, float eps);
  /// A layer norm with the tensors name + ".weight" and, where `bias`, name + ".bias".
  ValueId normed(ValueId x, std::string_view name, float eps, bool bias = true);
  /// x plus the rows of the table [rows, columns] for the tokens' positions; the first is `offset`.
  ValueId with_positions(ValueId x, std::string_view name, uint32_t rows, uint32_t offset);
  /// Rows of a matrix [of, columns], each as often as it is listed, in f32; `key` names the value.
  ValueId listed_rows(std::string_view key, std::string_view name, uint32_t of, uint32_t columns,
                      const std::vector<uint32_t>& rows);
  /// x Wᵀ (+ bias) with the tensors name + ".weight" and, where `bias`, name + ".bias".
  ValueId projection(ValueId x, std::string_view name, uint32_t rows, bool bias = false);
  ValueId projection(ValueId x, std::string_view name, Rows rows, bool bias = false);
  /// The same, where neighbours within each of `heads` heads turn together: they come to stand half
  /// a head apart, as rotate() turns them.
  ValueId pairs_projection(ValueId x, std::string_view name, uint32_t rows, uint32_t heads);
  /// `name` is the matrix's own.
  ValueId projection(ValueId x, std::string_view name, const std::vector<Piece>& pieces,
                     std::optional<ValueId> bias = {});
  /// The products of the experts that each token chose; `pieces` has the matrix of each expert.
  ValueId expert_projection(ValueId x, std::string_view name, const std::vector<Piece>& pieces,
                            uint32_t columns, ValueId chosen, std::optional<ValueId> bias = {});

  /// A causal convolution of each column of x by itself, with the state of `layer`. The weights are
  /// name + ".weight" [columns, 1, taps] and, where `bias`, name + ".bias". The weights of the
  /// first columns are times the first of `factors`, unless there are none, and so on.
  struct Factor {
    uint32_t rows;
    float value;
  };
  ValueId convolution(uint32_t layer, ValueId x, std::string_view name, uint32_t taps,
                      Activation activation, bool bias = false,
                      const std::vector<Factor>& factors = {});

  ValueId token_ids();
  /// The rows of `table` for the step's tokens, times `scale`, and those of images, as they are.
  ValueId embedded(ValueId table, float scale = 1);
  /// x after `layer`, plus the rows that the tokens of images have there. REQUIRES: embedded().
  ValueId with_image_rows(uint32_t layer, ValueId x);
  /// The input kTokenTypes.
  ValueId token_types();
  /// The table of `rope`, made once per `name`.
  ValueId rotate(ValueId x, uint32_t head_dim, const RopeTable& rope, std::string_view name);
  /// By the angles that the host gives of each row, under that name: `columns` of them.
  ValueId rotate_by_row(ValueId x, uint32_t head_dim, std::string_view name, uint32_t columns);

  /// Appends k and v to the cache of `layer` and attends. q: [T, heads * head_dim], k and v:
  /// [T, kv_heads * head_dim] -> [T, heads * head_dim]. `bias`: as of Attention. Called again for
  /// a layer it overwrites what that cache has of these positions.
  ValueId cached_attention(uint32_t layer, ValueId q, ValueId k, ValueId v, uint32_t kv_heads,
                           uint32_t head_dim, const Attention& attributes,
                           std::optional<ValueId> bias = {});
  /// Appends what each position has for all heads to the cache of `layer`, [T, rank] and [T, d],
  /// and attends: by [T, heads * rank] and [T, heads * d] -> [T, heads * rank].
  struct Latents {
    ValueId latent, turned;
  };
  ValueId latent_attention(uint32_t layer, const Latents& rows, ValueId latent_query,
                           ValueId turned_query, float scale);
  /// Attends to the cache of an earlier layer, which has that layer's window, and adds nothing.
  /// REQUIRES: cached_attention() was called for `layer`.
  ValueId shared_attention(uint32_t layer, ValueId q, const Attention& attributes);

  /// The rows the head sees: the last one, or all.
  ValueId output_rows(ValueId x) {
    const bool last =
        options_.embedding ? options_.embedding->pooling == Pooling::kLast : !options_.all_logits;
    return last ? last_row(x) : x;
  }
  /// True when the graph ends in finish_embedding() of those rows, normed, instead of logits.
  bool reads_images() const { return options_.image_rows > 0; }
  bool embeds() const { return options_.embedding.has_value(); }
  /// Pools the rows and applies the dense layers: [O, dimensions]. x: the normed output_rows().
  Result<Graph> finish_embedding(ValueId x);
  /// Finishes the graph with logits or scores: an error where an embedding is wanted.
  Result<Graph> finish_logits(ValueId logits);

  /// True when the checkpoint has the tensor, whose name is as for matrix().
  bool has(std::string_view name) const;

 private:
  std::string full_name(std::string_view name) const;
  /// Up to where rows see in layers of that window; none where that follows from their positions.
  std::optional<ValueId> ends(uint32_t window);
  /// The matrix, and the constant with the order of its columns where they have one.
  struct Ordered {
    ValueId matrix = {};
    std::optional<ValueId> order;
  };
  /// How a matrix lies in the checkpoint, as far as its constant tells.
  struct Located {
    DType dtype = DType::kBF16;  // after a mistake
    uint32_t rope_heads = 0, turned = 0;
    bool transposed = false;
    const TensorInfo* groups = nullptr;
  };
  Located located(const std::string& full, uint32_t rows, uint32_t columns);
  Ordered ordered_matrix(std::string_view name, Rows rows, uint32_t columns);
  /// The constant with the columns' order of each matrix, null for one in its own. `shape`: of the
  /// constant. Made once for neighbours that agree.
  using Groups = std::vector<const TensorInfo*>;
  ValueId column_order(std::string_view name, const Groups& groups, Shape shape);
  std::optional<ValueId> column_order(const TensorInfo* groups, uint32_t columns);
  bool same_groups(const Groups& a, const Groups& b) const;
  /// `x` as the columns of `w` want it; made once for all matrices of one order.
  ValueId in_order_of(ValueId x, const Ordered& w);
  Result<DType> device_dtype(const StoredMatrix& stored) const;
  struct Joined {
    ValueId matrix;
    Groups groups;  // of each piece
  };
  Joined join(std::string_view name, const std::vector<Piece>& pieces, uint32_t columns);
  Ordered joined(std::string_view name, const std::vector<Piece>& pieces, uint32_t columns);
  /// The matrix of `w`, whose columns must be in their own order.
  ValueId in_own_order(std::string_view name, const Ordered& w);
  /// The tensor of a matrix of floats; null after a mistake.
  const TensorInfo* stored_floats(const std::string& full, uint32_t rows, uint32_t columns);
  /// The tensor of a vector; null after a mistake.
  const TensorInfo* stored_vector(const std::string& full, uint32_t size);

  const TensorFile& file_;
  BuildOptions options_;
  std::string prefix_;
  std::optional<ValueId> tokens_, token_table_;
  std::map<std::string, ValueId, std::less<>> made_;
  std::map<ValueId, ValueId> order_of_;  // matrix -> order of its columns
  struct Order {
    Groups groups;
    Shape shape;
    ValueId constant;
  };
  std::vector<Order> orders_;
  std::map<std::pair<ValueId, ValueId>, ValueId> gathered_;  // x and order -> x in that order
  struct Cache {
    ValueId appended, pages;
  };
  std::map<uint32_t, Cache> caches_;  // by layer
};

}  // namespace tokamak
