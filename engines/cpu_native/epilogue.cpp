// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/float.h"
#include "engines/cpu_native/transpose.h"
#include "engines/cpu_reference/scalar.h"

namespace octavo::cpu_native {
namespace {

using Op = ChainStep::Op;
using Source = ChainStep::Source;

bool chain_operand_type(DataType_t type) {
  switch (type) {
    case DataType_t::INT8:
    case DataType_t::UINT8:
    case DataType_t::INT32:
    case DataType_t::FLOAT:
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return true;
    default:
      return false;
  }
}

bool small_integer(DataType_t type) {
  return type == DataType_t::INT8 || type == DataType_t::UINT8 || type == DataType_t::INT32;
}

/// `base`: the dims that decide what is broadcast.
RowAddress row_address(const TensorDesc& desc, const TensorDesc& result) {
  RowAddress a;
  a.type = desc.type;
  a.vector = desc.vector;
  a.bytes = element_bytes(desc.type);
  for (int d = 0; d < desc.rank; ++d) a.stride[d] = desc.dim[d] == 1 && result.dim[d] != 1 ? 0 : desc.stride[d];
  if (desc.dim[1] == 1) {
    a.stride[1] = 0;
    a.vector = 1;
    a.channels = RowAddress::Channels::broadcast;
  } else if (desc.vector > 1) {
    a.channels = desc.vector % 16 == 0 ? RowAddress::Channels::blocked : RowAddress::Channels::strided;
  } else {
    a.channels = desc.stride[1] == 1 ? RowAddress::Channels::contiguous : RowAddress::Channels::strided;
  }
  return a;
}

void integer_range(DataType_t type, std::int32_t& lo, std::int32_t& hi) {
  lo = type == DataType_t::INT8 ? -128 : type == DataType_t::UINT8 ? 0 : std::numeric_limits<std::int32_t>::min();
  hi = type == DataType_t::INT8 ? 127 : type == DataType_t::UINT8 ? 255 : std::numeric_limits<std::int32_t>::max();
}

double read_scalar(DataType_t type, const void* p, std::int64_t i) {
  switch (type) {
    case DataType_t::INT8:
      return static_cast<const std::int8_t*>(p)[i];
    case DataType_t::UINT8:
      return static_cast<const std::uint8_t*>(p)[i];
    case DataType_t::INT32:
      return static_cast<const std::int32_t*>(p)[i];
    case DataType_t::FLOAT:
      return static_cast<double>(static_cast<const float*>(p)[i]);
    case DataType_t::HALF:
      return static_cast<double>(f16_to_float(static_cast<const std::uint16_t*>(p)[i]));
    case DataType_t::BFLOAT16:
      return static_cast<double>(bf16_to_float(static_cast<const std::uint16_t*>(p)[i]));
    default:
      return 0;
  }
}

/// A constant is what a one-element tensor of its type would hold.
double constant_value(DataType_t type, double v) {
  alignas(8) std::byte bytes[8] = {};
  cpu_reference::store(type, bytes, 0, cpu_reference::Scalar::of_f64(v));
  return cpu_reference::load(type, bytes, 0).to_f64();
}

/// Turns the DAG into steps on one running value and one auxiliary value; gives up (false) on anything else.
class ChainBuilder {
 public:
  ChainBuilder(const Problem& problem, TileEpilogue::Program& program) : p_(problem), e_(problem.epilogue), out_(program) {}

  bool build() {
    const DataType_t acc = accumulator_type(p_);
    if (acc != DataType_t::INT32 && acc != DataType_t::FLOAT) return false;
    out_.float_accumulator = acc == DataType_t::FLOAT;
    is_int_ = acc == DataType_t::INT32;
    out_.rank = p_.result().rank;
    for (const Epilogue::Operand& o : e_.operands) {
      if (!chain_operand_type(o.desc.type)) return false;
      out_.operands.push_back(row_address(o.desc, p_.result()));
    }
    for (const Epilogue::Output& o : e_.outputs) out_.outputs.push_back(row_address(o.desc, p_.result()));
    if (!stores(0)) return false;
    for (int n = 0; n < static_cast<int>(e_.nodes.size()); ++n) {
      if (!node(e_.nodes[n], e_.first_node() + n)) return false;
    }
    return stored_ == static_cast<int>(e_.outputs.size());
  }

 private:
  bool is_operand(int id) const { return id >= 1 && id < e_.first_node(); }

