// SPDX-License-Identifier: BSD-2-Clause
/* Without a library, or with another one, compression on the GPU says so. */
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/gpu.h"
#include "tests/lib/tap.h"

static char why[512];

static void load__says_that_there_is_no_library(void)
{
	expect(!trib_gpu_load("/nonexistent/libtrib-gpu.so", why, sizeof(why)));
	expect(strstr(why, "no compression on the GPU: /nonexistent/libtrib-gpu.so: "));
	expect(strstr(why, "make gpu"));
}

static void load__looks_where_the_environment_says(void)
{
	setenv("TRIB_GPU_LIBRARY", "/nowhere/gpu.so", 1);
	expect(!trib_gpu_load(NULL, why, sizeof(why)));
	expect(strstr(why, "/nowhere/gpu.so"));
	unsetenv("TRIB_GPU_LIBRARY");
}

static void load__refuses_a_library_of_something_else(void)
{
	expect(!trib_gpu_load("libm.so.6", why, sizeof(why)));
	expect(strstr(why, "libm.so.6 is not of version"));
}

static void load__keeps_to_the_space_for_words(void)
{
	memset(why, 'x', sizeof(why));
	expect(!trib_gpu_load("/nonexistent/gpu.so", why, 10));
	expect(strlen(why) == 9 && why[10] == 'x');
	expect(!trib_gpu_load("/nonexistent/gpu.so", why, 0));
}

int main(void)
{
	run(load__says_that_there_is_no_library);
	run(load__looks_where_the_environment_says);
	run(load__refuses_a_library_of_something_else);
	run(load__keeps_to_the_space_for_words);
	return tap_done();
}
