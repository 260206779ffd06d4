// Rotary frequencies as config.json asks for them, in the older spelling (rope_theta, rope_scaling)
// and the newer one (rope_parameters, flat or per layer type).
// Reference: transformers, modeling_rope_utils.py.
#pragma once
#include "graph/graph.h"
#include "model/config.h"

namespace tokamak {

/// The place of the rotary frequencies: rope_scaling, unless it is empty, even where
/// rope_parameters is there too.
ConfigReader rope_fields(const ConfigReader& config);

/// The value of rope_theta or partial_rotary_factor where rope_fields lacks it: the top-level
/// field, else that of rope_parameters. The reference forgets the latter where there is
/// rope_scaling, and takes its own default.
double read_rope_field(ConfigReader& config, std::string_view name, double otherwise);

/// The members of `fields`, of which there may be none, and over them those of `by`, as Gemma 3 has
/// both. REQUIRES: objects.
Json overwritten(const Json* fields, const Json& by);

/// `parameters` holds rope_type (or type) and what that type needs; theta is its rope_theta, else
/// `theta`. Types: default, linear, llama3, proportional, yarn (arXiv:2309.00071), and "explicit",
/// which no checkpoint of Hugging Face has: frequency i is divided by divisors[i], as a GGUF file
/// says it. Another type is kUnsupported, naming it. Mistakes are left in `parameters`' status.
/// `max_positions` is max_position_embeddings; YaRN raises it to the positions that it extends the
/// model to, since users add it to config.json for long texts and leave that field as it was.
RopeTable read_rope(ConfigReader& parameters, double theta, uint32_t head_dim,
                    uint32_t& max_positions);

/// The factor of YaRN for cos and sin where `factor` times as many positions are wanted; mscale 1
/// is the paper's.
double yarn_magnitude(double factor, double mscale);

/// LongRoPE (arXiv:2402.13753): each frequency is divided by its short_factor, or by its
/// long_factor in sequences of more than `original` tokens; both parts are scaled by
/// attention_factor, which follows from max_positions / original where it is not given.
RopeTable read_longrope(ConfigReader& parameters, double theta, uint32_t head_dim,
                        uint32_t original, uint32_t max_positions);

/// How many elements of a head are turned when it is `part` of them: a whole number of pairs.
Result<uint32_t> rotary_size(const ConfigReader& config, double part, uint32_t head_dim);

}  // namespace tokamak