  ChainStep& emit(Op op, bool aux = false) {
    ChainStep s;
    s.op = op;
    s.auxiliary = aux;
    out_.steps.push_back(s);
    return out_.steps.back();
  }

  /// The second input of a step: an operand read as int or float.
  bool operand(int id, bool as_int, ChainStep& step) {
    const Epilogue::Operand& o = e_.operands[id - 1];
    if (as_int && !small_integer(o.desc.type)) return false;
    bool channel_only = true;
    for (int d = 0; d < o.desc.rank; ++d) channel_only = channel_only && (d == 1 || o.desc.dim[d] == 1);
    if (!channel_only) {
      step.source = Source::tensor;
      step.index = id - 1;
      return o.source == Epilogue::Source::device;
    }
    const bool channel = o.desc.dim[1] != 1;
    step.source = channel ? Source::channel : Source::scalar;
    for (std::size_t i = 0; i < out_.params.size(); ++i) {
      if (out_.params[i].operand == id - 1 && out_.params[i].as_int == as_int) {
        step.index = static_cast<int>(i);
        return true;
      }
    }
    step.index = static_cast<int>(out_.params.size());
    out_.params.push_back({id - 1, as_int, channel, 0});
    return true;
  }

  bool stores(int value) {
    for (int i = 0; i < static_cast<int>(e_.outputs.size()); ++i) {
      if (e_.outputs[i].value != value) continue;
      const DataType_t type = e_.outputs[i].desc.type;
      const bool narrow_float = type == DataType_t::HALF || type == DataType_t::BFLOAT16;
      if (!chain_operand_type(type) || (is_int_ && narrow_float)) return false;  // s32 -> bf16 must round once
      ChainStep& s = emit(Op::store);
      s.index = i;
      s.value_is_int = is_int_;
      ++stored_;
    }
    return true;
  }

  bool node(const Epilogue::Node& n, int id) {
    const bool as_int = n.compute == DataType_t::INT32;
    if (!as_int && n.compute != DataType_t::FLOAT) return false;
    if (n.in[2] >= 0) return false;
    int a = n.in[0], b = n.in[1];
    const bool binary = n.mode == PointwiseMode_t::ADD || n.mode == PointwiseMode_t::SUB || n.mode == PointwiseMode_t::MUL ||
                        n.mode == PointwiseMode_t::MAX || n.mode == PointwiseMode_t::MIN || n.mode == PointwiseMode_t::DIV;
    if (binary != (b >= 0)) return false;

    bool aux = false;
    if (a != main_ && (b < 0 || b != main_)) {  // a side chain that starts from an operand
      aux = true;
      if (b >= 0 && a != aux_ && b == aux_) std::swap(a, b);
      if (b >= 0 && (n.mode == PointwiseMode_t::SUB || n.mode == PointwiseMode_t::DIV) && a != n.in[0]) return false;
      if (a != aux_) {
        if (!is_operand(a)) return false;
        aux_is_int_ = as_int;
        ChainStep& load = emit(as_int ? Op::load_i : Op::load_f, true);
        if (!operand(a, as_int, load)) return false;
      }
    }
    bool swapped = false;
    if (!aux && a != main_) {
      std::swap(a, b);
      swapped = true;
    }
    bool& value_is_int = aux ? aux_is_int_ : is_int_;
    if (as_int && !value_is_int) return false;
    if (!as_int && value_is_int) {
      emit(Op::to_float, aux);
      value_is_int = false;
    }
    ChainStep step;
    step.auxiliary = aux;
    if (!operation(n, as_int, swapped, step)) return false;
    if (binary) {
      if (b == (aux ? -2 : aux_) && !aux) {
        if (!as_int && aux_is_int_) {
          emit(Op::to_float, true);
          aux_is_int_ = false;
        }
        if (as_int != aux_is_int_) return false;
        step.source = Source::auxiliary;
      } else if (!is_operand(b) || !operand(b, as_int, step)) {
        return false;
      }
    }
    if (n.mode != PointwiseMode_t::IDENTITY) out_.steps.push_back(step);
    if (is_integer(n.result)) {
      if (!small_integer(n.result)) return false;
      if (!value_is_int || n.result != DataType_t::INT32) {
        ChainStep& s = emit(value_is_int ? Op::clamp_int : Op::to_int, aux);
        integer_range(n.result, s.lo, s.hi);
      }
      value_is_int = true;
    } else if (n.result == DataType_t::BOOLEAN) {
      return false;
    }
    (aux ? aux_ : main_) = id;
    for (const Epilogue::Output& o : e_.outputs) {
      if (aux && o.value == id) return false;
    }
    return aux || stores(id);
  }

