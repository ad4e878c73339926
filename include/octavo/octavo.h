// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph API, all of it. C++17. (Engine authors include octavo/engine.h and octavo/problem.h, which are C++20.)

#include "enums.h"
#include "error.h"
#include "graph/attributes.h"
#include "graph/enums.h"
#include "graph/foreign.h"
#include "graph/graph.h"
#include "graph/scalar.h"
#include "graph/tensor.h"
#include "handle.h"
#include "version.h"
