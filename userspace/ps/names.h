/* SPDX-License-Identifier: BSD-2-Clause */
/* trib-ps names: the parameter server of jobs that go by names. */
#ifndef TRIB_PS_NAMES_H
#define TRIB_PS_NAMES_H

/* The rest of the command line, "names" being argv[0]: the exit status. */
int ps_names_main(int argc, char **argv);

#endif /* TRIB_PS_NAMES_H */
