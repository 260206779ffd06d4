#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace tokamak {
namespace {

double bilinear(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

double lanczos(double x) {
  constexpr double lobes = 3;
  if (x == 0) return 1;
  if (std::abs(x) >= lobes) return 0;
  const double angle = std::numbers::pi * x;
  return std::sin(angle) / angle * std::sin(angle / lobes) / (angle / lobes);
}

struct Filter {
  double (*weight)(double x);
  double support;
};

Filter filter_of(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::kBilinear:
      return {bilinear, 1};
    case ResizeFilter::kBicubic:
      return {bicubic, 2};
    case ResizeFilter::kLanczos:
      break;
  }
  return {lanczos, 3};
}

constexpr uint32_t kMaxBits = 22;  // of sums: 8 bits of a pixel and a sign are left

/// The inputs of each output of an axis: output i mixes inputs first[i], ... with
/// weights[start[i]], ..., weights[start[i + 1] - 1], all of `bits` fraction bits.
struct Axis {
  std::vector<uint32_t> first;
  std::vector<uint32_t> start = {0};
  std::vector<int32_t> weights;
  uint32_t bits = 0;

  std::span<const int32_t> weights_of(uint32_t i) const {
    return std::span(weights).subspan(start[i], start[i + 1] - start[i]);
  }
};

/// Most fraction bits of which the largest weight still fits 15 bits.
uint32_t fraction_bits(double largest_weight) {
  constexpr double kTooLarge = 1 << 15;
  uint32_t bits = 0;
  while (bits < kMaxBits &&
         std::floor(0.5 + std::ldexp(largest_weight, int(bits) + 1)) < kTooLarge) {
    ++bits;
  }
  return bits;
}

Axis make_axis(uint32_t in, uint32_t out, ResizeFilter filter) {
  const Filter own = filter_of(filter);
  const double scale = double(in) / double(out);
  const double widening = std::max(scale, 1.0);
  const double support = own.support * widening;
  Axis axis;
  std::vector<double> weights;
  double largest = 0;
  for (uint32_t i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    const auto low = int64_t(std::max(0.0, centre - support + 0.5));
    const auto high = int64_t(std::min(double(in), centre + support + 0.5));
    double sum = 0;
    for (int64_t j = low; j < high; ++j) {
      const double x = (double(j) - centre + 0.5) / widening;
      weights.push_back(own.weight(x));
      sum += weights.back();
    }
    for (double& weight : std::span(weights).subspan(axis.start.back())) {
      weight /= sum;
      largest = std::max(largest, weight);
    }
    axis.first.push_back(uint32_t(low));
    axis.start.push_back(uint32_t(weights.size()));
  }
  axis.bits = filter == ResizeFilter::kLanczos ? kMaxBits : fraction_bits(largest);
  for (const double weight : weights) {
    axis.weights.push_back(int32_t(std::round(std::ldexp(weight, int(axis.bits)))));
  }
  return axis;
}

/// A sum of weights times bytes, of which all but a pixel's 8 bits are a fraction, rounded.
uint8_t rounded(int32_t sum, uint32_t bits) {
  const int32_t half = bits > 0 ? 1 << (bits - 1) : 0;
  return uint8_t(std::clamp((sum + half) >> bits, 0, 255));
}

Image resized_x(const Image& image, uint32_t width, ResizeFilter filter) {
  const Axis axis = make_axis(image.width, width, filter);
  Image out = black_image(width, image.height);
  uint8_t* to = out.rgb.data();
  for (uint32_t y = 0; y < image.height; ++y) {
    const uint8_t* const row = &image.rgb[size_t{y} * image.width * 3];
    for (uint32_t x = 0; x < width; ++x) {
      const uint8_t* from = row + size_t{axis.first[x]} * 3;
      int32_t red = 0, green = 0, blue = 0;
      for (const int32_t weight : axis.weights_of(x)) {
        red += weight * int32_t{from[0]};
        green += weight * int32_t{from[1]};
        blue += weight * int32_t{from[2]};
        from += 3;
      }
      for (const int32_t sum : {red, green, blue}) *to++ = rounded(sum, axis.bits);
    }
  }
  return out;
}

/// Row by row, so that compilers put neighbouring bytes into one register.
Image resized_y(const Image& image, uint32_t height, ResizeFilter filter) {
  const Axis axis = make_axis(image.height, height, filter);
  Image out = black_image(image.width, height);
  const size_t row_bytes = size_t{image.width} * 3;
  std::vector<int32_t> sums(row_bytes);
  for (uint32_t y = 0; y < height; ++y) {
    const uint8_t* from = &image.rgb[axis.first[y] * row_bytes];
    std::ranges::fill(sums, 0);
    for (const int32_t weight : axis.weights_of(y)) {
      for (size_t x = 0; x < row_bytes; ++x) sums[x] += weight * int32_t{from[x]};
      from += row_bytes;
    }
    uint8_t* const to = &out.rgb[y * row_bytes];
    for (size_t x = 0; x < row_bytes; ++x) to[x] = rounded(sums[x], axis.bits);
  }
  return out;
}

}  // namespace

Image resized(Image image, ImageSize size, ResizeFilter filter) {
  if (image.width != size.width) image = resized_x(image, size.width, filter);
  if (image.height != size.height) image = resized_y(image, size.height, filter);
  return image;
}

}  // namespace tokamak
