// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Random graphs against an evaluation written here from the numerical contract: one loop for all three directions, pointwise
// nodes one element at a time. Inputs are small integers, so sums are exact and every comparison asks for equality.
// OCTAVO_TEST_GRAPHS sets how many graphs run.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "common/scale.h"
#include "device/cuda_device.h"
#include "device/cuda_memory.h"
#include "graph_util.h"

namespace octavo::test {
namespace {

using D = DataType_t;
using P = PointwiseMode_t;

/// A tensor's elements in logical order. `whole`: they are int32 values; otherwise float32 values.
struct Value {
  Ints dim;
  bool whole = false;
  std::vector<double> v;
  double at(Ints const& index, Ints const& shape) const {
    std::size_t const shift = shape.size() - dim.size();
    std::int64_t o = 0;
    for (std::size_t i = 0; i < dim.size(); ++i) o = o * dim[i] + (dim[i] == 1 ? 0 : index[shift + i]);
    return v[static_cast<std::size_t>(o)];
  }
};

double rounded(double v, D type) {
  if (std::isnan(v)) return 0;
  double const low = type == D::INT8 ? -128 : type == D::UINT8 ? 0 : -2147483648.0;
  double const high = type == D::INT8 ? 127 : type == D::UINT8 ? 255 : 2147483647.0;
  return std::min(high, std::max(low, std::nearbyint(v)));
}
bool is_whole(D type) { return type == D::INT8 || type == D::UINT8 || type == D::INT32; }
std::int64_t wrap(std::int64_t v) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(v)));
}

double op_float(P mode, float a, float b, float c) {
  switch (mode) {
    case P::ADD:
      return a + b;
    case P::SUB:
      return a - b;
    case P::MUL:
      return a * b;
    case P::MAX:
      return std::max(a, b);
    case P::MIN:
      return std::min(a, b);
    case P::RELU_FWD:
      return std::max(a, 0.0f);
    case P::NEG:
      return -a;
    case P::ABS:
      return std::fabs(a);
    case P::CMP_GT:
      return a > b;
    case P::BINARY_SELECT:
      return c != 0 ? a : b;
    default:
      return a;
  }
}
std::int64_t op_whole(P mode, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (mode) {
    case P::ADD:
      return wrap(a + b);
    case P::SUB:
      return wrap(a - b);
    case P::MUL:
      return wrap(a * b);
    case P::MAX:
      return std::max(a, b);
    case P::MIN:
      return std::min(a, b);
    case P::RELU_FWD:
      return std::max<std::int64_t>(a, 0);
    case P::NEG:
      return wrap(-a);
    case P::ABS:
      return wrap(std::abs(a));
    case P::CMP_GT:
      return a > b;
    case P::BINARY_SELECT:
      return c != 0 ? a : b;
    default:
      return a;
  }
}

Value apply(P mode, D compute, D declared, std::vector<Value> const& in, Ints const& shape) {
  Value out{shape, compute == D::INT32 || is_whole(declared), {}};
  out.v.resize(static_cast<std::size_t>(volume(shape)));
  each(shape, [&](Ints const& at, std::size_t i) {
    double x[3] = {0, 0, 0};
    for (std::size_t k = 0; k < in.size(); ++k) x[k] = in[k].at(at, shape);
    double r = 0;
    if (compute == D::INT32) {
      std::int64_t w[3];
      for (int k = 0; k < 3; ++k) w[k] = static_cast<std::int64_t>(rounded(x[k], D::INT32));
      if (mode == P::BINARY_SELECT) w[2] = x[2] != 0;  // a mask is true or false, never rounded
      r = static_cast<double>(op_whole(mode, w[0], w[1], w[2]));
    } else {
      r = op_float(mode, static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]));
    }
    out.v[i] = is_whole(declared) ? rounded(r, declared) : r;
  });
  return out;
}

