# SPDX-License-Identifier: BSD-2-Clause
# Compression on the GPU. `make gpu` needs CUDA's nvcc 11.8 or later; nothing else
# does. The library loads CUDA's driver when it is used, not before.
NVCC ?= $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))

# Machine code for the listed generations that this nvcc knows; and code for later
# ones, which the driver compiles.
GPU_ARCHS ?= 80 90 120
GPU_KNOWN = $(shell $(NVCC) --list-gpu-arch | sed 's/compute_//')
GPU_CODE = $(foreach a,$(filter $(GPU_KNOWN),$(GPU_ARCHS)),-gencode \
	arch=compute_$(a),code=sm_$(a)) -gencode arch=compute_80,code=compute_80

# Each product rounds by itself and denormals stay: the same bits as on the CPU.
NVCC_FLAGS = -std=c++17 -O3 -fmad=false -ftz=false -prec-div=true -Ikmod -I. \
	-Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra -Werror all-warnings

GPU_SRC := $(wildcard kernels/gpu/*.cu)
GPU_HEADERS := $(wildcard kernels/gpu/*.h kernels/gpu/*.cuh kernels/nm/*.h kernels/reduce/*.h) kmod/uapi/trib_wire.h
GPU_OBJS := $(GPU_SRC:%.cu=build/%.cu.o)

.PHONY: gpu
gpu: $(if $(NVCC),build/libtrib-gpu.so,no-nvcc)

.PHONY: no-nvcc
no-nvcc:
	@echo "make gpu: wants nvcc, found none; install CUDA 11.8 or later, or say" \
		"NVCC=/path/to/nvcc" >&2; exit 1

build/kernels/gpu/%.cu.o: kernels/gpu/%.cu $(GPU_HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) $(GPU_CODE) -c -o $@ $<

build/libtrib-gpu.so: $(GPU_OBJS)
	$(NVCC) -shared -cudart static -o $@ $^

# The double of a GPU, for tests of what uses one; besides NM_OBJS and NM_SRC.
GPU_DOUBLE_SOURCES := $(addprefix tests/lib/gpu/,double.c kernels.c memory.c) \
	$(REDUCE_SRC)
GPU_DOUBLE_OBJS := $(GPU_DOUBLE_SOURCES:%.c=$(B)/%.o)
