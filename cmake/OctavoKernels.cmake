# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Device code (kernels/*.cuh) is embedded into the library as text here.
