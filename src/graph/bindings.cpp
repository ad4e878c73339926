// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bindings.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/handle.h"
#include "graph/node.h"

namespace octavo::graph {
namespace {

error_t bad_pack(std::string text) { return {error_code_t::INVALID_VARIANT_PACK, std::move(text)}; }

std::string label(BoundTensor const& t) { return "Tensor '" + t.name + "' (uid " + std::to_string(t.uid) + ")"; }

std::string desc_text(TensorDesc const& d) {
  std::vector<std::int64_t> dim(d.dim.begin(), d.dim.begin() + d.rank), stride(d.stride.begin(), d.stride.begin() + d.rank);
  return list_text(dim) + " with strides " + list_text(stride) +
         (d.vector > 1 ? " in vectors of " + std::to_string(d.vector) + " channels" : "");
}

/// (stride, size) of every dim that moves, outermost first: two descriptions with the same list touch the same memory in the
/// same order of dims.
using Walk = std::vector<std::pair<std::int64_t, std::int64_t>>;

Walk walk_of(std::vector<std::int64_t> const& dim, std::vector<std::int64_t> const& stride) {
  Walk w;
  for (std::size_t i = 0; i < dim.size(); ++i)
    if (dim[i] != 1) w.emplace_back(stride[i], dim[i]);
  std::sort(w.rbegin(), w.rend());
  return w;
}

/// Whether `coarse` is `fine` with neighbours that run on without a gap taken as one: [1,1,25] for [1,1,5,5]. Only then: any
/// two packed layouts of one size cover the same memory, so NCHW would pass for NHWC if both were merged to a single run.
bool coarsens(Walk const& coarse, Walk const& fine) {
  std::size_t i = 0;
  for (auto const& [stride, size] : coarse) {
    std::int64_t product = 1;
    while (product < size) {
      if (i == fine.size()) return false;
      auto const& [s, n] = fine[i];
      if (product > 1 && fine[i - 1].first != s * n) return false;
      product *= n;
      ++i;
    }
    if (product != size || fine[i - 1].first != stride) return false;
  }
  return i == fine.size();
}

Walk walk_of(TensorDesc const& d) {
  std::vector<std::int64_t> dim(d.dim.begin(), d.dim.begin() + d.rank), stride(d.stride.begin(), d.stride.begin() + d.rank);
  if (d.vector > 1 && d.rank > 1) {
    dim[1] = (dim[1] + d.vector - 1) / d.vector;
    dim.push_back(d.vector);
    stride.push_back(1);
  }
  return walk_of(dim, stride);
}

/// Under the same dims the axes have the same names, so each stride that moves must be the declared one. Other dims are an
/// order of axes of their own (N,H,W,C for a tensor that is declared N,C,H,W): then the memory must be walked alike.
bool same_places(TensorDesc const& d, BoundBuffer const& b) {
  bool same_dims = d.vector <= 1 && b.dim.size() == static_cast<std::size_t>(d.rank);
  for (std::size_t i = 0; same_dims && i < b.dim.size(); ++i) same_dims = b.dim[i] == d.dim[i];
  if (!same_dims) return coarsens(walk_of(b.dim, b.stride), walk_of(d));
  for (std::size_t i = 0; i < b.dim.size(); ++i)
    if (b.dim[i] != 1 && b.stride[i] != d.stride[i]) return false;
  return true;
}

/// Whether the bytes of two tensors meet anywhere, exactly: interleaved views of one buffer (channel slices) do not. The
/// addresses of each are sums of stride * index, so this asks for an integer solution of one equation, largest strides first;
/// nested strides leave one or two candidates a level. Out of budget (strides that interleave at random), they count as apart.
class MeetingPoint {
 public:
  MeetingPoint(BoundTensor const& a, BoundTensor const& b) {
    add(a, 1);
    add(b, -1);
    std::sort(terms_.begin(), terms_.end(), [](Term const& l, Term const& r) { return l.step > r.step; });
    for (std::size_t i = terms_.size(); i-- > 0;) {
      terms_[i].low = terms_[i].step * terms_[i].from + (i + 1 < terms_.size() ? terms_[i + 1].low : 0);
      terms_[i].high = terms_[i].step * terms_[i].to + (i + 1 < terms_.size() ? terms_[i + 1].high : 0);
    }
  }

  /// Whether some address of a equals one of b, which starts `distance` bytes behind a.
  bool exists(std::int64_t distance) { return solve(0, distance); }

 private:
  struct Term {
    std::int64_t step, from, to;     // step * v, with v from..to
    std::int64_t low = 0, high = 0;  // what this and the smaller terms can add up to
  };