  static bool operation(const Epilogue::Node& n, bool as_int, bool swapped, ChainStep& s) {
    switch (n.mode) {
      case PointwiseMode_t::IDENTITY:
        return true;
      case PointwiseMode_t::ADD:
        s.op = as_int ? Op::add_i : Op::add_f;
        return true;
      case PointwiseMode_t::SUB:
        if (as_int && swapped) return false;
        s.op = as_int ? Op::sub_i : swapped ? Op::rsub_f : Op::sub_f;
        return true;
      case PointwiseMode_t::MUL:
        s.op = as_int ? Op::mul_i : Op::mul_f;
        return true;
      case PointwiseMode_t::DIV:
        s.op = Op::div_f;
        return !as_int && !swapped;
      case PointwiseMode_t::MAX:
        s.op = as_int ? Op::max_i : Op::max_f;
        return as_int || !swapped;  // which zero, which NaN
      case PointwiseMode_t::MIN:
        s.op = as_int ? Op::min_i : Op::min_f;
        return as_int || !swapped;
      case PointwiseMode_t::NEG:
        s.op = Op::neg_f;
        return !as_int;
      case PointwiseMode_t::ABS:
        s.op = Op::abs_f;
        return !as_int;
      case PointwiseMode_t::RELU_FWD:
        if (as_int) {
          const double upper = n.has_upper_clip ? n.upper_clip : std::numeric_limits<std::int32_t>::max();
          if (n.slope != 0 || std::nearbyint(n.lower_clip) != n.lower_clip || std::nearbyint(upper) != upper) return false;
          if (std::fabs(n.lower_clip) > 2147483647.0 || std::fabs(upper) > 2147483647.0) return false;
          s.op = Op::relu_i;
          s.lo = static_cast<std::int32_t>(n.lower_clip);
          s.hi = static_cast<std::int32_t>(upper);
          return s.lo <= s.hi;
        }
        s.op = Op::relu_f;
        s.lower = static_cast<float>(n.lower_clip);
        s.upper = n.has_upper_clip ? static_cast<float>(n.upper_clip) : std::numeric_limits<float>::infinity();
        s.slope = static_cast<float>(n.slope);
        s.has_upper = n.has_upper_clip;
        return true;
      default:
        return false;
    }
  }

