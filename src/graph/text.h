// The text form of a graph: what tests compare, what `inspect` prints, what a bug report carries.
//
//   input  @tokens: u32[T]
//   input  @pages.32: u32[128] {window=32}
//   const  @model.norm.weight: f32[64] = weight "model.norm.weight" + 1
//   const  @qkv.0: bf16[192,64] = concat "a" "b" "c"          (or interleave "gate" "up")
//   const  @k: bf16[64,64] = weight "qkv_proj.weight"[128:192]       (rows 128 to 191 of it)
//   const  @rope.0: f32[2048,32] = rope {factor=1} [1 0.5 0.25]
//   const  @rope.1: f32[2112,32] = rope {factor=1} [1 0.5 0.25] short 64 [1 0.6 0.4]
//   const  @one.32: f32[32] = fill 1
//   const  @conv.weight: f32[12,48] = weight_norm "conv.weight_g" "conv.weight_v"
//   state  @kv.0: f16[2048,2,2,32] {window=32}
//   %0: f32[T,64] = embed @tokens, @model.embed_tokens.weight {scale=8}
//   return %0
//
// Activations are numbered in the order of printing, so equal graphs print equally.
#pragma once
#include <string>
#include <string_view>

#include "base/scan.h"
#include "graph/graph.h"

namespace tokamak {

std::string to_text(const Graph& graph);

/// Only the nodes and the return line, for tests that look at those.
std::string nodes_text(const Graph& graph);

/// The inverse of to_text; the result is verified. Errors name the line.
Result<Graph> parse_graph(std::string_view text);

// Pieces the plan's text form shares.
std::string attributes_text(const Op& op);  // " {eps=1e-06}" or ""
std::string recipe_text(const Recipe& recipe);
Result<Op> parse_op(Scanner& scan, std::string_view name);  // reads the attributes
Result<Recipe> parse_recipe(Scanner& scan);
Result<TensorDesc> parse_type(Scanner& scan);
/// Declares a state that `op` takes, of which a text has only the type and the window.
void imply_state(const Op& op, TensorDesc& value);

}  // namespace tokamak
