// GraphBuilder: how architectures write a graph down. One method per op; shapes follow from the
// ops.
//
// The first mistake is kept and returned by finish(), so that an architecture reads as a straight
// list of operations. At most one node-making call may stand in an argument list: C++ leaves the
// order of arguments open, and with it the order of nodes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tokamak {

class GraphBuilder {
 public:
  ValueId input(std::string name, Shape shape, uint32_t window = 0);
  /// Floats of each row of a step.
  ValueId row_input(std::string name, uint32_t columns);
  /// Rows of floats that the host writes now and then, for all steps.
  ValueId host_rows(std::string name, uint32_t rows, uint32_t columns);
  ValueId constant(std::string name, Shape shape, DType dtype, Recipe recipe);
  /// The keys and values of `cells` positions (graph/kv_cache.h); with a window of the last ones.
  ValueId kv_cache(std::string name, DType dtype, Dim cells, Dim kv_heads, Dim head_dim,
                   uint32_t window = 0);
  /// The latents of `cells` positions, with the part of their keys that turns.
  ValueId latent_cache(std::string name, DType dtype, Dim cells, Dim rank, Dim turned);
  ValueId recurrent(std::string name, Shape shape);  // f32
  /// Tokens of each sequence, for the choice of the next one.
  ValueId sampled(std::string name, Shape shape, DType dtype);

  ValueId embed(ValueId tokens, ValueId table) { return one(Embed{}, {tokens, table}); }
  ValueId embed(ValueId tokens, ValueId table, ValueId rows, float scale) {
    return one(Embed{scale}, {tokens, table, rows});
  }
  ValueId linear(ValueId x, ValueId w, std::optional<ValueId> bias = {});
  ValueId rms_norm(ValueId x, ValueId w, float eps) { return one(RmsNorm{eps}, {x, w}); }
  ValueId layer_norm(ValueId x, ValueId w, float eps, std::optional<ValueId> bias = {});
  ValueId add(ValueId a, ValueId b) { return one(Add{}, {a, b}); }
  ValueId scale(ValueId x, float factor) { return one(Scale{factor}, {x}); }
  ValueId scale(ValueId x, float factor, ValueId s) { return one(Scale{factor}, {x, s}); }
  ValueId softcap(ValueId x, float cap) { return one(Softcap{cap}, {x}); }
  ValueId activate(Activation activation, ValueId x) { return one(Activate{activation}, {x}); }
  ValueId glu(Activation activation, ValueId gate, ValueId up) {
    return one(Glu{activation}, {gate, up});
  }
  ValueId rope(ValueId x, ValueId table, uint32_t head_dim, uint32_t short_rows = 0) {
    return one(Rope{head_dim, short_rows}, {x, table});
  }
  ValueId kv_append(ValueId k, ValueId v, ValueId cache, ValueId pages) {
    return one(KvAppend{}, {k, v, cache, pages});
  }
  ValueId attention(ValueId q, ValueId cache, ValueId pages, Attention attributes,
                    std::optional<ValueId> bias = {});
  ValueId head_linear(ValueId x, ValueId w, HeadLinear attributes) {
    return one(attributes, {x, w});
  }
  ValueId latent_append(ValueId latent, ValueId turned, ValueId cache, ValueId pages) {
    return one(LatentAppend{uint32_t(at(latent).shape[1])}, {latent, turned, cache, pages});
  }
  ValueId latent_attention(ValueId latent, ValueId turned, ValueId cache, ValueId pages,
                           float scale) {
    return one(LatentAttention{scale}, {latent, turned, cache, pages});
  }
  ValueId add_positions(ValueId x, ValueId table, uint32_t offset = 0) {
    return one(AddPositions{offset}, {x, table});
  }
  ValueId unfold(ValueId x, Unfold attributes) { return one(attributes, {x}); }
  ValueId group_norm(ValueId x, ValueId w, ValueId bias, float eps) {
    return one(GroupNorm{eps}, {x, w, bias});
  }
  ValueId standardize(ValueId x, ValueId mean, ValueId by) {
    return one(Standardize{}, {x, mean, by});
  }
  ValueId clamp(ValueId x, float low, float high) { return one(Clamp{low, high}, {x}); }
  ValueId half_snake(ValueId x, ValueId rates) { return one(HalfSnake{}, {x, rates}); }
  ValueId causal_conv(ValueId x, ValueId w, ValueId bias, uint32_t dilation = 1) {
    return one(CausalConv{dilation}, {x, w, bias});
  }
  ValueId transposed_conv(ValueId x, ValueId w, ValueId bias) {
    return one(TransposedConv{}, {x, w, bias});
  }
  ValueId short_conv(ValueId x, ValueId w, ValueId state, Activation activation,
                     std::optional<ValueId> bias = {});
  ValueId gated_delta(ValueId qkv, ValueId ab, ValueId rates, ValueId state,
                      GatedDelta attributes) {
    return one(attributes, {qkv, ab, rates, state});
  }
  ValueId selective_scan(ValueId xbc, ValueId dt, ValueId params, ValueId state,
                         SelectiveScan attributes) {
    return one(attributes, {xbc, dt, params, state});
  }
  struct Routed {
    ValueId shares, chosen;
  };
  /// `bias` is there where the attributes have one.
  Routed route(ValueId logits, const Route& attributes, std::optional<ValueId> scale = {},
               std::optional<ValueId> bias = {});
  ValueId expert_linear(ValueId x, ValueId w, ValueId chosen, uint32_t experts) {
    return one(ExpertLinear{experts}, {x, w, chosen});
  }
  ValueId expert_columns(ValueId x, ValueId order, ValueId chosen) {
    return one(ExpertColumns{}, {x, order, chosen});
  }
  ValueId expert_sum(ValueId x, ValueId shares) { return one(ExpertSum{}, {x, shares}); }
  ValueId columns(ValueId x, uint32_t first, uint32_t count) {
    return one(Columns{first, count}, {x});
  }
  ValueId gather_columns(ValueId x, ValueId order) { return one(GatherColumns{}, {x, order}); }
  ValueId first_row(ValueId x) { return one(FirstRow{}, {x}); }
  ValueId mean_rows(ValueId x) { return one(MeanRows{}, {x}); }
  ValueId last_row(ValueId x) { return one(LastRow{}, {x}); }

  std::vector<ValueId> add_node(const Op& op, std::vector<ValueId> inputs);

  const TensorDesc& at(ValueId id) const { return graph_.at(id); }

  /// False once there was a mistake.
  bool ok() const { return !error_; }

  /// Keeps `error` if it is the first; for callers that check more than shapes.
  void reject(Error error);

  /// The verified graph, or the first mistake. Leaves the builder empty.
  Result<Graph> finish(ValueId result);

 private:
  ValueId one(const Op& op, std::vector<ValueId> inputs) {
    return add_node(op, std::move(inputs)).front();
  }
  ValueId declare(TensorDesc value);
  ValueId state(std::string name, Shape shape, DType dtype, StateSpec spec, uint32_t window);

  Graph graph_;
  std::optional<Error> error_;
};

}  // namespace tokamak