/// Memory of one tensor: any of the types used here, any strides, guards behind.
class Memory {
 public:
  Memory(Ints dim, Ints stride, D type) : dim_(std::move(dim)), stride_(std::move(stride)), type_(type) {
    std::int64_t span = 1;
    for (std::size_t i = 0; i < dim_.size(); ++i) span += (dim_[i] - 1) * stride_[i];
    bytes_.assign(static_cast<std::size_t>(span * size()) + 64, 0x5A);
  }
  void set(Value const& v) {
    each(dim_, [&](Ints const& at, std::size_t i) { put(offset(at, stride_), v.v[i]); });
  }
  double get(Ints const& at) const {
    unsigned char const* p = bytes_.data() + offset(at, stride_) * size();
    switch (type_) {
      case D::INT8:
        return *reinterpret_cast<std::int8_t const*>(p);
      case D::UINT8:
        return *p;
      case D::INT32:
        return *reinterpret_cast<std::int32_t const*>(p);
      case D::HALF:
        return *reinterpret_cast<float16 const*>(p);
      default:
        return *reinterpret_cast<float const*>(p);
    }
  }
  bool guards_hold() const {
    return std::all_of(bytes_.end() - 64, bytes_.end(), [](unsigned char b) { return b == 0x5A; });
  }
  void* data() { return bytes_.data(); }
  std::size_t byte_count() const { return bytes_.size(); }
  Ints const& dim() const { return dim_; }
  D type() const { return type_; }

 private:
  std::int64_t size() const { return type_ == D::INT8 || type_ == D::UINT8 ? 1 : type_ == D::HALF ? 2 : 4; }
  void put(std::int64_t o, double v) {
    unsigned char* p = bytes_.data() + o * size();
    switch (type_) {
      case D::INT8:
        *reinterpret_cast<std::int8_t*>(p) = static_cast<std::int8_t>(v);
        break;
      case D::UINT8:
        *p = static_cast<std::uint8_t>(v);
        break;
      case D::INT32:
        *reinterpret_cast<std::int32_t*>(p) = static_cast<std::int32_t>(v);
        break;
      case D::HALF:
        *reinterpret_cast<float16*>(p) = float16(static_cast<float>(v));
        break;
      default:
        *reinterpret_cast<float*>(p) = static_cast<float>(v);
        break;
    }
  }
  Ints dim_, stride_;
  D type_;
  std::vector<unsigned char> bytes_;
};

struct Geometry {
  Ints x, w, y, pre, post, stride, dilation;
};

enum class Way { fprop, dgrad, wgrad };

Value convolve(Way way, Geometry const& g, Value const& a, Value const& b, bool whole) {
  Value out{way == Way::fprop ? g.y : way == Way::dgrad ? g.x : g.w, whole, {}};
  out.v.assign(static_cast<std::size_t>(volume(out.dim)), 0);
  std::int64_t const groups = g.x[1] / g.w[1], kg = g.w[0] / groups;
  const auto flat = [](Ints const& d, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
    return static_cast<std::size_t>(((i * d[1] + j) * d[2] + k) * d[3] + l);
  };
  each(g.y, [&](Ints const& y, std::size_t yi) {
    each({g.w[1], g.w[2], g.w[3]}, [&](Ints const& f, std::size_t) {
      std::int64_t const h = y[2] * g.stride[0] - g.pre[0] + f[1] * g.dilation[0];
      std::int64_t const q = y[3] * g.stride[1] - g.pre[1] + f[2] * g.dilation[1];
      if (h < 0 || h >= g.x[2] || q < 0 || q >= g.x[3]) return;
      std::size_t const xi = flat(g.x, y[0], y[1] / kg * g.w[1] + f[0], h, q), wi = flat(g.w, y[1], f[0], f[1], f[2]);
      if (way == Way::fprop) out.v[yi] += a.v[xi] * b.v[wi];
      if (way == Way::dgrad) out.v[xi] += a.v[yi] * b.v[wi];
      if (way == Way::wgrad) out.v[wi] += a.v[xi] * b.v[yi];
    });
  });
  return out;
}

