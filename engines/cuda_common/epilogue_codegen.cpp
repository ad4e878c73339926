// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_common/epilogue_codegen.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engines/cuda_common/epilogue_nodes.h"

namespace octavo::cuda {
namespace {

std::string str(std::int64_t v) { return std::to_string(v); }

/// One tensor of the epilogue, dims padded in front to d0, channel, three spatial axes.
struct Place {
  std::int64_t stride[5] = {};  ///< 0 where the tensor does not vary
  std::int64_t vector = 1;
  std::int64_t span = 0;
  bool varies_in_channel = false, varies_in_row = false;

  Place(const TensorDesc& desc, const TensorDesc& result) {
    for (int i = 0; i < desc.rank; ++i) {
      const int to = i < 2 ? i : i + 5 - desc.rank;
      const bool varies = desc.dim[static_cast<std::size_t>(i)] != 1 && result.dim[static_cast<std::size_t>(i)] != 1;
      stride[to] = varies ? desc.stride[static_cast<std::size_t>(i)] : 0;
      if (varies) (i == 1 ? varies_in_channel : varies_in_row) = true;
    }
    if (varies_in_channel) vector = desc.vector;
    span = desc.span_elements();
  }

  /// Runs of V channels from a multiple of V on are contiguous, and aligned to V elements, for every divisor V of this.
  std::int64_t run() const {
    if (!varies_in_channel || (vector == 1 && stride[1] != 1)) return 1;
    std::int64_t g = vector > 1 ? std::gcd(vector, stride[1]) : 32;
    for (int i = 0; i < 5; ++i)
      if (i != 1) g = std::gcd(g, stride[i]);
    return g;
  }

  std::string channel_offset(const std::string& c) const {
    if (!varies_in_channel) return "0";
    if (vector > 1) return "(" + c + ") / " + str(vector) + " * " + str(stride[1]) + " + (" + c + ") % " + str(vector);
    return stride[1] == 1 ? c : "(" + c + ") * " + str(stride[1]);
  }
  std::string row_offset() const {
    const char* const names[5] = {"d0", "", "s0", "s1", "s2"};
    std::string text;
    for (int i = 0; i < 5; ++i)
      if (i != 1 && stride[i] != 0)
        text += (text.empty() ? "" : " + ") + std::string(names[i]) + " * idx_t(" + str(stride[i]) + ")";
    return text.empty() ? "0" : text;
  }
};

struct Tensor {
  std::string id;    ///< "o3": operand value 3; "r0": output 0
  std::string type;  ///< storage
  std::string slot;  ///< "args.slot[0]"
  Place place;
};

std::string kind_name(Kind kind) {
  switch (kind) {
    case Kind::f32:
      return "float";
    case Kind::f64:
      return "double";
    case Kind::i32:
      return "s32";
    case Kind::i64:
      return "s64";
    case Kind::boolean:
      return "bool";
  }
  return "";
}

std::string load_expression(Kind kind, const std::string& raw) {
  switch (kind) {
    case Kind::f32:
      return "to_float(" + raw + ")";
    case Kind::f64:
      return raw;
    case Kind::i64:
      return raw;
    case Kind::boolean:
      return "to_bool(" + raw + ")";
    default:
      return "s32(" + raw + ")";
  }
}

class Generator {
 public:
  explicit Generator(const Problem& problem) : p_(problem), result_(problem.result()) {}

  std::string run() {
    collect();
    std::string text = "struct EpilogueArgs {\n  unsigned long long slot[" + str(std::max(slots_, 1)) + "];\n};\n";
    text += "struct Epilogue {\n  using acc_t = " + kind_name(kind_of_accumulator(p_)) +
            ";\n  using idx_t = " + (wide_ ? "long long" : "int") + ";\n  static constexpr int kRun = " + str(run_) + ";\n";
    row(text);
    channels(text);
    store(text);
    return text + "};\n";
  }

