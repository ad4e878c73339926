// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Groups -> steps. Values that only their own group reads never get memory; values that another group reads are kept at
// compute precision in workspace, so that the only roundings are those of outputs and of integer-typed tensors.

#include "graph/lower.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/float.h"

namespace octavo::graph {
namespace {

using Ints = std::vector<std::int64_t>;

bool is_short_integer(DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8 || t == DataType_t::INT32; }

DataType_t compute_of(DataType_t t) {
  switch (t) {
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
    case DataType_t::FAST_FLOAT_FOR_FP8:
      return DataType_t::FLOAT;
    default:
      return t;
  }
}

/// What a value computed in `compute` and declared `declared` is stored as between two steps.
DataType_t storage_type(DataType_t declared, DataType_t compute) {
  DataType_t const d = element_type(declared);
  if (is_short_integer(d) || d == DataType_t::INT64 || d == DataType_t::BOOLEAN || d == DataType_t::DOUBLE) return d;
  return compute;
}

/// Packed, channels last, plain.
TensorDesc packed(DataType_t type, Ints const& dim) {
  TensorDesc d;
  d.type = type;
  d.rank = static_cast<int>(dim.size());
  Ints const stride = channels_last(dim);
  for (std::size_t i = 0; i < dim.size(); ++i) {
    d.dim[i] = dim[i];
    d.stride[i] = stride[i];
  }
  return d;
}

struct Stored {
  Ref ref;
  TensorDesc desc;
};

class Lowering {
 public:
  Lowering(std::vector<Node> const& nodes, Lowered& out) : nodes_(nodes), out_(out), grouping_(group_nodes(nodes)) {}

  error_t run() {
    collect_uses();
    OCTAVO_RETURN_IF_ERROR(check_reordering());
    for (std::size_t g = 0; g < grouping_.groups.size(); ++g) {
      Group const& group = grouping_.groups[g];
      switch (group.kind) {
        case NodeKind::reduction:
          OCTAVO_RETURN_IF_ERROR(emit_reduction(group));
          break;
        case NodeKind::genstats:
          OCTAVO_RETURN_IF_ERROR(emit_genstats(group));
          break;
        case NodeKind::pointwise:
          OCTAVO_RETURN_IF_ERROR(emit_pointwise(static_cast<int>(g), group));
          break;
        default:
          OCTAVO_RETURN_IF_ERROR(emit_convolution(static_cast<int>(g), group));
          break;
      }
    }
    sort_bound();
    return {};
  }

 private:
  // ---- who makes and who reads a tensor ----------------------------------------------------------------------------------

  void collect_uses() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      int const g = grouping_.group_of[i];
      if (g < 0) continue;
      Node const& n = nodes_[i];
      for (Port const& p : n.outputs) producer_group_[p.tensor.get()] = g;
      std::size_t const need =
          n.kind == NodeKind::pointwise ? static_cast<std::size_t>(pointwise_inputs(n.pointwise.mode)) : n.inputs.size();
      for (std::size_t k = 0; k < need; ++k) readers_[n.inputs[k].tensor.get()].push_back(g);
    }
  }

  bool read_outside(Tensor_attributes const* t, int group) const {
    auto it = readers_.find(t);
    return it != readers_.end() && std::any_of(it->second.begin(), it->second.end(), [&](int g) { return g != group; });
  }
  bool read_inside(Tensor_attributes const* t, int group) const {
    auto it = readers_.find(t);
    return it != readers_.end() && std::find(it->second.begin(), it->second.end(), group) != it->second.end();
  }

