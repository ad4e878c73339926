// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Words and numbers of the problem grammar, shared by problem_text.cpp and epilogue_text.cpp.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/problem.h"

namespace octavo::text {

std::vector<std::string_view> split(std::string_view s, char separator);
bool parse_int(std::string_view s, std::int64_t& out);
bool parse_double(std::string_view s, double& out);
std::string print_double(double v);  ///< shortest text that parses back to the same double

/// "type:layout", or "type:s0,s1,...[*vector]". Prints and parses everything of a TensorDesc but its dims.
std::string print_storage(const TensorDesc& t);
error_t parse_storage(std::string_view token, std::string_view s, TensorDesc& t);

/// The candidate closest to `word` by edit distance ("did you mean"); empty when nothing is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

const char* mode_name(PointwiseMode_t mode);  ///< lower case: "relu_fwd"
PointwiseMode_t parse_mode(std::string_view name);
std::vector<std::string> mode_names();

/// The text behind "epi=": operands, nodes and, unless the only output is the last value, outputs.
std::string print_epilogue(const Problem& p);
error_t parse_epilogue(std::string_view s, Problem& p);

inline error_t bad(std::string message) { return {error_code_t::INVALID_VALUE, std::move(message)}; }

}  // namespace octavo::text
