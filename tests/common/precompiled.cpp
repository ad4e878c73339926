// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Nothing: the target that owns the tests' precompiled header needs a source.
#include <gtest/gtest.h>
