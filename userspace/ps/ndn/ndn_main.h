/* SPDX-License-Identifier: BSD-2-Clause */
/* trib-ps ndn: the parameter server of jobs that go by names. */
#ifndef TRIB_PS_NDN_H
#define TRIB_PS_NDN_H

/* The rest of the command line, "ndn" being argv[0]: the exit status. */
int ps_ndn_main(int argc, char **argv);

#endif /* TRIB_PS_NDN_H */