  const Problem& p_;
  const Epilogue& e_;
  TileEpilogue::Program& out_;
  int main_ = 0, aux_ = -1, stored_ = 0;
  bool is_int_ = true, aux_is_int_ = false;
};

/// Reads the chain as the fused form; leaves `active` false when it is anything else.
FusedForm recognise(const TileEpilogue::Program& p) {
  FusedForm f;
  std::vector<const ChainStep*> main, aux;
  for (const ChainStep& s : p.steps) (s.auxiliary ? aux : main).push_back(&s);
  const auto is_param = [](const ChainStep& s) { return s.source == Source::scalar || s.source == Source::channel; };
  std::size_t i = 0;
  const auto next = [&](Op op) { return i < main.size() && main[i]->op == op; };
  const auto take_param = [&](Op op, int& slot) {
    if (next(op) && is_param(*main[i])) slot = main[i++]->index;
  };
  if (!p.float_accumulator) take_param(Op::add_i, f.bias_i);
  if (next(Op::to_float)) {
    f.to_float = true;
    ++i;
  }
  const bool is_float = f.to_float || p.float_accumulator;
  if (is_float) {
    if (next(Op::add_f) && i + 1 < main.size() && main[i + 1]->op == Op::mul_f) take_param(Op::add_f, f.before);
    take_param(Op::mul_f, f.scale);
    take_param(Op::add_f, f.bias);
    if (next(Op::add_f) && (main[i]->source == Source::tensor || main[i]->source == Source::auxiliary)) {
      if (main[i]->source == Source::tensor) {
        f.residual = main[i]->index;
      } else {
        if (aux.empty() || aux.size() > 2 || aux[0]->op != Op::load_f || aux[0]->source != Source::tensor) return f;
        f.residual = aux[0]->index;
        if (aux.size() == 2) {
          if (aux[1]->op != Op::mul_f || aux[1]->source != Source::scalar) return f;
          f.residual_scale = aux[1]->index;
        }
        aux.clear();
      }
      const RowAddress::Channels c = p.operands[static_cast<std::size_t>(f.residual)].channels;
      if (c != RowAddress::Channels::contiguous && c != RowAddress::Channels::blocked) return f;
      ++i;
    }
    if (next(Op::relu_f) && main[i]->slope == 0 && main[i]->lower <= main[i]->upper) {
      f.relu = true;
      f.lower = main[i]->lower;
      f.upper = main[i]->upper;
      f.has_upper = main[i]->has_upper;
      ++i;
    }
    if (next(Op::to_int) && main[i]->hi == std::numeric_limits<std::int32_t>::max()) {
      f.to_int = true;
      ++i;
      if (next(Op::add_i) && main[i]->source == Source::scalar) f.zero_point = main[i++]->index;
    }
  }
  if (!aux.empty() || i + 1 != main.size() || main[i]->op != Op::store) return f;
  f.output = main[i]->index;
  const RowAddress::Channels c = p.outputs[static_cast<std::size_t>(f.output)].channels;
  f.active = c == RowAddress::Channels::contiguous || c == RowAddress::Channels::blocked;
  return f;
}

/// Recognises Affine in a finished chain. Only x86 kernels have that form built in.
[[maybe_unused]] TileEpilogue::Affine affine_of(const TileEpilogue::Program& program) {
  TileEpilogue::Affine a;
  const auto& steps = program.steps;
  std::size_t i = 0;
  const auto param = [&](Op op, int& index) {
    const bool here = i < steps.size() && steps[i].op == op && !steps[i].auxiliary &&
                      (steps[i].source == Source::channel || steps[i].source == Source::scalar);
    if (here) index = steps[i++].index;
    return here;
  };
  if (program.float_accumulator) return a;
  param(Op::add_i, a.bias_i);
  if (i >= steps.size() || steps[i].op != Op::to_float || steps[i].auxiliary) return a;
  ++i;
  if (!param(Op::mul_f, a.scale)) return a;
  param(Op::add_f, a.bias);
  if (i < steps.size() && steps[i].op == Op::relu_f && !steps[i].auxiliary && steps[i].slope == 0 && steps[i].lower == 0 &&
      !steps[i].has_upper) {
    a.relu = true;
    ++i;
  }
  if (i + 1 != steps.size() || steps[i].op != Op::store || steps[i].value_is_int) return a;
  const RowAddress& out = program.outputs[static_cast<std::size_t>(steps[i].index)];
  const bool run = out.channels == RowAddress::Channels::contiguous || out.channels == RowAddress::Channels::blocked;
  a.matches = run && (out.type == DataType_t::INT8 || out.type == DataType_t::UINT8);
  return a;
}

constexpr std::int64_t kStagePoints = 32, kStageChannels = 64;
constexpr std::size_t kMaxStagedOutputs = 3;

template <class T>
void turn(const std::byte* stage, std::byte* to, std::int64_t points, std::int64_t point_stride, std::int64_t channels,
          std::int64_t channel_stride) {
  const auto* s = reinterpret_cast<const T*>(stage);
  auto* d = reinterpret_cast<T*>(to);
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t w = 0; w < points; ++w) {
      std::memcpy(d + c * channel_stride + w * point_stride, s + w * kStageChannels + c, sizeof(T));
    }
  }
}

/// A staged block [point][kStageChannels] to its place; strides in elements.
void turn_stage(const std::byte* stage, std::byte* to, std::int64_t bytes, std::int64_t points, std::int64_t point_stride,
                std::int64_t channels, std::int64_t channel_stride) {
  if (bytes == 2) return turn<std::uint16_t>(stage, to, points, point_stride, channels, channel_stride);
  if (bytes == 4) return turn<std::uint32_t>(stage, to, points, point_stride, channels, channel_stride);
  const auto* s = reinterpret_cast<const std::uint8_t*>(stage);
  auto* d = reinterpret_cast<std::uint8_t*>(to);
  std::int64_t w = 0;
  if (point_stride == 1) {
    for (; w + 16 <= points; w += 16) {
      std::int64_t c = 0;
      for (; c + 16 <= channels; c += 16) {
        transpose_16x16(s + w * kStageChannels + c, kStageChannels, d + c * channel_stride + w, channel_stride);
      }
      for (; c < channels; ++c) {
        for (std::int64_t i = 0; i < 16; ++i) d[c * channel_stride + w + i] = s[(w + i) * kStageChannels + c];
      }
    }
  }
  for (; w < points; ++w) {
    for (std::int64_t c = 0; c < channels; ++c) d[c * channel_stride + w * point_stride] = s[w * kStageChannels + c];
  }
}

}  // namespace