  error_t check_reordering() const {
    for (Node const& n : nodes_) {
      for (Port const& p : n.inputs) {
        TensorReordering_t const r = p.tensor->get_reordering_type();
        if (r == TensorReordering_t::NONE) continue;
        bool const filter = p.name == "W" && n.is_convolution();
        if (r == TensorReordering_t::INT8x32 && filter) {
          Ints const dim = logical_dims(*p.tensor);
          if (dim.size() == 4 && dim[0] % 32 == 0 && dim[1] % 32 == 0 && vector_of(*p.tensor) == 32 &&
              element_type(p.tensor->get_data_type()) == DataType_t::INT8 && !p.tensor->get_constant_data() &&
              producer_group_.count(p.tensor.get()) == 0) {
            continue;
          }
          return {error_code_t::GRAPH_NOT_SUPPORTED,
                  "Tensor '" + p.tensor->get_name() + "' has reordering INT8x32 and logical dims " + list_text(dim) +
                      "; that takes a 2-D INT8 filter in vectors of 32 channels, with K and C/g multiples of 32, bound at "
                      "execute. Otherwise pass the plain filter and leave the reordering NONE."};
        }
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "Tensor '" + p.tensor->get_name() + "' has reordering " + to_string(r) +
                    "; only the filter of a convolution may have one (INT8x32). Pass the tensor in plain order, with NONE."};
      }
    }
    return {};
  }

  // ---- memory --------------------------------------------------------------------------------------------------------------

  Ref bind(TensorPtr const& t, bool output) {
    auto it = bound_.find(t.get());
    if (it == bound_.end()) {
      BoundTensor b;
      b.uid = t->get_uid();
      b.tensor = t;
      b.name = t->get_name();
      b.is_host_scalar = t->get_is_pass_by_value();
      it = bound_.emplace(t.get(), static_cast<int>(out_.bound.size())).first;
      out_.bound.push_back(std::move(b));
    }
    out_.bound[static_cast<std::size_t>(it->second)].is_output |= output;
    return {Ref::Kind::bound, it->second};
  }

  Ref new_slot(TensorDesc const& d) {
    out_.slots.push_back(d.span_bytes());
    return {Ref::Kind::slot, static_cast<int>(out_.slots.size()) - 1};
  }

  /// Where a step that is not its maker finds a tensor.
  error_t load(TensorPtr const& t, std::size_t rank, Stored& s) {
    auto it = kept_.find(t.get());
    if (it != kept_.end()) {
      s = it->second;
      if (rank != 0 && static_cast<std::size_t>(s.desc.rank) != rank) {
        TensorDesc d = s.desc;
        int const shift = static_cast<int>(rank) - s.desc.rank;
        if (shift < 0) return {error_code_t::GRAPH_NOT_SUPPORTED, "Tensor '" + t->get_name() + "' has too many dims here."};
        for (int i = static_cast<int>(rank) - 1; i >= 0; --i) {
          d.dim[static_cast<std::size_t>(i)] = i < shift ? 1 : s.desc.dim[static_cast<std::size_t>(i - shift)];
          d.stride[static_cast<std::size_t>(i)] = i < shift ? 0 : s.desc.stride[static_cast<std::size_t>(i - shift)];
        }
        d.rank = static_cast<int>(rank);
        s.desc = d;
      }
      return {};
    }
    OCTAVO_RETURN_IF_ERROR(describe(*t, rank, s.desc));
    s.ref = bind(t, false);
    return {};
  }

  /// Declares the places of a value: the caller's buffer when the tensor is an output, a slot when another group reads it.
  error_t places(TensorPtr const& t, int group, DataType_t compute, std::vector<Stored>& out) {
    TensorDesc own;
    DataType_t const kept_as = storage_type(t->get_data_type(), compute);
    bool const outside = read_outside(t.get(), group);
    if (!t->get_is_virtual()) {
      OCTAVO_RETURN_IF_ERROR(describe(*t, 0, own));
      Stored s{bind(t, true), own};
      out.push_back(s);
      if (outside && own.type == kept_as) {
        kept_[t.get()] = s;
        return {};
      }
    }
    if (outside) {
      Stored s;
      s.desc = packed(kept_as, logical_dims(*t));
      s.ref = new_slot(s.desc);
      kept_[t.get()] = s;
      out.push_back(s);
    }
    return {};
  }

  // ---- the pointwise DAG
  // -----------------------------------------------------------------------------------------------------

  struct Dag {
    Epilogue epilogue;
    std::vector<Ref> operands, outputs;
    std::vector<TensorPtr> operand_tensors;
    std::unordered_map<Tensor_attributes const*, int> value;  ///< in-group tensors: node index (>= 0) or -1 for value 0
  };

  error_t operand(Dag& dag, TensorPtr const& t, std::size_t rank, int& index) {
    for (std::size_t i = 0; i < dag.operand_tensors.size(); ++i) {
      if (dag.operand_tensors[i] == t) return index = static_cast<int>(i), error_t();
    }
    Epilogue::Operand o;
    Ref ref;
    if (is_scalar_value(*t)) {
      o.source = Epilogue::Source::constant;
      o.constant = scalar_value(t->get_pass_by_value() ? *t->get_pass_by_value() : *t->get_compile_time_constant());
      o.desc = packed(element_type(t->get_data_type()), Ints(rank, 1));
    } else if (t->get_is_pass_by_value()) {
      o.source = Epilogue::Source::host_scalar;
      o.desc = packed(element_type(t->get_data_type()), Ints(rank, 1));
      ref = bind(t, false);
    } else {
      Stored s;
      OCTAVO_RETURN_IF_ERROR(load(t, rank, s));
      o.desc = s.desc;
      ref = s.ref;
    }
    index = static_cast<int>(dag.operand_tensors.size());
    dag.operand_tensors.push_back(t);
    dag.epilogue.operands.push_back(o);
    dag.operands.push_back(ref);
    return {};
  }

  /// Operands first: the ids of nodes start behind them.
  error_t collect_operands(Dag& dag, Group const& group, std::vector<int> const& pointwise) {
    for (int i : pointwise) {
      Node const& n = nodes_[static_cast<std::size_t>(i)];
      int const need = pointwise_inputs(n.pointwise.mode);
      for (int k = 0; k < need; ++k) {
        TensorPtr const& t = n.inputs[static_cast<std::size_t>(k)].tensor;
        if (dag.value.count(t.get()) != 0) continue;
        int unused = 0;
        OCTAVO_RETURN_IF_ERROR(operand(dag, t, group.shape.size(), unused));
      }
      dag.value[n.output().get()] = 0;  // the real id follows
    }
    return {};
  }

  error_t add_node(Dag& dag, Node const& n, std::size_t rank) {
    PointwiseParameters const& p = n.pointwise;
    Epilogue::Node e;
    e.mode = p.mode;
    e.compute = compute_of(n.compute);
    DataType_t const declared = element_type(n.output()->get_data_type());
    e.result = is_short_integer(declared) ? declared : e.compute;
    bool const relu = p.mode == PointwiseMode_t::RELU_FWD || p.mode == PointwiseMode_t::RELU_BWD;
    if (relu) {
      e.lower_clip = p.relu_lower_clip.value_or(0.0f);
      e.has_upper_clip = p.relu_upper_clip.has_value();
      e.upper_clip = p.relu_upper_clip.value_or(0.0f);
      e.slope = p.relu_lower_clip_slope.value_or(0.0f);
    }
    if (p.mode == PointwiseMode_t::ELU_FWD || p.mode == PointwiseMode_t::ELU_BWD) e.alpha = p.elu_alpha.value_or(1.0f);
    if (p.mode == PointwiseMode_t::SWISH_FWD || p.mode == PointwiseMode_t::SWISH_BWD) e.alpha = p.swish_beta.value_or(1.0f);
    if (p.mode == PointwiseMode_t::SOFTPLUS_FWD || p.mode == PointwiseMode_t::SOFTPLUS_BWD) {
      e.alpha = p.softplus_beta.value_or(1.0f);
    }
    if (p.mode == PointwiseMode_t::GEN_INDEX) {
      std::int64_t const axis = p.axis.value_or(-1);
      e.axis = static_cast<int>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
    }
    int const need = pointwise_inputs(p.mode);
    for (int k = 0; k < need; ++k) {
      TensorPtr const& t = n.inputs[static_cast<std::size_t>(k)].tensor;
      auto it = dag.value.find(t.get());
      int& in = e.in[static_cast<std::size_t>(k)];
      if (it != dag.value.end()) {
        in = it->second;
      } else {
        OCTAVO_RETURN_IF_ERROR(operand(dag, t, rank, in));
        in += 1;
      }
    }
    dag.epilogue.nodes.push_back(e);
    dag.value[n.output().get()] = dag.epilogue.first_node() + static_cast<int>(dag.epilogue.nodes.size()) - 1;
    return {};
  }

  error_t store(Dag& dag, TensorPtr const& t, int value, int group, DataType_t compute) {
    std::vector<Stored> where;
    OCTAVO_RETURN_IF_ERROR(places(t, group, compute, where));
    for (Stored const& s : where) {
      dag.epilogue.outputs.push_back({value, s.desc});
      dag.outputs.push_back(s.ref);
    }
    return {};
  }

  std::string names_of(Group const& group) const {
    std::string text;
    for (int i : group.nodes) text += (text.empty() ? "" : " + ") + nodes_[static_cast<std::size_t>(i)].label();
    return text;
  }

  error_t with_names(error_t e, Group const& group) const {
    if (e.is_bad()) e.err_msg = names_of(group) + ": " + e.err_msg;
    return e;
  }

  // ---- steps
  // -------------------------------------------------------------------------------------------------------------------

  error_t emit_pointwise(int index, Group const& group) {
    Dag dag;
    OCTAVO_RETURN_IF_ERROR(collect_operands(dag, group, group.nodes));
    for (int i : group.nodes) {
      Node const& n = nodes_[static_cast<std::size_t>(i)];
      OCTAVO_RETURN_IF_ERROR(add_node(dag, n, group.shape.size()));
    }
    for (int i : group.nodes) {
      Node const& n = nodes_[static_cast<std::size_t>(i)];
      OCTAVO_RETURN_IF_ERROR(store(dag, n.output(), dag.value[n.output().get()], index, compute_of(n.compute)));
    }
    PointwiseStep step;
    step.shape = packed(DataType_t::FLOAT, group.shape);
    step.epilogue = std::move(dag.epilogue);
    step.operands = std::move(dag.operands);
    step.outputs = std::move(dag.outputs);
    out_.steps.push_back({names_of(group), std::move(step)});
    return {};
  }

  /// An IDENTITY of its own in front of a convolution: brings an input to `type`.
  void emit_cast(Stored& s, DataType_t type, std::string const& name) {
    Ints const dim(s.desc.dim.begin(), s.desc.dim.begin() + s.desc.rank);
    PointwiseStep step;
    step.shape = packed(type, dim);
    step.epilogue.operands.push_back({s.desc, Epilogue::Source::device, 0});
    Epilogue::Node e;
    e.mode = PointwiseMode_t::IDENTITY;
    e.in[0] = 1;
    e.compute = e.result = type;
    step.epilogue.nodes.push_back(e);
    step.epilogue.outputs.push_back({2, step.shape});
    step.operands.push_back(s.ref);
    s.desc = step.shape;
    s.ref = new_slot(s.desc);
    step.outputs.push_back(s.ref);
    out_.steps.push_back({name, std::move(step)});
  }

  void emit_reorder(TensorPtr const& t, Stored& s) {
    ReorderStep step;
    step.w = packed(DataType_t::INT8, logical_dims(*t));
    step.in = s.ref;
    s.desc = step.w;
    s.ref = new_slot(s.desc);
    step.out = s.ref;
    out_.steps.push_back({"reorder '" + t->get_name() + "'", step});
  }

  ZeroPointPrologue const* prologue_of(TensorPtr const& t) const {
    for (ZeroPointPrologue const& z : grouping_.prologues)
      if (nodes_[static_cast<std::size_t>(z.node)].output() == t) return &z;
    return nullptr;
  }

  error_t zero_points(Node const& n, ZeroPointPrologue const* x, ZeroPointPrologue const* w, ConvStep& step) {
    ZeroPoints& z = step.problem.zero_points;
    z.x = x ? x->value : n.conv.x_zero_point;
    TensorPtr const per_channel = w ? w->per_channel : n.conv.w_zero_points;
    if (per_channel) {
      Ints const dim = per_channel->get_dim();
      std::int64_t const k = logical_dims(*n.inputs[1].tensor)[0];
      std::size_t channel = dim.size();
      for (std::size_t i = 0; i < dim.size(); ++i) {
        if (dim[i] != 1 || (channel == dim.size() && i + 1 == dim.size())) channel = channel == dim.size() ? i : dim.size() + 1;
      }
      if (per_channel->get_data_type() != DataType_t::INT32 || channel >= dim.size() || dim[channel] != k ||
          (k > 1 && per_channel->get_stride()[channel] != 1)) {
        return {error_code_t::INVALID_VALUE,
                n.label() + " has filter zero points in tensor '" + per_channel->get_name() + "' with dims " + list_text(dim) +
                    " and type " + to_string(per_channel->get_data_type()) +
                    "; it must be INT32, one for each of K=" + std::to_string(k) + " output channels, next to each other."};
      }
      z.filter = ZeroPoints::Filter::per_channel;
      step.w_zero_points = bind(per_channel, false);
    } else if (w || n.conv.w_zero_point) {
      z.w = w ? w->value : *n.conv.w_zero_point;
      z.filter = z.w == 0 ? ZeroPoints::Filter::none : ZeroPoints::Filter::scalar;
    }
    return {};
  }

  /// Both inputs in one type. Only intermediates are brought to it: tensors of the caller keep the type they were given.
  void unify(Stored& a, Stored& b, bool a_kept, bool b_kept, std::string const& name) {
    const auto is_int = [](DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8 || t == DataType_t::INT32; };
    if (a.desc.type == b.desc.type || (is_int(a.desc.type) && is_int(b.desc.type)) || (!a_kept && !b_kept)) return;
    DataType_t const wide =
        a.desc.type == DataType_t::DOUBLE || b.desc.type == DataType_t::DOUBLE ? DataType_t::DOUBLE : DataType_t::FLOAT;
    if (a.desc.type != wide) emit_cast(a, wide, "cast for " + name);
    if (b.desc.type != wide) emit_cast(b, wide, "cast for " + name);
  }

  error_t emit_convolution(int index, Group const& group) {
    Node const& n = nodes_[static_cast<std::size_t>(group.nodes.front())];
    bool const fprop = n.kind == NodeKind::fprop, dgrad = n.kind == NodeKind::dgrad;
    std::size_t const rank = group.shape.size();
    ConvStep step;
    Problem& p = step.problem;
    p.direction = fprop ? Direction::fprop : dgrad ? Direction::dgrad : Direction::wgrad;
    ZeroPointPrologue const* zp[2] = {prologue_of(n.inputs[0].tensor), prologue_of(n.inputs[1].tensor)};
    TensorPtr const source[2] = {zp[0] ? zp[0]->source : n.inputs[0].tensor, zp[1] ? zp[1]->source : n.inputs[1].tensor};
    Stored in[2];
    for (int k = 0; k < 2; ++k) {
      // What the caller may not have bound, because it was given when the graph was built.
      if (k == 1 && n.kind != NodeKind::wgrad && source[1]->get_constant_data() && kept_.count(source[1].get()) == 0) {
        OCTAVO_RETURN_IF_ERROR(describe(*source[1], rank, in[1].desc));
        step.constant_filter = source[1]->get_constant_data();
        continue;
      }
      OCTAVO_RETURN_IF_ERROR(load(source[k], rank, in[k]));
      if (source[k]->get_is_pass_by_value()) {
        return {error_code_t::INVALID_VALUE, "Tensor '" + source[k]->get_name() + "' is an input of " + n.label() +
                                                 " and passed by value; a convolution reads tensors in memory."};
      }
    }
    if (n.kind != NodeKind::wgrad && source[1]->get_reordering_type() == TensorReordering_t::INT8x32) {
      emit_reorder(source[1], in[1]);
    }
    unify(in[0], in[1], kept_.count(source[0].get()) != 0, kept_.count(source[1].get()) != 0 && !step.constant_filter,
          n.label());
    TensorDesc result = packed(DataType_t::NOT_SET, group.shape);
    result.stride.fill(0);
    p.x = dgrad ? result : in[0].desc;
    p.w = n.kind == NodeKind::wgrad ? result : in[1].desc;
    p.y = fprop ? result : in[dgrad ? 0 : 1].desc;
    (dgrad ? step.y : step.x) = in[0].ref;
    (n.kind == NodeKind::wgrad ? step.y : step.w) = in[1].ref;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      p.pre_pad[i] = n.conv.pre_padding[i];
      p.post_pad[i] = n.conv.post_padding[i];
      p.stride[i] = n.conv.stride[i];
      p.dilation[i] = n.conv.dilation[i];
    }
    p.mode = n.conv.mode;
    DataType_t const a = p.input_a().type;
    p.compute = compute_of(n.compute);
    if (n.compute == DataType_t::FAST_FLOAT_FOR_FP8 && a == DataType_t::FLOAT) p.compute = n.compute;  // asks for TF32
    DataType_t const acc = accumulator_type(p);
    p.result().type = acc;
    OCTAVO_RETURN_IF_ERROR(zero_points(n, zp[0], zp[1], step));

    Dag dag;
    TensorPtr const raw = n.output();
    dag.value[raw.get()] = 0;
    std::vector<int> const pointwise(group.nodes.begin() + 1, group.nodes.end());
    OCTAVO_RETURN_IF_ERROR(collect_operands(dag, group, pointwise));
    // An integer-typed result rounds and saturates before anything else reads it.
    DataType_t const declared = element_type(raw->get_data_type());
    if (is_short_integer(declared) && declared != acc && read_inside(raw.get(), index)) {
      Epilogue::Node e;
      e.mode = PointwiseMode_t::IDENTITY;
      e.in[0] = 0;
      e.compute = acc;
      e.result = declared;
      dag.epilogue.nodes.push_back(e);
      dag.value[raw.get()] = dag.epilogue.first_node();
    }
    for (int i : pointwise) OCTAVO_RETURN_IF_ERROR(add_node(dag, nodes_[static_cast<std::size_t>(i)], rank));
    OCTAVO_RETURN_IF_ERROR(store(dag, raw, dag.value[raw.get()], index, acc));
    for (int i : pointwise) {
      Node const& e = nodes_[static_cast<std::size_t>(i)];
      OCTAVO_RETURN_IF_ERROR(store(dag, e.output(), dag.value[e.output().get()], index, compute_of(e.compute)));
    }
    p.epilogue = std::move(dag.epilogue);
    step.operands = std::move(dag.operands);
    step.outputs = std::move(dag.outputs);
    OCTAVO_RETURN_IF_ERROR(with_names(p.validate(), group));
    if (out_.main_step < 0) out_.main_step = static_cast<int>(out_.steps.size());
    out_.steps.push_back({names_of(group), std::move(step)});
    return {};
  }

  error_t emit_reduction(Group const& group) {
    Node const& n = nodes_[static_cast<std::size_t>(group.nodes.front())];
    int const index = grouping_.group_of[static_cast<std::size_t>(group.nodes.front())];
    Stored in;
    OCTAVO_RETURN_IF_ERROR(load(n.inputs.front().tensor, 0, in));
    DataType_t const compute = compute_of(n.compute);
    std::vector<Stored> where;
    OCTAVO_RETURN_IF_ERROR(places(n.output(), index, compute, where));
    for (Stored const& s : where) {
      ReductionStep step;
      step.mode = *n.reduction;
      step.compute = compute;
      step.x = in.desc;
      step.y = s.desc;
      step.in = in.ref;
      step.out = s.ref;
      out_.steps.push_back({names_of(group), step});
    }
    return {};
  }

  error_t emit_genstats(Group const& group) {
    Node const& n = nodes_[static_cast<std::size_t>(group.nodes.front())];
    int const index = grouping_.group_of[static_cast<std::size_t>(group.nodes.front())];
    Stored in;
    OCTAVO_RETURN_IF_ERROR(load(n.inputs.front().tensor, 0, in));
    DataType_t const compute = compute_of(n.compute);
    std::vector<Stored> sum, sq_sum;
    OCTAVO_RETURN_IF_ERROR(places(n.outputs[0].tensor, index, compute, sum));
    OCTAVO_RETURN_IF_ERROR(places(n.outputs[1].tensor, index, compute, sq_sum));
    std::size_t const passes = std::max<std::size_t>({sum.size(), sq_sum.size(), 1});
    for (std::size_t i = 0; i < passes; ++i) {
      GenstatsStep step;
      step.compute = compute;
      step.x = in.desc;
      step.in = in.ref;
      if (i < sum.size()) {
        step.sum = sum[i].desc;
        step.sum_out = sum[i].ref;
      }
      if (i < sq_sum.size()) {
        step.sq_sum = sq_sum[i].desc;
        step.sq_sum_out = sq_sum[i].ref;
      }
      out_.steps.push_back({names_of(group), step});
    }
    return {};
  }

  // ---- the caller's tensors, sorted by uid
  // ---------------------------------------------------------------------------------------

  void sort_bound() {
    std::vector<int> order(out_.bound.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return out_.bound[static_cast<std::size_t>(a)].uid < out_.bound[static_cast<std::size_t>(b)].uid;
    });
    std::vector<int> place(order.size());
    std::vector<BoundTensor> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
      sorted.push_back(std::move(out_.bound[static_cast<std::size_t>(order[i])]));
    }
    out_.bound = std::move(sorted);
    const auto fix = [&](Ref& r) {
      if (r.kind == Ref::Kind::bound) r.index = place[static_cast<std::size_t>(r.index)];
    };
    const auto fix_all = [&](std::vector<Ref>& refs) { std::for_each(refs.begin(), refs.end(), fix); };
    for (Step& s : out_.steps) {
      if (auto* c = std::get_if<ConvStep>(&s.work)) {
        fix(c->x), fix(c->w), fix(c->y), fix(c->w_zero_points);
        fix_all(c->operands), fix_all(c->outputs);
      } else if (auto* p = std::get_if<PointwiseStep>(&s.work)) {
        fix_all(p->operands), fix_all(p->outputs);
      } else if (auto* r = std::get_if<ReductionStep>(&s.work)) {
        fix(r->in), fix(r->out);
      } else if (auto* g = std::get_if<GenstatsStep>(&s.work)) {
        fix(g->in), fix(g->sum_out), fix(g->sq_sum_out);
      } else if (auto* o = std::get_if<ReorderStep>(&s.work)) {
        fix(o->in), fix(o->out);
      }
    }
    for (BoundTensor& b : out_.bound) {
      Tensor_attributes const& t = *b.tensor;
      if (describe(t, 0, b.desc).is_bad()) continue;
      b.declared = t.get_data_type();
      b.origin = t.get_data_type_origin();
      std::int64_t const element = std::max<std::int64_t>(1, element_bytes(b.desc.type));
      b.alignment = t.get_alignment() == Tensor_attributes::default_alignment ? element : t.get_alignment();
      b.span_bytes = b.is_host_scalar ? element : b.desc.span_bytes();
    }
    for (Step const& s : out_.steps) {
      if (ConvStep const* c = s.conv()) {
        for (Ref r : {c->x, c->w, c->y}) {
          if (r.kind == Ref::Kind::bound) out_.bound[static_cast<std::size_t>(r.index)].is_convolution_input = true;
        }
      }
    }
  }

  std::vector<Node> const& nodes_;
  Lowered& out_;
  Grouping grouping_;
  std::unordered_map<Tensor_attributes const*, int> producer_group_;
  std::unordered_map<Tensor_attributes const*, std::vector<int>> readers_;
  std::unordered_map<Tensor_attributes const*, int> bound_;
  std::unordered_map<Tensor_attributes const*, Stored> kept_;
};

}  // namespace