 private:
  void collect() {
    const Epilogue& e = p_.epilogue;
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
      const Epilogue::Operand& o = e.operands[i];
      if (o.source == Epilogue::Source::constant) continue;
      TensorDesc desc = o.desc;
      if (o.source == Epilogue::Source::host_scalar) desc.dim.fill(1);
      const std::string raw = "args.slot[" + str(slots_++) + "]";
      operands_.push_back({"o" + str(static_cast<std::int64_t>(i) + 1), storage_name(desc.type), raw, Place(desc, result_)});
      scalars_.push_back(o.source == Epilogue::Source::host_scalar);
    }
    for (std::size_t i = 0; i < e.outputs.size(); ++i)
      outputs_.push_back({"r" + str(static_cast<std::int64_t>(i)), storage_name(e.outputs[i].desc.type),
                          "args.slot[" + str(slots_++) + "]", Place(e.outputs[i].desc, result_)});
    std::int64_t run = 0;
    const auto look = [&](const Tensor& t) {
      if (t.place.span > (std::int64_t{1} << 30)) wide_ = true;
      if (t.place.varies_in_channel) run = std::gcd(run, t.place.run());
    };
    for (const Tensor& t : operands_) look(t);
    for (const Tensor& t : outputs_) look(t);
    if (result_.elements() > (std::int64_t{1} << 30)) wide_ = true;
    run_ = run == 0 ? 1 : run;
    for (const Epilogue::Node& n : e.nodes)
      if (n.mode == PointwiseMode_t::GEN_INDEX && n.axis >= 0 && n.axis != 1) needs_coordinates_ = true;
  }

  void row(std::string& text) const {
    std::string members, values;
    const auto add = [&](const Tensor& t) {
      if (!t.place.varies_in_row) return;
      members += "    idx_t " + t.id + ";\n";
      values += "    row." + t.id + " = " + t.place.row_offset() + ";\n";
    };
    for (const Tensor& t : operands_) add(t);
    for (const Tensor& t : outputs_) add(t);
    if (needs_coordinates_) {
      members += "    idx_t d0, s0, s1, s2;\n";
      values += "    row.d0 = d0, row.s0 = s0, row.s1 = s1, row.s2 = s2;\n";
    }
    if (members.empty()) members = "    idx_t unused;\n";
    text += "  struct Row {\n" + members + "  };\n";
    text +=
        "  static OCTAVO_DEVICE Row row([[maybe_unused]] idx_t d0, [[maybe_unused]] idx_t s0, [[maybe_unused]] idx_t s1, "
        "[[maybe_unused]] idx_t s2) {\n    Row row{};\n" +
        values + "    return row;\n  }\n";
  }

  static std::string pointer(const Tensor& t, bool constant) {
    return "reinterpret_cast<" + std::string(constant ? "const " : "") + t.type + "*>(" + t.slot + ")";
  }

  /// Statements that load V elements of a tensor into `to`, at row offset `base`.
  static std::string load(const Tensor& t, const std::string& to, const std::string& base) {
    const std::string p = pointer(t, true);
    std::string text;
    if (t.place.run() > 1) {
      text += "    if constexpr (kWide && " + str(t.place.run()) + " % V == 0) {\n      load_run<V, true>(" + p + " + " + base +
              " + (" + t.place.channel_offset("c") + "), " + to + ");\n    } else {\n  ";
    }
    text += "    for (int i = 0; i < V; ++i) " + to + "[i] = " + p + "[" + base + " + (" + t.place.channel_offset("c + i") +
            ")];\n";
    if (t.place.run() > 1) text += "    }\n";
    return text;
  }

  void channels(std::string& text) const {
    std::string members, loads;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Tensor& t = operands_[i];
      if (t.place.varies_in_row) continue;
      if (scalars_[i]) {
        members += "    " + t.type + " " + t.id + ";\n";
        loads += "    channels." + t.id + " = reinterpret_cast<const " + t.type + "&>(" + t.slot + ");\n";
      } else if (t.place.varies_in_channel) {
        members += "    " + t.type + " " + t.id + "[V];\n";
        loads += load(t, "channels." + t.id, "idx_t(0)");
      } else {
        members += "    " + t.type + " " + t.id + ";\n";
        loads += "    channels." + t.id + " = *" + pointer(t, true) + ";\n";
      }
    }
    if (members.empty()) members = "    int unused;\n";
    text += "  template <int V>\n  struct Channels {\n" + members + "  };\n";
    text +=
        "  template <int V, bool kWide>\n  static OCTAVO_DEVICE Channels<V> channels([[maybe_unused]] const EpilogueArgs& "
        "args, "
        "[[maybe_unused]] idx_t c) {\n    Channels<V> channels;\n" +
        loads + "    return channels;\n  }\n";
  }

