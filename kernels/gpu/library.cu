// SPDX-License-Identifier: BSD-2-Clause
/* The library's table, memory, streams and errors. */
#include <new>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

static thread_local char error_text[160];

int gpu_rc(cudaError_t error)
{
	if (error == cudaSuccess)
		return 0;
	snprintf(error_text, sizeof(error_text), "the GPU: %s", cudaGetErrorString(error));
	/* This one is told; the next launch must not find it again. */
	cudaGetLastError();
	return -EIO;
}

static const char *text(void)
{
	return error_text;
}

static void *memory_new(size_t len)
{
	void *p = NULL;

	return gpu_rc(cudaMalloc(&p, len ? len : 1)) ? NULL : p;
}

static void memory_free(void *p)
{
	gpu_rc(cudaFree(p));
}

static int copy(void *to, const void *from, size_t len, void *stream)
{
	return gpu_rc(cudaMemcpyAsync(to, from, len, cudaMemcpyDefault, (cudaStream_t)stream));
}

static int stream_new(void **stream)
{
	return gpu_rc(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking));
}

static void stream_free(void *stream)
{
	gpu_rc(cudaStreamDestroy((cudaStream_t)stream));
}

static int wait_for(void *stream)
{
	return gpu_rc(cudaStreamSynchronize((cudaStream_t)stream));
}

static int export_memory(unsigned char handle[TRIB_GPU_HANDLE], void *p)
{
	cudaIpcMemHandle_t h;
	int rc = gpu_rc(cudaIpcGetMemHandle(&h, p));

	static_assert(sizeof(h) == TRIB_GPU_HANDLE, "handles are 64 bytes");
	if (!rc)
		memcpy(handle, &h, sizeof(h));
	return rc;
}

static int open_memory(void **p, const unsigned char handle[TRIB_GPU_HANDLE])
{
	cudaIpcMemHandle_t h;

	memcpy(&h, handle, sizeof(h));
	return gpu_rc(cudaIpcOpenMemHandle(p, h, cudaIpcMemLazyEnablePeerAccess));
}

static void close_memory(void *p)
{
	gpu_rc(cudaIpcCloseMemHandle(p));
}

static void *host_new(size_t len)
{
	void *p = NULL;

	return gpu_rc(cudaHostAlloc(&p, len ? len : 1, cudaHostAllocPortable)) ? NULL : p;
}

static void host_free(void *p)
{
	gpu_rc(cudaFreeHost(p));
}

static int clear(void *p, size_t len, void *stream)
{
	return gpu_rc(cudaMemsetAsync(p, 0, len, (cudaStream_t)stream));
}

static int event_new(void **event)
{
	return gpu_rc(cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming));
}

static void event_free(void *event)
{
	gpu_rc(cudaEventDestroy((cudaEvent_t)event));
}

static int record(void *event, void *stream)
{
	return gpu_rc(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}

static int follow(void *stream, void *event)
{
	return gpu_rc(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}

struct told {
	trib_gpu_told fn;
	void *arg;
};

static void CUDART_CB on_told(cudaStream_t, cudaError_t error, void *p)
{
	told t = *(told *)p;

	delete (told *)p;
	t.fn(t.arg, error == cudaSuccess ? NULL : cudaGetErrorString(error));
}

/* A host function, unlike this callback, would not be called after an error. */
static int tell(void *stream, trib_gpu_told fn, void *arg)
{
	told *t = new (std::nothrow) told{fn, arg};
	int rc;

	rc = gpu_rc(t ? cudaStreamAddCallback((cudaStream_t)stream, on_told, t, 0)
		      : cudaErrorMemoryAllocation);
	if (rc)
		delete t;
	return rc;
}

static int device_now(int *number)
{
	return gpu_rc(cudaGetDevice(number));
}

static int use(int number)
{
	return gpu_rc(cudaSetDevice(number));
}

static int owner(const void *p)
{
	cudaPointerAttributes a;

	if (gpu_rc(cudaPointerGetAttributes(&a, p)))
		return -1;
	return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged ? a.device : -1;
}

static int identify(unsigned char uuid[TRIB_GPU_UUID])
{
	cudaDeviceProp p;
	int device = 0;
	int rc = gpu_rc(cudaGetDevice(&device));

	if (!rc)
		rc = gpu_rc(cudaGetDeviceProperties(&p, device));
	static_assert(sizeof(p.uuid) == TRIB_GPU_UUID, "UUIDs have 16 bytes");
	if (!rc)
		memcpy(uuid, &p.uuid, sizeof(p.uuid));
	return rc;
}

static int describe(char *to, size_t len)
{
	cudaDeviceProp p;
	int device, driver = 0;

	if (gpu_rc(cudaGetDevice(&device)) || gpu_rc(cudaGetDeviceProperties(&p, device)) ||
	    gpu_rc(cudaDriverGetVersion(&driver)))
		return -ENODEV;
	snprintf(to, len, "\"gpu\": \"%s\", \"arch\": \"sm_%d%d\", \"driver_cuda\": \"%d.%d\"",
		 p.name, p.major, p.minor, driver / 1000, driver % 1000 / 10);
	return 0;
}

extern "C" const struct trib_gpu_ops *trib_gpu_library(uint32_t abi)
{
	static struct trib_gpu_ops ops;

	ops.abi = TRIB_GPU_ABI;
	ops.name = "cuda";
	ops.select = gpu_select;
	ops.amax = gpu_amax;
	ops.pack = gpu_pack;
	ops.pack_lanes = gpu_pack_lanes;
	ops.select_pack = gpu_select_pack;
	ops.unpack_lanes = gpu_unpack_lanes;
	ops.expand = gpu_expand;
	ops.check = gpu_check;
	ops.first_bad = gpu_first_bad;
	ops.add_peer = gpu_add_peer;
	ops.memory_new = memory_new;
	ops.memory_free = memory_free;
	ops.copy = copy;
	ops.stream_new = stream_new;
	ops.stream_free = stream_free;
	ops.wait = wait_for;
	ops.export_memory = export_memory;
	ops.open = open_memory;
	ops.close = close_memory;
	ops.describe = describe;
	ops.error_text = text;
	ops.energy = gpu_energy;
	ops.host_new = host_new;
	ops.host_free = host_free;
	ops.clear = clear;
	ops.event_new = event_new;
	ops.event_free = event_free;
	ops.record = record;
	ops.follow = follow;
	ops.tell = tell;
	ops.device = device_now;
	ops.use = use;
	ops.owner = owner;
	ops.reduce = gpu_reduce;
	ops.identify = identify;
	return abi == TRIB_GPU_ABI ? &ops : NULL;
}