class Builder {
 public:
  explicit Builder(std::uint32_t seed) : rng_(seed), integers_(pick(2) == 0) {
    g_.set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT).set_io_data_type(D::FLOAT);
  }

  void run(handle_t handle) {
    Way const way = static_cast<Way>(pick(3));
    Geometry const geo = geometry();
    D const in_type = integers_ ? (pick(2) ? D::INT8 : D::UINT8) : pick(2) ? D::HALF : D::FLOAT;
    D const second = integers_ ? (pick(2) ? D::INT8 : D::UINT8) : in_type;
    Ints const& ad = way == Way::dgrad ? geo.y : geo.x;
    Ints const& bd = way == Way::wgrad ? geo.y : geo.w;
    Item a = input(ad, in_type), b = input(bd, second);
    if (pick(3) == 0) a = prologue(a, way);
    D const compute = integers_ ? D::INT32 : D::FLOAT;
    const auto set = [&](auto attributes) {
      return attributes.set_pre_padding(geo.pre)
          .set_post_padding(geo.post)
          .set_stride(geo.stride)
          .set_dilation(geo.dilation)
          .set_compute_data_type(compute);
    };
    Item raw;
    if (way == Way::fprop) raw.tensor = g_.conv_fprop(a.tensor, b.tensor, set(Conv_fprop_attributes()));
    if (way == Way::dgrad) raw.tensor = g_.conv_dgrad(a.tensor, b.tensor, set(Conv_dgrad_attributes()));
    if (way == Way::wgrad) raw.tensor = g_.conv_wgrad(b.tensor, a.tensor, set(Conv_wgrad_attributes()));
    raw.value = convolve(way, geo, a.value, b.value, integers_);
    raw.tensor->set_dim(raw.value.dim);
    D const declared = pick(4) == 0 ? (pick(2) ? D::INT8 : D::INT32) : integers_ && pick(2) ? D::INT32 : D::FLOAT;
    raw.tensor->set_data_type(declared);
    if (is_whole(declared)) {
      raw.value.whole = true;
      for (double& v : raw.value.v) v = rounded(v, declared);
    }
    items_.push_back(raw);
    int const nodes = pick(6);
    for (int i = 0; i < nodes; ++i) add_pointwise(raw.value.dim);
    store(items_.back());
    for (std::size_t i = 0; i + 1 < items_.size(); ++i)
      if (pick(4) == 0) store(items_[i]);
    if (pick(4) == 0) add_statistics();
    check(handle);
  }

  Graph& graph() { return g_; }

 private:
  struct Item {
    TensorPtr tensor;
    Value value;
  };
  struct Bound {
    TensorPtr tensor;
    std::shared_ptr<Memory> memory;
    Value want;  ///< of an output
    bool output = false;
  };

  int pick(int n) { return static_cast<int>(rng_() % static_cast<std::uint32_t>(n)); }
  int between(int low, int high) { return low + pick(high - low + 1); }

  Ints layout(Ints const& dim) {
    Ints s = pick(2) ? nhwc(dim) : nchw(dim);
    if (pick(4) == 0)
      for (std::int64_t& v : s) v *= 2;  // gaps
    return s;
  }

  Geometry geometry() {
    Geometry g;
    int const groups = pick(3) == 0 ? between(2, 3) : 1;
    g.x = {between(1, 2), groups * between(1, 5), between(3, 7), between(3, 7)};
    g.w = {groups * between(1, 5), g.x[1] / groups, between(1, 3), between(1, 3)};
    g.pre = {between(0, 2), between(0, 2)};
    g.post = {between(0, 2), between(0, 2)};
    g.stride = {between(1, 2), between(1, 3)};
    g.dilation = {between(1, 2), 1};
    g.y = {g.x[0], g.w[0], 0, 0};
    for (std::size_t i = 0; i < 2; ++i) {
      while (g.x[2 + i] + g.pre[i] + g.post[i] < g.dilation[i] * (g.w[2 + i] - 1) + 1) ++g.x[2 + i];
      g.y[2 + i] = 1 + (g.x[2 + i] + g.pre[i] + g.post[i] - g.dilation[i] * (g.w[2 + i] - 1) - 1) / g.stride[i];
    }
    return g;
  }

  Item input(Ints const& dim, D type) {
    Item item;
    int const low = type == D::UINT8 ? 0 : -9;
    item.value = {dim, is_whole(type), std::vector<double>(static_cast<std::size_t>(volume(dim)))};
    for (double& v : item.value.v) v = between(low, 9);
    Ints const stride = layout(dim);
    item.tensor = g_.tensor(Tensor_attributes().set_dim(dim).set_stride(stride).set_data_type(type));
    auto memory = std::make_shared<Memory>(dim, stride, type);
    memory->set(item.value);
    bound_.push_back({item.tensor, memory, {}, false});
    return item;
  }

  /// SUB(x, zero point), or a saturating ADD, or relu(x * s + b) in float.
  Item prologue(Item const& x, Way way) {
    Item out;
    const auto node = [&](P mode, Item const& p, Item const& q, D compute, D declared) {
      Item r;
      auto attributes = pw(mode).set_compute_data_type(compute);
      r.tensor = q.tensor ? g_.pointwise(p.tensor, q.tensor, attributes) : g_.pointwise(p.tensor, attributes);
      r.tensor->set_data_type(declared);
      std::vector<Value> in{p.value};
      if (q.tensor) in.push_back(q.value);
      r.value = apply(mode, compute, declared, in, p.value.dim);
      return r;
    };
    if (integers_) {
      if (way == Way::fprop && pick(2)) return node(P::SUB, x, scalar(pick(2) == 0), D::INT32, D::INT32);
      return node(P::ADD, x, scalar(true), D::INT32, D::INT8);
    }
    Item const s = input({1, x.value.dim[1], 1, 1}, D::FLOAT), b = input({1, x.value.dim[1], 1, 1}, D::FLOAT);
    return node(P::RELU_FWD, node(P::ADD, node(P::MUL, x, s, D::FLOAT, D::FLOAT), b, D::FLOAT, D::FLOAT), Item(), D::FLOAT,
                D::FLOAT);
  }

  Item scalar(bool constant) {
    Item item;
    bool const whole = integers_ || pick(2);
    double const v = whole ? between(-7, 7) : between(-8, 8) * 0.5;
    item.value = {{1, 1, 1, 1}, whole, {v}};
    if (constant) {
      item.tensor = whole ? g_.tensor(static_cast<std::int32_t>(v)) : g_.tensor(static_cast<float>(v));
    } else {
      Ints const one{1, 1, 1, 1};
      D const type = whole ? D::INT32 : D::FLOAT;
      item.tensor = g_.tensor(Tensor_attributes().set_dim(one).set_stride(one).set_data_type(type).set_is_pass_by_value(true));
      auto memory = std::make_shared<Memory>(one, one, type);
      memory->set(item.value);
      bound_.push_back({item.tensor, memory, {}, false});
    }
    return item;
  }

  Item operand(Ints const& shape) {
    switch (pick(6)) {
      case 0:
        return scalar(true);
      case 1:
        return scalar(false);
      case 2:
        return input({1, shape[1], 1, 1}, pick(2) ? D::FLOAT : D::INT32);
      case 3:
        return input(shape, pick(2) ? D::INT8 : D::HALF);
      case 4:
        return input({shape[0], 1, 1, shape[3]}, D::FLOAT);
      default:
        return items_[static_cast<std::size_t>(pick(static_cast<int>(items_.size())))];
    }
  }

  void add_pointwise(Ints const& shape) {
    static const P modes[] = {P::ADD, P::SUB, P::MUL,      P::MAX,    P::MIN,          P::RELU_FWD,
                              P::NEG, P::ABS, P::IDENTITY, P::CMP_GT, P::BINARY_SELECT};
    P const mode = modes[pick(static_cast<int>(std::size(modes)))];
    int const arity = mode == P::BINARY_SELECT                                                         ? 3
                      : mode == P::RELU_FWD || mode == P::NEG || mode == P::ABS || mode == P::IDENTITY ? 1
                                                                                                       : 2;
    D const compute = pick(3) == 0 ? D::INT32 : D::FLOAT;
    D const declared = pick(4) == 0 ? (pick(2) ? D::INT8 : D::INT32) : D::FLOAT;
    std::vector<Item> in{pick(3) ? items_.back() : items_[static_cast<std::size_t>(pick(static_cast<int>(items_.size())))]};
    while (static_cast<int>(in.size()) < arity) in.push_back(operand(shape));
    if (arity == 2 && pick(4) == 0) std::swap(in[0], in[1]);
    Item out;
    auto attributes = pw(mode).set_compute_data_type(compute);
    out.tensor = arity == 1   ? g_.pointwise(in[0].tensor, attributes)
                 : arity == 2 ? g_.pointwise(in[0].tensor, in[1].tensor, attributes)
                              : g_.pointwise(in[0].tensor, in[1].tensor, in[2].tensor, attributes);
    out.tensor->set_data_type(declared).set_dim(shape).set_stride(nhwc(shape));
    std::vector<Value> values;
    for (Item const& i : in) values.push_back(i.value);
    out.value = apply(mode, compute, declared, values, shape);
    items_.push_back(out);
  }

  /// Makes a value an output; what others read of it stays unrounded unless its type is an integer.
  void store(Item& item) {
    if (!item.tensor->get_is_virtual()) return;
    D const type = item.tensor->get_data_type();
    Ints const stride = layout(item.value.dim);
    item.tensor->set_output(true).set_stride(stride);
    bound_.push_back({item.tensor, std::make_shared<Memory>(item.value.dim, stride, type), item.value, true});
  }

  void add_statistics() {
    Item const& from = items_[static_cast<std::size_t>(pick(static_cast<int>(items_.size())))];
    Ints dim = from.value.dim;
    bool const genstats = pick(2) != 0;
    for (std::size_t i = 0; i < 4; ++i)
      if (genstats ? i != 1 : pick(2) != 0) dim[i] = 1;
    Value sum{dim, false, std::vector<double>(static_cast<std::size_t>(volume(dim)), 0)}, square = sum, most = sum;
    each(from.value.dim, [&](Ints const& at, std::size_t i) {
      std::int64_t o = 0;
      for (std::size_t k = 0; k < 4; ++k) o = o * dim[k] + (dim[k] == 1 ? 0 : at[k]);
      std::size_t const s = static_cast<std::size_t>(o);
      sum.v[s] += from.value.v[i];
      square.v[s] += from.value.v[i] * from.value.v[i];
      most.v[s] = std::max(most.v[s], std::fabs(from.value.v[i]));
    });
    const auto output = [&](TensorPtr const& t, Value v) {
      for (double& x : v.v) x = static_cast<float>(x);
      t->set_output(true).set_dim(dim).set_stride(nhwc(dim)).set_data_type(D::FLOAT);
      bound_.push_back({t, std::make_shared<Memory>(dim, nhwc(dim), D::FLOAT), std::move(v), true});
    };
    if (genstats) {
      auto [s, q] = g_.genstats(from.tensor, Genstats_attributes());
      output(s, sum);
      output(q, square);
    } else {
      bool const amax = pick(2) != 0;
      output(g_.reduction(from.tensor, Reduction_attributes().set_mode(amax ? ReductionMode_t::AMAX : ReductionMode_t::ADD)),
             amax ? most : sum);
    }
  }

  void check(handle_t handle) {
    ASSERT_GOOD(g_.build(handle, {HeurMode_t::A}));
    // Whichever plan of the list: all must agree.
    ASSERT_GOOD(g_.build_plan_at_index(pick(static_cast<int>(g_.get_execution_plan_count()))));
    std::unordered_map<std::int64_t, void*> pack;
    for (Bound const& b : bound_) pack[b.tensor->get_uid()] = b.memory->data();
    if (handle_is_cuda(handle)) {
      run_on_gpu(handle, pack);
    } else {
      ASSERT_GOOD(octavo::test::run(g_, handle, pack));
    }
    for (Bound const& b : bound_) {
      ASSERT_TRUE(b.memory->guards_hold());
      if (!b.output) continue;
      each(b.memory->dim(), [&](Ints const& at, std::size_t i) {
        double const want = is_whole(b.memory->type()) ? rounded(b.want.v[i], b.memory->type())
                                                       : static_cast<double>(static_cast<float>(b.want.v[i]));
        ASSERT_EQ(b.memory->get(at), want) << b.tensor->get_name() << " " << ::testing::PrintToString(at);
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  void run_on_gpu(handle_t handle, std::unordered_map<std::int64_t, void*> pack) {
    int const ordinal = handle_ordinal(handle);
    std::vector<cuda::Buffer> memory(bound_.size() + 1);
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (bound_[i].tensor->get_is_pass_by_value()) continue;
      ASSERT_GOOD(cuda::Buffer::allocate(ordinal, bound_[i].memory->byte_count(), memory[i]));
      ASSERT_GOOD(memory[i].upload(bound_[i].memory->data(), bound_[i].memory->byte_count()));
      pack[bound_[i].tensor->get_uid()] = memory[i].data();
    }
    ASSERT_GOOD(cuda::Buffer::allocate(ordinal, static_cast<std::size_t>(g_.get_workspace_size()) + 1, memory.back()));
    ASSERT_GOOD(memory.back().fill(0x5A));
    ASSERT_GOOD(g_.execute(handle, pack, memory.back().data()));
    ASSERT_GOOD(cuda::synchronize(ordinal));
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (bound_[i].tensor->get_is_pass_by_value()) continue;
      ASSERT_GOOD(memory[i].download(bound_[i].memory->data(), bound_[i].memory->byte_count()));
    }
  }

  std::mt19937 rng_;
  bool integers_;
  Graph g_;
  std::vector<Item> items_;
  std::vector<Bound> bound_;
};

constexpr int kGraphs = 20000, kShards = 10;

void run_graphs(handle_t handle, int fallback, int at = 0) {
  char const* const text = std::getenv("OCTAVO_TEST_GRAPHS");
  int const count = text ? std::atoi(text) : fallback;
  ASSERT_GT(count, 0);
  char const* const begin = std::getenv("OCTAVO_TEST_FIRST_GRAPH");  // so that several processes share the work
  int const first = begin ? std::atoi(begin) : at;
  for (int i = first; i < first + count; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Builder b(static_cast<std::uint32_t>(1000 + i));
    b.run(handle);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << b.graph().explain() << b.graph().print();
      return;
    }
  }
}

class GraphRandom : public ::testing::TestWithParam<int> {};

TEST_P(GraphRandom, AgreeWithAnIndependentEvaluation) {
  Handle h;
  run_graphs(h, testing::scaled(kGraphs / kShards), GetParam() * 100000);
}

INSTANTIATE_TEST_SUITE_P(Shard, GraphRandom, ::testing::Range(0, kShards));

// The same graphs on a GPU: pointwise operations alone, casts, reductions and statistics are kernels there too.
TEST(GraphRandomCuda, OnAGpu) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU here";
  handle_t handle = nullptr;
  ASSERT_GOOD(create_handle(handle, 0));
  run_graphs(handle, 200);
  EXPECT_GOOD(destroy_handle(handle));
}

}  // namespace
}  // namespace octavo::test
