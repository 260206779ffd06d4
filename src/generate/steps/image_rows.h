// ImageRows: the images that prompts name, by token ids beyond the vocabulary.
//
// An image's rows are hidden states for the text model, made by its tower. Each has an id of its
// own, vocab + n, that no other content gets within an epoch: so prompts with images are lists of
// ids like all others, and what is kept of them is found again by these. On the device row n is n
// modulo the capacity; the host keeps the rows and writes them before a step that reads them. Ids
// are there before the rows: where all of an image is in shared pages, its tower never runs.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.h"

namespace tokamak {

/// The place of a token for its rotation (M-RoPE); for text all three are the same.
struct TokenPlace {
  uint32_t time = 0, row = 0, column = 0;
};

/// Ids of the vocabulary that a prompt has before some rows of an image, or after the last.
struct ImagePart {
  std::vector<uint32_t> before;
  uint32_t rows = 0;
};

/// An image of prompts: its ids, and the rows that its tower makes, before the first step that
/// reads of them. A request that is cancelled while it waits has none made.
struct PromptImage {
  using Encode = std::function<Result<std::vector<float>>()>;

  uint64_t number = 0;  // of all images, in any epoch
  uint32_t epoch = 0;   // that its ids are of
  uint32_t first_id = 0;
  uint32_t rows = 0, columns = 0;     // of its tokens, from left to right and from top to bottom
  std::vector<ImagePart> parts;       // all of its rows; empty: nothing stands between them
  mutable Encode encode;              // makes the values; null: they are there
  mutable std::vector<float> values;  // [rows columns, hidden], for each place where rows go

  uint32_t tokens() const { return rows * columns; }
  /// Its ids in a prompt, with those of the vocabulary that belong to it.
  std::vector<uint32_t> ids() const;
  bool has(uint32_t id) const { return id - first_id < tokens(); }
};

/// It lives as long as somebody has it, whatever else is encoded.
using ImageRef = std::shared_ptr<const PromptImage>;

class ImageRows {
 public:
  /// Writes the angles of a place, as a row of a rotary table.
  using WriteAngles = std::function<void(const TokenPlace&, std::span<float>)>;

  /// Ids begin at `vocab`. Without `angles` the tokens of images count on as those of text do. An
  /// image whose rows see all of it `needs_whole` steps: one that has its first row has all.
  /// REQUIRES: the plan has a buffer for rows of images; those of rows that are added after layers
  /// have its name with ".N", and follow in that order.
  ImageRows(const Plan& plan, uint32_t vocab, WriteAngles angles, bool needs_whole = false);

  uint32_t capacity() const { return capacity_; }
  bool has_places() const { return angles_ != nullptr; }
  bool needs_whole() const { return needs_whole_; }
  /// Counts how often ids began again, as they do after some billions: ids of one epoch name no
  /// images of another.
  uint32_t epoch() const { return epoch_; }

  /// An image of that many tokens, whose rows `encode` makes. REQUIRES: no more than the capacity.
  /// `parts` have as many rows, or are none.
  ImageRef add(uint32_t rows, uint32_t columns, PromptImage::Encode encode,
               std::vector<ImagePart> parts = {});
  /// Runs its tower where that has not been done, which waits for it.
  Result<void> encode(const PromptImage& image) const;
  /// The image that has this id; null when there is none, or not any more: the newest are kept, and
  /// those that somebody has.
  ImageRef find(uint32_t id) const;

  /// Before a step that reads of the image: encodes it, and writes its rows where the device does
  /// not hold them.
  Result<void> upload(Program& program, const PromptImage& image);
  /// The device holds nothing any more.
  void forget_device() { on_device_.clear(); }
  /// REQUIRES: has_places().
  void write_angles(const TokenPlace& place, std::span<float> out) const { angles_(place, out); }

 private:
  uint32_t first_row(uint32_t first_id) const { return (first_id - vocab_) % capacity_; }

  struct OnDevice {
    uint64_t number;
    uint32_t first, count;  // of its rows
  };

  uint32_t vocab_, capacity_ = 0, width_ = 0;
  std::vector<BufferId> buffers_;
  WriteAngles angles_;
  bool needs_whole_;
  uint64_t images_added_ = 0;
  uint32_t next_id_, epoch_ = 0;
  std::deque<ImageRef> images_;  // by id
  std::vector<OnDevice> on_device_;
};

/// The places of a sequence's tokens. An image's tokens share a time and stand in rows and columns
/// from there on; the text after it goes on after the larger of both. Has the images.
class TokenPlaces {
 public:
  TokenPlaces() = default;
  /// REQUIRES: `rows` is null or knows all ids beyond the vocabulary.
  TokenPlaces(std::span<const uint32_t> ids, const ImageRows* rows);
  /// The same where the images are at hand, of which the ids name whole ones.
  TokenPlaces(std::span<const uint32_t> ids, const ImageRows& rows,
              std::span<const ImageRef> images);

  /// The first image that `count` tokens from `first` on have something of; null: they are text.
  const PromptImage* image(uint32_t first, uint32_t count) const;
  /// How many tokens from `first` on a step takes: `count`, or fewer that have of one image at
  /// most, of none where it `has_image` already. Where images need whole steps, as many more as
  /// these take, up to `most`; 0: they are more.
  uint32_t step_tokens(uint32_t first, uint32_t count, uint32_t most, bool has_image = false) const;
  /// Whether a step may end in front of the token.
  bool can_part(uint32_t index) const;
  /// The end of the image that the token is of; 0 for text.
  uint32_t end(uint32_t index) const;
  /// The number added to the index of a token that is text.
  uint32_t shift(uint32_t index) const;
  TokenPlace place(uint32_t index) const;

 private:
  /// Rows of an image that follow each other: all of them, where it has no parts.
  struct Span {
    ImageRef image;
    uint32_t first, count;
    uint32_t start;  // the time
    uint32_t shift;  // of the text after it

    uint32_t end() const { return first + count; }
  };
  void find_spans(std::span<const uint32_t> ids, const ImageRows& rows,
                  const std::function<ImageRef(uint32_t id)>& find);
  const Span* before(uint32_t index) const;  // the last that begins at `index` or before it

  std::vector<Span> spans_;
  bool needs_whole_ = false;
};

}  // namespace tokamak
