/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rank 0 begins to join, alone, until it is killed. Exit status 1: it could
 * not.
 */
#include "sock.h"

#include <unistd.h>

int main(void)
{
	world_read();
	if (bind_socket(make_socket(0), 0))
		return 1;
	pause();
	return 0;
}
