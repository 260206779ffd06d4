// Vision towers: graphs that turn the patches of one image into rows of the text model's hidden
// states, and what the host must give them. One tower file per family in arch/.
//
// A tower has stages of two graphs each, since neighbouring patches become one row in between:
//   patches   [T patches] -> [T, hidden], in the order of image/patches.h, where patches that
//             become one row are neighbours
//   merge     [T rows, merge² hidden], the same numbers -> [T, out]
// Most have one stage. What the patches of another one give is also what those of the next begin
// with, and its rows are not put in place of tokens but added to hidden states after layers.
// The host gives each patch its position, as a row that is added to its embedding, and the angles
// by which its heads turn: both follow from where the patch is in its image, and from no weights
// but a table.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/tensor_file.h"
#include "graph/graph.h"
#include "model/config.h"
#include "model/model_builder.h"

namespace tokamak {

/// Inputs of the graphs of patches: pixels, the rows of positions, the angles and the spans of
/// windows, or what the stage before gave; and of the other.
inline constexpr std::string_view kPatchPixels = "pixels", kPatchPositions = "positions";
inline constexpr std::string_view kPatchSpans = "spans", kPatchStates = "states";
inline constexpr std::string_view kUnmerged = "unmerged";

/// Which frequencies turn by the time, the row and the column of a token (M-RoPE:
/// arXiv:2409.12191). Interleaved, as Qwen3-VL has them: i with i mod 3 = 1 and i < 3 rows turns by
/// the row, with 2 and i < 3 columns by the column, all others by the time. Otherwise the last
/// `columns` turn by the column, the `rows` before them by the row.
struct ImageAngles {
  RopeTable rope;
  uint32_t rows = 0, columns = 0;
  bool interleaved = true;
};

enum class PatchPositions : uint8_t {
  kSquare,  // a square of rows, mixed bilinearly for other grids
  kByAxis,  // rows for columns of patches, then as many for rows, of which two are added
  kNone,    // heads turn, and that is all
};

struct TowerStage {
  Graph patches, merge;
};

/// Words between the rows of an image that stand in lines, as in the image.
struct LineMarks {
  uint32_t longest = 0;   // pixels of the longer side, at most
  std::string line, end;  // after each line but the last, and after that one
};

/// An image that is cut into squares of the tower's size, each of which it sees by itself. After
/// them comes the image as a whole, made as small as one.
struct Tiles {
  uint32_t longest = 0;  // pixels of the longer side of an image before it is cut
  bool splits = true;    // otherwise there is the whole image alone
  uint32_t most = 1;     // squares of an image, the whole included
  /// Words before the rows of a square, where "{row}" and "{column}" are its place from 1 on; after
  /// each line of squares, and once more after the last; before the rows of the whole, and after
  /// them.
  std::string tile, line, whole, end;
};

struct VisionTower {
  /// The rows of the last one stand in place of tokens; those of stage i before it are added after
  /// layer i of the text.
  std::vector<TowerStage> stages;
  uint32_t max_patches = 0;
  /// Most rows of what the tower sees at once, and of an image.
  uint32_t max_rows() const { return max_patches / (side * side); }
  uint32_t max_image_rows() const;
  uint32_t patch = 16;  // pixels of a side
  uint32_t frames = 1;  // how often a patch repeats its pixels
  uint32_t side = 2;    // of the squares of patches that become one row
  uint32_t head_dim = 0;
  uint32_t window = 0;  // rows of the tower in a side of the squares that blocks see; 0: none
  bool channels_last = false;    // of the pixels of a patch
  bool clip_colours = false;     // are normed as CLIP's without a file's numbers
  uint32_t min_pixels = 65'536;  // of an image, likewise
  uint32_t image_side = 0;       // pixels, of all images; 0: they keep their shape
  bool keeps_ratio = false;      // and are cut or padded to a square, and not stretched
  bool fills_tokens = false;     // and are brought to as many tokens as a budget allows
  TensorDesc positions;          // a table of rows, read by the host; nothing for kNone
  PatchPositions positions_are = PatchPositions::kSquare;
  /// A row before those of the patches that becomes no row of the text; its position is the table's
  /// first row. Set: a class token.
  std::optional<TensorDesc> class_row;
  uint32_t tower_rows() const { return max_patches + (class_row ? 1 : 0); }
  std::optional<double> angle_base;     // of angles by row and column; none: heads do not turn
  bool columns_first = false;           // the first half of the frequencies is the column's
  bool alternates = false;              // rows and columns turn by every other frequency each
  std::vector<std::string> transposed;  // matrices that are stored [in, out]
  /// Matrices of joined patches whose columns have each channel of all patches in turn.
  std::vector<std::string> by_channel;
  /// Whether the text's rows of an image see all of it, and whether only where layers see a window.
  bool sees_whole_images = false, only_in_windows = false;
  std::optional<ImageAngles> angles;  // of the text's tokens; none: they count on as text does
  uint32_t placeholder = 0;           // the token that a prompt has for each row
  std::string words;                  // what stands for an image in a prompt
  std::string template_word;          // what templates write in place of that; "": the same
  /// Words between the rows of an image, and how it is cut for them.
  std::variant<std::monostate, LineMarks, Tiles> parts;
};

inline uint32_t VisionTower::max_image_rows() const {
  const Tiles* tiles = std::get_if<Tiles>(&parts);
  return max_rows() * (tiles == nullptr ? 1 : tiles->most);
}

struct TowerBuild {
  uint64_t pixels = 0;              // most of an image
  DType kv_dtype = DType::kF32;     // of the keys and values, of which there are no q8
  const Json* processor = nullptr;  // preprocessor_config.json, where there is one
};

/// The part that the towers' files share when they write their graphs.
class VisionBuilder : public ModelBuilder {
 public:
  /// REQUIRES: the file outlives the builder. `prefix` stands before the tower's tensors; `patches`
  /// is the most that an image may have.
  VisionBuilder(const TensorFile& file, std::string prefix, uint32_t patches,
                DType kv_dtype = DType::kF32);

