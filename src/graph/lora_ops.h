// Low-rank adapters (LoRA, arXiv:2106.09685): what their sequences add to products of the model,
// each row by the adapter of its own sequence (Slot::adapter). model/lora.h puts them into a graph.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// h = A x, where A are the `rank` rows of the row's adapter, of as many adapters as `a` has room
/// for. Rows without an adapter are not written. in and rank are multiples of 8.
///                                   (x [T, in], a [adapters * rank, in]) -> [T, rank]
struct LoraDown {
  static constexpr std::string_view kName = "lora_down";
  uint32_t rank = 0;
  static void fields(auto& op, auto&& visit) { visit("rank", op.rank); }
  bool operator==(const LoraDown&) const = default;
};

/// y + B h[first .. first + rank - 1], where B are the n rows of the row's adapter. The result
/// takes the place of y, which nothing else reads; rows without an adapter stay as they are. first,
/// rank and the columns of h are multiples of 8.
///                                   (y [T, n], h [T, ranks], b [adapters * n, rank]) -> [T, n]
struct LoraUp {
  static constexpr std::string_view kName = "lora_up";
  uint32_t first = 0;
  static void fields(auto& op, auto&& visit) { visit("first", op.first); }
  bool operator==(const LoraUp&) const = default;
};

}  // namespace tokamak
