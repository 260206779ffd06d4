// The data that changes from step to step, and nothing else: one small upload, so that a captured
// plan is replayed as it is. A step runs a batch: rows, each a token of one of several sequences. A
// sequence with rows in the step has a slot, with the place of its rows and what they continue.
//
// The buffer of a batch holds, one after the other: BatchHeader; the slots; the output rows, u32;
// the slot of each row, u32, where a program has more than one slot; and from ids_offset() on the
// token ids, u32. Mirrored by wgsl/slot.wgsl and its neighbours; kernels_test.cpp holds them
// together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"

namespace tokamak {

/// By what the device draws a token from a list (SampleToken of graph/sampling_ops.h).
struct SamplingRule {
  float inverse_temperature = 1;  // what differences of logits are multiplied by; finite
  uint32_t top_k = 0;             // 0: off
  float top_p = 1, min_p = 0;     // 1 and 0: off
  float repetition_penalty = 1;   // 1: off
  /// The state of splitmix64 (base/splitmix.h), from which the draw takes its number.
  uint32_t random_low = 0, random_high = 0;
  uint32_t masked = 0;  // 1: no token counts but those in the slot's part of `allowed`

  uint64_t random() const { return uint64_t{random_high} << 32 | random_low; }
  void set_random(uint64_t state) {
    random_low = uint32_t(state);
    random_high = uint32_t(state >> 32);
  }
};

/// One sequence's part of a step. Its rows are neighbours, at neighbouring positions.
struct Slot {
  uint32_t start = 0;     // its first row; write_batch() sets it
  uint32_t count = 1;     // of its rows
  uint32_t position = 0;  // of the first of them, = tokens already in the cache
  uint32_t length = 0;    // of the sequence with all tokens the host has for it by now
  uint32_t index = 0;     // which page tables and which recurrent states of the program are its own
  uint32_t chosen = 0;    // tokens the device chose since the host last wrote the batch
  SamplingRule rule;      // of steps that end in a list of candidates
  /// Added to positions where rows are rotated, modulo 2^32: after an image, whose rows share
  /// positions, those of the text are smaller than its rows are many.
  uint32_t rotary_shift = 0;
  uint32_t adapter = 0;  // whose rows of LoraDown and LoraUp it takes, from 1 on; 0: none
};
static_assert(sizeof(Slot) == 64);

struct BatchHeader {
  uint32_t rows = 0, slots = 0, outputs = 0, reserved = 0;
};

/// The places in the buffer of a program for that number of slots and rows.
struct BatchLayout {
  uint32_t slots = 1;
  uint32_t rows = 1;

  uint32_t outputs_offset() const { return uint32_t(sizeof(BatchHeader) + slots * sizeof(Slot)); }
  uint32_t row_slots_offset() const { return outputs_offset() + 16 * ceil_div(slots, 4u); }
  /// The size of what kernels bind as uniform: everything but the ids.
  uint32_t table_bytes() const {
    return row_slots_offset() + (slots > 1 ? 16 * ceil_div(rows, 4u) : 0);
  }
  /// A multiple of the smallest alignment that every WebGPU device takes for a bound range.
  uint32_t ids_offset() const { return round_up(table_bytes(), 256u); }
  uint64_t bytes() const { return ids_offset() + 4 * uint64_t{rows}; }
  bool operator==(const BatchLayout&) const = default;
};

/// The buffer's bytes as far as this batch goes: `ids` are those of the rows, slot by slot;
/// `outputs` the rows whose results are wanted, none: the last of each slot. REQUIRES: the slots
/// have as many rows as there are ids; the layout has room for them.
void write_batch(const BatchLayout& layout, std::span<const Slot> slots,
                 std::span<const uint32_t> ids, std::span<const uint32_t> outputs,
                 std::vector<std::byte>& bytes);

/// The same buffer as the CPU reads it.
class BatchView {
 public:
  BatchView() = default;
  BatchView(const BatchLayout& layout, std::byte* bytes) : layout_(layout), bytes_(bytes) {}

  const BatchHeader& header() const { return *reinterpret_cast<BatchHeader*>(bytes_); }
  uint32_t rows() const { return header().rows; }
  uint32_t slots() const { return header().slots; }
  uint32_t outputs() const { return header().outputs; }
  Slot& slot(size_t i) const { return reinterpret_cast<Slot*>(bytes_ + sizeof(BatchHeader))[i]; }
  Slot& slot_of(size_t row) const {
    return slot(layout_.slots == 1 ? 0 : words(layout_.row_slots_offset())[row]);
  }
  uint32_t position_of(size_t row) const {
    const Slot& own = slot_of(row);
    return own.position + uint32_t(row) - own.start;
  }
  uint32_t output_row(size_t i) const { return words(layout_.outputs_offset())[i]; }
  std::span<uint32_t> ids() const { return {words(layout_.ids_offset()), layout_.rows}; }

 private:
  uint32_t* words(uint32_t offset) const { return reinterpret_cast<uint32_t*>(bytes_ + offset); }

  BatchLayout layout_;
  std::byte* bytes_ = nullptr;
};

/// Which part of a batch a kernel sees.
struct BatchAccess {
  BatchLayout layout;
  uint32_t slots = 1;        // most that have rows in the step
  bool decodes = true;       // each slot has one row
  bool output_rows = false;  // the kernel's rows are the output rows
  bool writes = false;       // it makes the batch that of the next step
  bool operator==(const BatchAccess&) const = default;

  /// Whether it looks up which slot a row is of.
  bool has_tables() const { return slots > 1 && !decodes; }
  /// The bytes that it binds: one that makes the next batch has the token ids with it.
  uint64_t bytes() const {
    if (writes) return layout.bytes();
    return has_tables() ? layout.table_bytes() : sizeof(BatchHeader) + slots * sizeof(Slot);
  }
};

}  // namespace tokamak