error_t TileEpilogue::compile(const Problem& problem, CpuIsa isa) {
  problem_ = problem;
  program_ = {};
  chain_ = nullptr;
  param_bytes_ = 0;
  staged_.clear();
  if (!ChainBuilder(problem_, program_).build()) {
    program_ = {};
    return {};
  }
  stage_outputs();
  program_.fused = recognise(program_);
  chain_ = &run_chain_portable;
#if defined(__x86_64__)
  if (isa >= CpuIsa::avx512) {
    program_.affine = affine_of(program_);
    chain_ = program_.affine.matches ? &run_affine_avx512 : &run_chain_avx512;
  } else if (isa == CpuIsa::avx2) {
    chain_ = &run_chain_avx2;
  }
#else
  (void)isa;
#endif
  for (Param& param : program_.params) {
    param.offset = param_bytes_;
    const std::int64_t n = (param.channel ? problem_.result().dim[1] : 1) + 2 * kAccumulatorPad;
    param_bytes_ += static_cast<std::size_t>((n * 4 + 63) / 64 * 64);
  }
  return {};
}

TileEpilogue::Bound TileEpilogue::bind(const Args& args, void* workspace) const {
  Bound bound;
  bound.args = &args;
  auto* base = static_cast<std::byte*>(workspace);
  bound.params = base;
  if (!chain_) return bound;
  for (const Param& param : program_.params) {
    const Epilogue::Operand& o = problem_.epilogue.operands[param.operand];
    const void* source = o.source == Epilogue::Source::constant ? nullptr : args.operands[param.operand];
    const std::int64_t n = param.channel ? o.desc.dim[1] : 1;
    auto* f = reinterpret_cast<float*>(base + param.offset);
    auto* i = reinterpret_cast<std::int32_t*>(base + param.offset);
    if (source && o.desc.stride[1] == 1 && o.desc.vector == 1 && param.channel &&
        o.desc.type == (param.as_int ? DataType_t::INT32 : DataType_t::FLOAT)) {
      std::memcpy(base + param.offset, source, static_cast<std::size_t>(n) * 4);
    } else {
      for (std::int64_t c = 0; c < n; ++c) {
        const std::int64_t at = (c / o.desc.vector) * o.desc.stride[1] + c % o.desc.vector;
        const double v =
            source ? read_scalar(o.desc.type, source, param.channel ? at : 0) : constant_value(o.desc.type, o.constant);
        if (param.as_int) {
          i[c] = static_cast<std::int32_t>(v);
        } else {
          f[c] = static_cast<float>(v);
        }
      }
    }
    for (std::int64_t c = n; c < n + 2 * kAccumulatorPad; ++c) {  // pad: never NaN traps, never stored
      if (param.channel) {
        i[c] = 0;
      } else {
        i[c] = i[0];
      }
    }
  }
  if (program_.affine.matches) bound.tame = is_tame(bound);
  return bound;
}

bool TileEpilogue::is_tame(const Bound& bound) const {
  const Affine& a = program_.affine;
  const auto largest = [&](int index) {
    if (index < 0) return 0.0;
    const Param& param = program_.params[static_cast<std::size_t>(index)];
    const auto* v = reinterpret_cast<const float*>(bound.params + param.offset);
    const std::int64_t n = param.channel ? problem_.result().dim[1] : 1;
    double most = 0;
    for (std::int64_t c = 0; c < n; ++c) {
      if (!std::isfinite(v[c])) return std::numeric_limits<double>::infinity();
      most = std::max(most, std::fabs(static_cast<double>(v[c])));
    }
    return most;
  };
  const bool bytes = element_bytes(problem_.input_a().type) == 1 && element_bytes(problem_.input_b().type) == 1;
  const bool plain = bytes && problem_.zero_points == ZeroPoints{} && a.bias_i < 0;
  const double sum = plain ? std::min(0x1p31, 255.0 * 255.0 * static_cast<double>(problem_.accumulation_length())) : 0x1p31;
  return sum * largest(a.scale) + largest(a.bias) < 0x1.fffffep30;
}