  void store(std::string& text) const {
    const Epilogue& e = p_.epilogue;
    text +=
        "  template <int V, bool kWide>\n  static OCTAVO_DEVICE void store(const EpilogueArgs& args, [[maybe_unused]] const "
        "Row& row, "
        "idx_t c, [[maybe_unused]] const Channels<V>& channels, const acc_t (&acc)[V]) {\n";
    for (const Tensor& t : operands_) {
      if (!t.place.varies_in_row) continue;
      if (t.place.varies_in_channel) {
        text += "    " + t.type + " " + t.id + "[V];\n" + load(t, t.id, "row." + t.id);
      } else {
        text += "    const " + t.type + " " + t.id + " = " + pointer(t, true) + "[row." + t.id + "];\n";
      }
    }
    // One array an output: ints for bytes (they pack in pairs), the storage type otherwise.
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      text += "    " + (is_byte(outputs_[i]) ? std::string("s32") : outputs_[i].type) + " " + outputs_[i].id + "[V];\n";
    text += "#pragma unroll\n    for (int i = 0; i < V; ++i) {\n";
    std::vector<Kind> kinds;
    kinds.push_back(kind_of_accumulator(p_));
    text += "      [[maybe_unused]] const acc_t v0 = acc[i];\n";
    std::size_t tensor = 0;
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
      const Epilogue::Operand& o = e.operands[i];
      const Kind kind = kind_of_storage(o.desc.type);
      kinds.push_back(kind);
      std::string value;
      if (o.source == Epilogue::Source::constant) {
        value = constant_literal(o.desc.type, o.constant);
      } else {
        const Tensor& t = operands_[tensor++];
        value =
            load_expression(kind, (t.place.varies_in_row ? "" : "channels.") + t.id + (t.place.varies_in_channel ? "[i]" : ""));
      }
      text += "      [[maybe_unused]] const " + kind_name(kind) + " v" + str(static_cast<std::int64_t>(i) + 1) + " = " + value +
              ";\n";
    }
    for (const Epilogue::Node& node : e.nodes) {
      const NodeText n = generate_node(node, kinds, result_.rank);
      text += "      [[maybe_unused]] const " + kind_name(n.kind) + " v" + str(static_cast<std::int64_t>(kinds.size())) +
              " = " + n.expression + ";\n";
      kinds.push_back(n.kind);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const std::string value = "v" + str(e.outputs[i].value);
      text += "      " + outputs_[i].id + "[i] = " +
              (is_byte(outputs_[i]) ? "to_int(" + value + ")" : "Store<" + outputs_[i].type + ">::from(" + value + ")") + ";\n";
    }
    text += "    }\n";
    for (const Tensor& t : outputs_) {
      std::string from = t.id;
      if (is_byte(t)) {
        from = t.id + "b";
        text += "    " + t.type + " " + from + "[V];\n    pack_" + t.type + "<V>(" + t.id + ", " + from + ");\n";
      }
      const std::string p = pointer(t, false), base = t.place.varies_in_row ? "row." + t.id : "idx_t(0)";
      if (t.place.run() > 1)
        text += "    if constexpr (kWide && " + str(t.place.run()) + " % V == 0) {\n      store_run<V, true>(" + p + " + " +
                base + " + (" + t.place.channel_offset("c") + "), " + from + ");\n    } else {\n  ";
      text += "    for (int i = 0; i < V; ++i) " + p + "[" + base + " + (" + t.place.channel_offset("c + i") + ")] = " + from +
              "[i];\n";
      if (t.place.run() > 1) text += "    }\n";
    }
    text += "  }\n";
  }

  static bool is_byte(const Tensor& t) { return t.type == "s8" || t.type == "u8"; }

  const Problem& p_;
  const TensorDesc& result_;
  std::vector<Tensor> operands_, outputs_;
  std::vector<bool> scalars_;  ///< one for each of operands_
  int slots_ = 0;
  std::int64_t run_ = 1;
  bool wide_ = false, needs_coordinates_ = false;
};

}  // namespace

