// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The codec that uses no register of the FPU, in the module. */
#include "kernels/codec.c"
#include "kernels/codec_scalar.c"
