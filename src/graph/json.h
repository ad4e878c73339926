// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON 2.0 of a graph, written; 2.0 and 1.0, read. Reading never throws: what does not fit is an error_t that names the key.

#include <nlohmann/json.hpp>
#include <string>

#include "graph/impl.h"

namespace octavo::graph {

using Json = nlohmann::json;

Json tensor_to_json(Tensor_attributes const& t);
error_t tensor_from_json(Json const& j, Tensor_attributes& t);

/// Uids are assigned first where they are missing.
error_t graph_to_json(Graph::Impl& g, Json& out);
error_t graph_from_json(Json const& j, Graph::Impl& g);

error_t parse_json(std::string const& text, Json& out);

/// Typed reads of one key; false when it is missing or of another type.
bool read(Json const& j, const char* key, std::int64_t& out);
bool read(Json const& j, const char* key, bool& out);
bool read(Json const& j, const char* key, std::string& out);
bool read(Json const& j, const char* key, std::vector<std::int64_t>& out);

}  // namespace octavo::graph
