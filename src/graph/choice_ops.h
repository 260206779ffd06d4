// Ops that choose the next token on the device.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

/// The best of each 64 neighbours: its value, then its column as a number. NaN never wins, of
/// equals the lowest column does; where nothing is above the lowest f32, that is the value.
///                                              (x [T, n]) -> [T, 2*ceil(n/64)]
struct BlockArgmax {
  static constexpr std::string_view kName = "block_argmax";
  static void fields(auto&, auto&&) {}
  bool operator==(const BlockArgmax&) const = default;
};
inline constexpr uint32_t kArgmaxBlock = 64;

/// Chooses the next token and makes the frame that of the step behind it: the column of the best
/// candidate becomes the frame's token and, as a number, element frame.chosen of `ids`, counted
/// around. It is -1 where no value was a finite number.
///     (candidates [1, 2*k], ids [n]) -> ids
struct NextToken {
  static constexpr std::string_view kName = "next_token";
  static void fields(auto&, auto&&) {}
  bool operator==(const NextToken&) const = default;
};

}  // namespace tokamak
