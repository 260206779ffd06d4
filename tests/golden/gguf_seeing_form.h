// A model that reads images as two GGUF files: how both are made of a recorded checkpoint.
#pragma once
#include <map>

#include "golden/made_gguf.h"

namespace tokamak::golden {

struct SeeingForm {
  GgufForm text, tower;
};

/// Names of the tokens but for that of images.
Json::Array tokens_with(uint32_t count, uint32_t image, const std::string& word);

/// Names of Llama's tensors, and of those that other texts add.
std::vector<std::pair<std::string, std::string>> llama_names(const std::string& prefix);

GgufNumbers tower_sizes(const std::string& type, uint32_t layers, uint32_t hidden, uint32_t ffn,
                        uint32_t image, uint32_t patch, uint32_t out, const GgufNumbers& more);

const std::pair<std::string, Json> kMeanOfHalves = {"vision.image_mean",
                                                    Json::Array{0.5, 0.5, 0.5}};
const std::pair<std::string, Json> kStdOfHalves = {"vision.image_std", Json::Array{0.5, 0.5, 0.5}};

/// Those of Qwen's models, by the names of what is recorded.
std::map<std::string, SeeingForm> qwen_forms();

}  // namespace tokamak::golden
