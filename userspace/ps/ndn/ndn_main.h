/* SPDX-License-Identifier: BSD-2-Clause */
/* trib-ps ndn: the parameter server of jobs over NDN. */
#ifndef TRIB_PS_NDN_H
#define TRIB_PS_NDN_H

/* Run with the rest of the command line; argv[0] is "ndn". Return: exit status. */
int ps_ndn_main(int argc, char **argv);

#endif /* TRIB_PS_NDN_H */
