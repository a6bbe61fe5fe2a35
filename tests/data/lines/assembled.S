/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code for tests/cli/test_sources.sh: lines without functions. */
	.text
	.globl assembled
	.type assembled, %function
assembled:
	nop
	nop
	nop
	ret
	.size assembled, .-assembled
	.section .note.GNU-stack, "", %progbits