  /// The convolution that cuts an image into patches, as a product: pixels [T, columns] -> [T,
  /// rows].
  ValueId embedded_patches(std::string_view name, uint32_t rows, uint32_t columns, bool bias);
  /// The mean of the `count` patches that become one row: [T, count size] -> [T, size].
  ValueId averaged(uint32_t count, uint32_t size);
  /// Plus the rows that the host gives.
  ValueId with_positions(ValueId x);
  ValueId norm(ValueId x, std::string_view name, float eps);
  /// Turns the heads of x by the angles that the host gives.
  ValueId turned(ValueId x, uint32_t head_dim);
  /// Every patch sees all others, or those of its window. q, k, v: [T, heads head_dim].
  ValueId attention_both_ways(ValueId q, ValueId k, ValueId v, uint32_t head_dim, float scale,
                              bool in_windows = false);

 private:
  uint32_t patches_;
  DType kv_dtype_;
  std::string prefix_;
  struct Cache {
    ValueId cells = {}, pages = {};
  };
  std::optional<Cache> cache_;
  std::optional<ValueId> angles_, pixels_, spans_;
};

/// Most patches of images of that many pixels; as many as make a row are fewest.
inline uint32_t patches_of_pixels(uint64_t pixels, uint32_t patch, uint32_t side) {
  return uint32_t(std::max<uint64_t>(pixels / (uint64_t{patch} * patch), uint64_t{side} * side));
}

/// The table of positions as a constant f32 [rows, columns], whatever type the tensor has. An error
/// where there is no such tensor.
Result<TensorDesc> position_table(const TensorFile& file, const std::string& name, uint32_t rows,
                                  uint32_t columns);

}  // namespace tokamak
