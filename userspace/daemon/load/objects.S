/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF objects, inside the binary: a tribd always loads the programs it was
 * built with. The assembler finds them below the build folder (-I).
 */
	.section .rodata

	.macro object nval
	.balign 16
	.globl trib_object_\nval
	.globl trib_object_\nval\()_end
trib_object_\nval:
	.incbin "bpf/trib-\nval\().bpf.o"
trib_object_\nval\()_end:
	.endm

	object 352
	object 832

	.balign 16
	.globl ndn_object
	.globl ndn_object_end
ndn_object:
	.incbin "bpf/ndn.bpf.o"
ndn_object_end:

	.section .note.GNU-stack,"",%progbits
