// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define OCTAVO_VERSION_MAJOR 0
#define OCTAVO_VERSION_MINOR 1
#define OCTAVO_VERSION_PATCH 0
#define OCTAVO_VERSION_STRING "0.1.0"

/// The cudnn-frontend release whose interface this library follows, and the cuDNN release that it answers for.
#define OCTAVO_COMPAT_FRONTEND_VERSION 13200
#define OCTAVO_COMPAT_CUDNN_VERSION 91900