double scalar_value(pass_by_values_t const& value) {
  return std::visit(
      [](auto const& v) -> double {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
          return static_cast<double>(static_cast<float>(v));
        } else {
          return static_cast<double>(v);
        }
      },
      value);
}

error_t describe(Tensor_attributes const& t, std::size_t rank, TensorDesc& out) {
  Ints const dim = logical_dims(t), stride = t.get_stride();
  std::int64_t const v = vector_of(t);
  if (rank == 0) rank = dim.size();
  if (dim.size() > rank || dim.size() != stride.size() || rank > static_cast<std::size_t>(kMaxRank) ||
      (v != 1 && dim.size() != rank)) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "Tensor '" + t.get_name() + "' has dims " + list_text(dim) +
                                                   "; where it is used it needs " + std::to_string(rank) + " dims."};
  }
  out = TensorDesc();
  out.type = element_type(t.get_data_type());
  out.rank = static_cast<int>(rank);
  out.vector = v;
  std::size_t const shift = rank - dim.size();
  for (std::size_t i = 0; i < rank; ++i) {
    out.dim[i] = i < shift ? 1 : dim[i - shift];
    out.stride[i] = 0;
    if (i >= shift && __builtin_mul_overflow(stride[i - shift], v, &out.stride[i])) {
      return {error_code_t::INVALID_VALUE,
              "Tensor '" + t.get_name() + "' has strides " + list_text(stride) + ", out of range."};
    }
  }
  double reach = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    reach += static_cast<double>(out.stride[i]) * static_cast<double>(std::max<std::int64_t>(out.dim[i] - 1, 0));
  }
  if (reach > 0x1p58) {
    return {error_code_t::INVALID_VALUE, "Tensor '" + t.get_name() + "' with dims " + list_text(dim) + " and strides " +
                                             list_text(stride) + " reaches past any memory; check the strides."};
  }
  return {};
}

error_t lower(std::vector<Node> const& nodes, Lowered& out) {
  out = Lowered();
  return Lowering(nodes, out).run();
}

}  // namespace octavo::graph