const char* storage_name(DataType_t type) {
  switch (type) {
    case DataType_t::INT8:
      return "s8";
    case DataType_t::UINT8:
      return "u8";
    case DataType_t::INT32:
      return "s32";
    case DataType_t::INT64:
      return "s64";
    case DataType_t::HALF:
      return "f16";
    case DataType_t::BFLOAT16:
      return "bf16";
    case DataType_t::FP8_E4M3:
      return "e4m3";
    case DataType_t::FP8_E5M2:
      return "e5m2";
    case DataType_t::DOUBLE:
      return "double";
    case DataType_t::BOOLEAN:
      return "boolean";
    default:
      return "float";
  }
}

std::string generate_epilogue(const Problem& problem) { return Generator(problem).run(); }

Verdict epilogue_fits(const Problem& problem) {
  const std::size_t tensors = problem.epilogue.operands.size() + problem.epilogue.outputs.size();
  if (tensors <= static_cast<std::size_t>(kMaxEpilogueSlots)) return Verdict::yes();
  return Verdict::no("the epilogue has " + std::to_string(tensors) + " tensors, and a kernel takes " +
                     std::to_string(kMaxEpilogueSlots));
}

EpilogueSlots::EpilogueSlots(const Problem& problem) {
  const Epilogue& e = problem.epilogue;
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    if (e.operands[i].source == Epilogue::Source::constant) continue;
    Operand o;
    o.index = static_cast<int>(i);
    if (e.operands[i].source == Epilogue::Source::host_scalar) o.host_bytes = element_bytes(e.operands[i].desc.type);
    operands_.push_back(o);
  }
  operand_count_ = static_cast<int>(e.operands.size());
  outputs_ = static_cast<int>(e.outputs.size());
  count_ = static_cast<int>(operands_.size()) + outputs_;
}

error_t EpilogueSlots::fill(const Args& args, std::uint64_t* slots, bool& aligned) const {
  if (static_cast<int>(args.operands.size()) != operand_count_ || static_cast<int>(args.outputs.size()) != outputs_)
    return {error_code_t::INVALID_VARIANT_PACK,
            "The plan has " + std::to_string(operand_count_) + " epilogue operands and " + std::to_string(outputs_) +
                " outputs, and " + std::to_string(args.operands.size()) + " and " + std::to_string(args.outputs.size()) +
                " are bound: bind one address for each."};
  std::uint64_t seen = 0;
  for (const Operand& o : operands_) {
    const void* at = args.operands[static_cast<std::size_t>(o.index)];
    if (!at)
      return {error_code_t::INVALID_VARIANT_PACK,
              "Epilogue operand " + std::to_string(o.index) + " has no address: bind a buffer to it."};
    if (o.host_bytes > 0) {
      *slots = 0;
      std::memcpy(slots, at, static_cast<std::size_t>(o.host_bytes));
    } else {
      *slots = reinterpret_cast<std::uint64_t>(at);
      seen |= *slots;
    }
    ++slots;
  }
  for (int i = 0; i < outputs_; ++i) {
    void* at = args.outputs[static_cast<std::size_t>(i)];
    if (!at)
      return {error_code_t::INVALID_VARIANT_PACK, "Output " + std::to_string(i) + " has no address: bind a buffer to it."};
    *slots = reinterpret_cast<std::uint64_t>(at);
    seen |= *slots;
    ++slots;
  }
  aligned = aligned && (seen & 15) == 0;
  return {};
}

}  // namespace octavo::cuda