  void add(BoundTensor const& t, std::int64_t sign) {
    std::int64_t const size = std::max<std::int64_t>(1, element_bytes(t.desc.type));
    Walk w = walk_of(t.desc);
    for (auto& [stride, count] : w) stride *= size;
    w.emplace_back(1, size);
    for (auto const& [step, count] : w) {
      if (step == 0 || count <= 1) continue;
      auto same = std::find_if(terms_.begin(), terms_.end(), [s = step](Term const& term) { return term.step == s; });
      if (same == terms_.end()) same = terms_.insert(terms_.end(), Term{step, 0, 0});
      (sign > 0 ? same->to : same->from) += sign * (count - 1);
    }
  }

  bool solve(std::size_t i, std::int64_t rest) {
    if (i == terms_.size()) return rest == 0;
    if (--budget_ < 0 || rest < terms_[i].low || rest > terms_[i].high) return false;
    std::int64_t const low = i + 1 < terms_.size() ? terms_[i + 1].low : 0,
                       high = i + 1 < terms_.size() ? terms_[i + 1].high : 0;
    Term const& term = terms_[i];
    for (std::int64_t v = std::max(term.from, floor_div(rest - high, term.step)); v <= term.to && rest - v * term.step >= low;
         ++v)
      if (solve(i + 1, rest - v * term.step)) return true;
    return false;
  }

  static std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

  std::vector<Term> terms_;
  int budget_ = 20000;
};

bool share_a_byte(BoundTensor const& a, void const* at, BoundTensor const& b, void const* bt) {
  return MeetingPoint(a, b).exists(
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(bt) - reinterpret_cast<std::intptr_t>(at)));
}

bool ranges_meet(BoundTensor const& t, void const* at, void const* range, std::int64_t bytes) {
  if (t.is_host_scalar || t.span_bytes == 0 || bytes == 0) return false;
  auto const t0 = reinterpret_cast<std::uintptr_t>(at), r0 = reinterpret_cast<std::uintptr_t>(range);
  return t0 < r0 + static_cast<std::uintptr_t>(bytes) && r0 < t0 + static_cast<std::uintptr_t>(t.span_bytes);
}

std::string how_declared(BoundTensor const& t) {
  switch (t.origin) {
    case TypeOrigin::io_data_type:
      return ", inherited from the graph's io_data_type because set_data_type was never called on it,";
    case TypeOrigin::intermediate_data_type:
      return ", inherited from the graph's intermediate_data_type because set_data_type was never called on it,";
    default:
      return ", set by set_data_type,";
  }
}

bool same_storage(DataType_t declared, DataType_t bound) {
  DataType_t const d = element_type(declared), b = element_type(bound);
  return d == b || (d == DataType_t::BOOLEAN && b == DataType_t::BYTE_BOOLEAN);
}

error_t check_place(BoundTensor const& t, BoundBuffer const& b, DeviceTraits const& device) {
  using Space = BoundBuffer::Space;
  if (b.space == Space::unknown || b.space == Space::host_cuda) return {};
  if (t.is_host_scalar || device.kind == DeviceKind::cpu) {
    if (b.space != Space::cuda) return {};
    return bad_pack(label(t) + (t.is_host_scalar ? " is passed by value" : " belongs to a plan on the CPU") +
                    " and the buffer bound to it is on GPU " + std::to_string(b.ordinal) + "; bind one in host memory.");
  }
  if (b.space == Space::host) {
    return bad_pack(label(t) + " belongs to a plan on " + device.name +
                    " and the buffer bound to it is in host memory; copy it to the GPU first.");
  }
  if (b.ordinal >= 0 && b.ordinal != device.ordinal) {
    return bad_pack(label(t) + " belongs to a plan on GPU " + std::to_string(device.ordinal) +
                    " and the buffer bound to it is on GPU " + std::to_string(b.ordinal) + "; copy it over.");
  }
  return {};
}

}  // namespace

error_t check_address(BoundTensor const& t, void const* ptr) {
  if (!ptr) {
    if (t.span_bytes == 0) return {};
    return bad_pack(label(t) + " is bound to a null address; it needs " + std::to_string(t.span_bytes) + " bytes.");
  }
  if (reinterpret_cast<std::uintptr_t>(ptr) % static_cast<std::uintptr_t>(t.alignment) != 0) {
    return bad_pack(label(t) + " is bound to an address that is no multiple of its alignment of " +
                    std::to_string(t.alignment) + " bytes" +
                    (t.alignment == element_bytes(t.desc.type) ? " (the element's size)."
                                                               : "; bind an aligned buffer or lower set_alignment."));
  }
  return {};
}

error_t check_reachable(handle_t handle, std::vector<BoundTensor> const& bound, void* const* pointers) {
  if (handle->ordinal < 0) return {};
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].is_host_scalar || bound[i].span_bytes == 0) continue;
    OCTAVO_RETURN_IF_ERROR(check_reachable(handle, pointers[i], bound[i].name));
  }
  return {};
}