bool TileEpilogue::affine_block(const Bound& bound, std::int64_t channel, std::int64_t channels, AffineBlock& block) const {
  const Affine& a = program_.affine;
  if (!a.matches || !bound.tame) return false;
  const auto copy = [&](int index, auto* to) {
    if (index < 0) {
      std::memset(to, 0, 64 * 4);
      return;
    }
    const Param& param = program_.params[static_cast<std::size_t>(index)];
    const std::byte* from = bound.params + param.offset;
    if (param.channel) {
      std::memcpy(to, from + channel * 4, static_cast<std::size_t>(channels) * 4);
      std::memset(to + channels, 0, static_cast<std::size_t>(64 - channels) * 4);
    } else {
      for (int l = 0; l < 64; ++l) std::memcpy(to + l, from, 4);
    }
  };
  copy(a.scale, block.scale);
  copy(a.bias, block.bias);
  copy(a.bias_i, block.bias_i);
  block.relu = a.relu;
  block.is_unsigned = program_.outputs[static_cast<std::size_t>(program_.steps.back().index)].type == DataType_t::UINT8;
  return true;
}

void TileEpilogue::stage_outputs() {
  if (program_.outputs.size() > kMaxStagedOutputs) return;
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    RowAddress& a = program_.outputs[i];
    if (a.channels != RowAddress::Channels::strided || a.vector != 1) continue;
    staged_.push_back({static_cast<int>(i), a});
    a.stride = {};
    a.stride[1] = 1;
    a.stride[static_cast<std::size_t>(program_.rank - 1)] = kStageChannels;
    a.channels = RowAddress::Channels::contiguous;
  }
}

void TileEpilogue::run_staged(const Bound& bound, const Rows& rows, const void* accumulators, std::ptrdiff_t row_stride) const {
  alignas(64) std::byte stage[kMaxStagedOutputs][kStagePoints * kStageChannels * 4];
  void* outputs[kMaxStagedOutputs];
  Args args = *bound.args;
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) outputs[i] = bound.args->outputs[i];
  args.outputs = std::span<void* const>(outputs, program_.outputs.size());
  Bound local = bound;
  local.args = &args;
  const auto last = static_cast<std::size_t>(program_.rank - 3);
  Rows part = rows;
  for (std::int64_t w = 0; w < rows.count; w += kStagePoints) {
    part.spatial[last] = rows.spatial[last] + w;
    part.count = std::min<std::int64_t>(kStagePoints, rows.count - w);
    for (std::int64_t c = 0; c < rows.channels; c += kStageChannels) {
      part.channel = rows.channel + c;
      part.channels = std::min<std::int64_t>(kStageChannels, rows.channels - c);
      for (std::size_t i = 0; i < staged_.size(); ++i) {
        const RowAddress& a = staged_[i].address;
        // The kernels add the point and the channel: they are taken off beforehand.
        const std::int64_t ahead = (part.spatial[last] * kStageChannels + part.channel) * a.bytes;
        outputs[staged_[i].output] =
            reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(stage[i]) - static_cast<std::uintptr_t>(ahead));
      }
      chain_(program_, local, part, static_cast<const std::int32_t*>(accumulators) + w * row_stride + c, row_stride);
      for (std::size_t i = 0; i < staged_.size(); ++i) {
        const RowAddress& a = staged_[i].address;
        std::int64_t at = part.outer * a.stride[0] + part.channel * a.stride[1];
        for (int d = 2; d < program_.rank; ++d)
          at += part.spatial[static_cast<std::size_t>(d - 2)] * a.stride[static_cast<std::size_t>(d)];
        auto* to = static_cast<std::byte*>(bound.args->outputs[static_cast<std::size_t>(staged_[i].output)]) + at * a.bytes;
        turn_stage(stage[i], to, a.bytes, part.count, a.stride[static_cast<std::size_t>(program_.rank - 1)], part.channels,
                   a.stride[1]);
      }
    }
  }
}

void TileEpilogue::run(const Bound& bound, const Rows& rows, const void* accumulators, std::ptrdiff_t row_stride) const {
  if (!staged_.empty()) {
    run_staged(bound, rows, accumulators, row_stride);
  } else if (chain_) {
    chain_(program_, bound, rows, accumulators, row_stride);
  } else {
    run_general(bound, rows, accumulators, row_stride);
  }
}

}  // namespace octavo::cpu_native
