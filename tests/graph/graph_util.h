// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Short spellings for graph tests, and a naive convolution of their own to compare with (independent of every engine).

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "octavo/octavo.h"

namespace octavo::test {

using namespace octavo::graph;
using Ints = std::vector<std::int64_t>;

inline void good(error_t const& e) { ASSERT_TRUE(e.is_good()) << e; }
#define EXPECT_GOOD(expr)                             \
  do {                                                \
    octavo::error_t const e_ = (expr);                \
    EXPECT_TRUE(e_.is_good()) << #expr << ": " << e_; \
  } while (0)
#define ASSERT_GOOD(expr)                             \
  do {                                                \
    octavo::error_t const e_ = (expr);                \
    ASSERT_TRUE(e_.is_good()) << #expr << ": " << e_; \
  } while (0)
/// The code, and every one of the words in the message.
#define EXPECT_BAD(expr, expected_code, ...)                                                             \
  do {                                                                                                   \
    octavo::error_t const e_ = (expr);                                                                   \
    EXPECT_EQ(e_.code, octavo::error_code_t::expected_code) << #expr << ": " << e_;                      \
    for (std::string const& word_ : std::vector<std::string>{__VA_ARGS__}) {                             \
      EXPECT_NE(e_.err_msg.find(word_), std::string::npos) << "no '" << word_ << "' in: " << e_.err_msg; \
    }                                                                                                    \
  } while (0)

class Handle {
 public:
  Handle() { good(create_handle(handle_, static_cast<std::int32_t>(DevicePick::cpu))); }
  ~Handle() { EXPECT_TRUE(destroy_handle(handle_).is_good()); }
  Handle(Handle const&) = delete;
  Handle& operator=(Handle const&) = delete;
  operator handle_t() const { return handle_; }  // NOLINT(google-explicit-constructor)

 private:
  handle_t handle_ = nullptr;
};

inline Ints nhwc(Ints const& dim) {
  Ints stride(dim.size());
  std::int64_t step = 1;
  const auto place = [&](std::size_t i) {
    stride[i] = step;
    step *= dim[i];
  };
  if (dim.size() > 1) place(1);
  for (std::size_t i = dim.size(); i-- > 2;) place(i);
  if (!dim.empty()) place(0);
  return stride;
}
inline Ints nchw(Ints const& dim) {
  Ints stride(dim.size());
  std::int64_t step = 1;
  for (std::size_t i = dim.size(); i-- > 0;) {
    stride[i] = step;
    step *= dim[i];
  }
  return stride;
}
inline std::int64_t volume(Ints const& dim) {
  std::int64_t n = 1;
  for (std::int64_t d : dim) n *= d;
  return n;
}
inline Tensor_attributes tensor(char const* name, Ints const& dim, DataType_t type = DataType_t::NOT_SET) {
  return Tensor_attributes().set_name(name).set_dim(dim).set_stride(nhwc(dim)).set_data_type(type);
}
inline Conv_fprop_attributes fprop(Ints const& padding, Ints const& stride, Ints const& dilation) {
  return Conv_fprop_attributes().set_padding(padding).set_stride(stride).set_dilation(dilation);
}
inline Pointwise_attributes pw(PointwiseMode_t mode) { return Pointwise_attributes().set_mode(mode); }

/// Small integers, in logical order N,C,spatial.
inline std::vector<double> values(Ints const& dim, std::uint32_t seed, int low = -4, int high = 4) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int> pick(low, high);
  std::vector<double> v(static_cast<std::size_t>(volume(dim)));
  for (double& x : v) x = pick(rng);
  return v;
}

/// Every coordinate of `dim`, in order.
inline void each(Ints const& dim, std::function<void(Ints const&, std::size_t)> const& f) {
  Ints at(dim.size(), 0);
  std::size_t const n = static_cast<std::size_t>(volume(dim));
  for (std::size_t i = 0; i < n; ++i) {
    f(at, i);
    for (std::size_t d = dim.size(); d-- > 0;) {
      if (++at[d] < dim[d]) break;
      at[d] = 0;
    }
  }
}

inline std::int64_t offset(Ints const& at, Ints const& stride) {
  std::int64_t o = 0;
  for (std::size_t i = 0; i < at.size(); ++i) o += at[i] * stride[i];
  return o;
}

/// Logical values into memory of type T, with the given strides; 64 guard elements behind.
template <class T>
std::vector<T> place(std::vector<double> const& v, Ints const& dim, Ints const& stride) {
  std::int64_t span = 1;
  for (std::size_t i = 0; i < dim.size(); ++i) span += (dim[i] - 1) * stride[i];
  std::vector<T> memory(static_cast<std::size_t>(span), T(0));
  each(dim,
       [&](Ints const& at, std::size_t i) { memory[static_cast<std::size_t>(offset(at, stride))] = static_cast<T>(v[i]); });
  return memory;
}

/// y of a 2-D fprop, by definition, in double.
struct Conv2d {
  Ints pre{0, 0}, post{0, 0}, stride{1, 1}, dilation{1, 1};
};
inline std::vector<double> conv2d(std::vector<double> const& x, Ints const& xd, std::vector<double> const& w, Ints const& wd,
                                  Conv2d const& c, Ints& yd) {
  std::int64_t const g = xd[1] / wd[1], kg = wd[0] / g;
  yd = {xd[0], wd[0], 0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    yd[2 + i] = 1 + (xd[2 + i] + c.pre[i] + c.post[i] - c.dilation[i] * (wd[2 + i] - 1) - 1) / c.stride[i];
  }
  std::vector<double> y(static_cast<std::size_t>(volume(yd)));
  each(yd, [&](Ints const& at, std::size_t i) {
    double sum = 0;
    for (std::int64_t ch = 0; ch < wd[1]; ++ch) {
      for (std::int64_t r = 0; r < wd[2]; ++r) {
        for (std::int64_t s = 0; s < wd[3]; ++s) {
          std::int64_t const h = at[2] * c.stride[0] - c.pre[0] + r * c.dilation[0];
          std::int64_t const q = at[3] * c.stride[1] - c.pre[1] + s * c.dilation[1];
          if (h < 0 || h >= xd[2] || q < 0 || q >= xd[3]) continue;
          std::int64_t const xc = at[1] / kg * wd[1] + ch;
          sum += x[static_cast<std::size_t>(((at[0] * xd[1] + xc) * xd[2] + h) * xd[3] + q)] *
                 w[static_cast<std::size_t>(((at[1] * wd[1] + ch) * wd[2] + r) * wd[3] + s)];
        }
      }
    }
    y[i] = sum;
  });
  return y;
}

/// Executes the selected plan on raw pointers with a workspace full of garbage.
inline error_t run(Graph const& g, handle_t h, std::unordered_map<std::int64_t, void*> const& pack) {
  std::int64_t const bytes = g.get_workspace_size();
  std::vector<unsigned char> workspace(static_cast<std::size_t>(bytes) + 1, 0x5A);
  return g.execute(h, pack, bytes == 0 ? nullptr : workspace.data() + 1);
}

}  // namespace octavo::test
