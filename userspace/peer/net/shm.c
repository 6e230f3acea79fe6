// SPDX-License-Identifier: BSD-2-Clause
/* Ports over memory that processes of one machine share. */
#include "peer/net/port.h"

const struct peer_port_ops peer_port_shm = {.name = "shm"};