error_t check_buffer(BoundTensor const& t, BoundBuffer const& b, DeviceTraits const& device) {
  OCTAVO_RETURN_IF_ERROR(check_address(t, b.ptr));
  if (t.is_output && b.read_only) return bad_pack(label(t) + " is an output and the buffer bound to it is read-only.");
  OCTAVO_RETURN_IF_ERROR(check_place(t, b, device));
  if (b.type == DataType_t::NOT_SET) {
    if (b.bytes >= 0 && b.bytes < t.span_bytes) {
      return bad_pack(label(t) + " spans " + std::to_string(t.span_bytes) + " bytes and the buffer bound to it has " +
                      std::to_string(b.bytes) + ".");
    }
    return {};
  }
  if (!same_storage(t.declared, b.type)) {
    return bad_pack(label(t) + " is " + to_string(t.declared) + how_declared(t) + " and the buffer bound to it is " +
                    to_string(b.type) + "; call set_data_type(" + to_string(b.type) + ") on the tensor, or bind " +
                    to_string(t.declared) + " data.");
  }
  if (b.dim.size() != b.stride.size()) {
    return bad_pack(label(t) + " is bound to a buffer with " + std::to_string(b.dim.size()) + " dims and " +
                    std::to_string(b.stride.size()) + " strides; they must agree.");
  }
  std::int64_t elements = 1, span = 1;
  for (std::size_t i = 0; i < b.dim.size(); ++i) {
    if (b.dim[i] < 0 || (b.stride[i] < 0 && b.dim[i] > 1)) {
      return bad_pack(label(t) + " is bound to a buffer with dims " + list_text(b.dim) + " and strides " + list_text(b.stride) +
                      "; negative ones are not supported, so bind a copy.");
    }
    elements *= b.dim[i];
    span += (b.dim[i] - 1) * b.stride[i];
  }
  if (elements == 0) span = 0;
  std::int64_t const size = std::max<std::int64_t>(1, element_bytes(t.desc.type));
  std::int64_t const bytes = b.bytes >= 0 ? b.bytes : span * size;
  std::int64_t const want = t.is_host_scalar ? 1 : t.desc.elements();
  if (bytes < t.span_bytes) {
    return bad_pack(label(t) + " is declared " + desc_text(t.desc) + " and spans " + std::to_string(t.span_bytes) +
                    " bytes; the buffer bound to it has dims " + list_text(b.dim) + " and " + std::to_string(bytes) +
                    " bytes.");
  }
  if (want == 0 || t.is_host_scalar) return {};
  // A flat run of elements is memory, whatever the layout; anything else must be laid out as declared.
  bool const flat = b.dim.empty() || (b.dim.size() == 1 && (b.dim[0] == 1 || b.stride[0] == 1));
  if (flat) return {};
  if (!same_places(t.desc, b)) {
    return bad_pack(label(t) + " is declared " + desc_text(t.desc) + " and the buffer bound to it has dims " +
                    list_text(b.dim) + " with strides " + list_text(b.stride) +
                    "; these are different places in memory, so set the tensor's dims and strides to the buffer's, or bind a "
                    "copy in the declared layout.");
  }
  return {};
}

error_t check_overlaps(std::vector<BoundTensor> const& bound, void* const* pointers, void const* workspace,
                       std::int64_t workspace_bytes) {
  for (std::size_t o = 0; o < bound.size(); ++o) {
    BoundTensor const& out = bound[o];
    if (workspace && ranges_meet(out, pointers[o], workspace, workspace_bytes)) {
      return bad_pack("The workspace (" + std::to_string(workspace_bytes) + " bytes) overlaps the buffer bound to " +
                      label(out) + "; pass memory of its own as the workspace.");
    }
    if (!out.is_output) continue;
    for (std::size_t i = 0; i < bound.size(); ++i) {
      BoundTensor const& other = bound[i];
      if (i == o || (other.is_output && i < o) || !ranges_meet(other, pointers[i], pointers[o], out.span_bytes)) continue;
      bool const in_place = !other.is_output && !other.is_convolution_input && pointers[i] == pointers[o] &&
                            element_bytes(other.desc.type) == element_bytes(out.desc.type) &&
                            walk_of(other.desc) == walk_of(out.desc);
      if (in_place || !share_a_byte(out, pointers[o], other, pointers[i])) continue;
      return bad_pack(label(out) + " is an output and overlaps " + label(other) +
                      (other.is_output              ? ", another output"
                       : other.is_convolution_input ? ", which a convolution reads while it is written"
                                                    : ", which is read while it is written and is not the same places") +
                      "; bind separate buffers.");
    }
  }
  return {};
}

}  // namespace octavo::graph
