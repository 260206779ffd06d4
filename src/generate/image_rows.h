// ImageRows: the images that prompts name, by token ids beyond the vocabulary.
//
// An image's rows are hidden states for the text model, made by its tower. Each has an id of its
// own, vocab + n, that no other content ever gets: so prompts with images are lists of ids like all
// others, and what is kept of them is found again by these. On the device row n is n modulo the
// capacity; the host keeps the rows and writes them before a step that reads them.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.h"

namespace tokamak {

/// Where a token stands for its rotation (M-RoPE); for text all three are the same.
struct TokenPlace {
  uint32_t time = 0, row = 0, column = 0;
};

class ImageRows {
 public:
  struct Named {
    uint32_t first_id = 0;
    uint32_t rows = 0, columns = 0;  // of its tokens, from left to right and from top to bottom
    uint32_t tokens() const { return rows * columns; }
  };

  /// Writes the angles of a place, as a row of a rotary table.
  using WriteAngles = std::function<void(const TokenPlace&, std::span<float>)>;

  /// Ids begin at `vocab`. Without `angles` the tokens of images count on as those of text do. An
  /// image whose rows see all of it `needs_whole` steps: one that has its first row has all.
  /// REQUIRES: the plan has a buffer for rows of images.
  ImageRows(const Plan& plan, uint32_t vocab, WriteAngles angles, bool needs_whole = false);

  uint32_t capacity() const { return capacity_; }
  bool has_places() const { return angles_ != nullptr; }
  bool needs_whole() const { return needs_whole_; }

  /// Takes the rows of an image, [rows columns, hidden]. REQUIRES: no more than the capacity.
  Named add(uint32_t rows, uint32_t columns, std::vector<float> values);
  /// The image that has this id; null when there is none, or not any more.
  const Named* find(uint32_t id) const;

  /// The rows of that image. REQUIRES: it is kept.
  std::span<const float> values(uint32_t first_id) const;

  /// Before a step: writes what it reads of images and the device does not hold. An error where an
  /// image is not kept any more. REQUIRES: the ids are of one image and of text.
  Result<void> bring(Program& program, std::span<const uint32_t> ids);
  /// The device holds nothing any more.
  void forget_device();
  /// REQUIRES: has_places().
  void write_angles(const TokenPlace& place, std::span<float> out) const { angles_(place, out); }

 private:
  struct Kept {
    Named named;
    std::vector<float> values;
    bool is_on_device = false;
  };
  const Kept* kept(uint32_t id) const;
  uint32_t first_row(const Kept& image) const {
    return (image.named.first_id - vocab_) % capacity_;
  }

  uint32_t vocab_, capacity_ = 0, width_ = 0;
  BufferId buffer_ = {};
  WriteAngles angles_;
  bool needs_whole_;
  uint32_t next_id_;
  std::deque<Kept> images_;  // by id
};

/// Where the tokens of a sequence stand. An image's tokens share a time and stand in rows and
/// columns from there on; the text after it goes on after the larger of both.
class TokenPlaces {
 public:
  TokenPlaces() = default;
  /// REQUIRES: `images` is null or knows all ids beyond the vocabulary.
  TokenPlaces(std::span<const uint32_t> ids, const ImageRows* images);

  /// Whether some of `count` tokens from `first` on are an image's.
  bool has_image(uint32_t first, uint32_t count) const;
  /// As many of `count` tokens from `first` on as have no more than one image among them, and where
  /// images need whole steps, no beginning of one.
  uint32_t step_tokens(uint32_t first, uint32_t count) const;
  /// Where the image ends that the token is of; 0 for text.
  uint32_t end(uint32_t index) const;
  /// What is added to the index of a token that is text.
  uint32_t shift(uint32_t index) const;
  TokenPlace place(uint32_t index) const;

 private:
  struct Span {
    uint32_t first, count, columns;
    uint32_t start;  // the time
    uint32_t shift;  // of the text after it
  };
  const Span* before(uint32_t index) const;  // the last that begins at `index` or before it

  std::vector<Span> spans_;
  bool needs_whole_ = false;
};

}  // namespace tokamak
