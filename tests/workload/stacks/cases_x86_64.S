/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that compilers seldom or never make, each with call frame information that is
 * right at every instruction, or with none where the name says "hand". rdi is the number
 * of turns. tests/workload/stacks/cases.c has who calls what.
 */
#ifdef __x86_64__
	.text

.macro FUNCTION name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
.endm

.macro END name
	.size \name, . - \name
.endm

/* Turns of a known length, in any frame: all in the red zone of nobody. */
.macro TURNS
	mov	%rdi, %rcx
1:	imul	$3, %rax, %rax
	dec	%rcx
	jnz	1b
.endm

FUNCTION asm_leaf
	.cfi_startproc
	TURNS
	ret
	.cfi_endproc
END asm_leaf

/* The CFA is told by rbx, the stack pointer wanders. */
FUNCTION asm_rbx
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	and	$-64, %rsp
	sub	$192, %rsp
	call	asm_leaf
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
END asm_rbx

/* The CFA is what lies at rsp + 24, plus 8: DW_CFA_def_cfa_expression. */
FUNCTION asm_expression
	.cfi_startproc
	mov	%rsp, %rdx
	sub	$40, %rsp
	.cfi_adjust_cfa_offset 40
	mov	%rdx, 24(%rsp)
	/* def_cfa_expression, 5 bytes: breg7 24; deref; plus_uconst 8 */
	.cfi_escape 0x0f, 0x05, 0x77, 0x18, 0x06, 0x23, 0x08
	call	asm_leaf
	add	$40, %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
END asm_expression

/* rbp and rbx lie where DW_CFA_expression says: at CFA - 48 and - 40, by arithmetic. */
FUNCTION asm_saved_by_expression
	.cfi_startproc
	sub	$56, %rsp
	.cfi_adjust_cfa_offset 56
	mov	%rbp, 16(%rsp)
	/* expression, rbp (6), 3 bytes: the CFA is on the stack;
	 * lit24; lit2; mul; minus */
	.cfi_escape 0x10, 0x06, 0x04, 0x48, 0x32, 0x1e, 0x1c
	mov	%rbx, 24(%rsp)
	/* expression, rbx (3): const1s -40; plus */
	.cfi_escape 0x10, 0x03, 0x03, 0x09, 0xd8, 0x22
	xor	%ebp, %ebp
	xor	%ebx, %ebx
	call	asm_leaf
	mov	16(%rsp), %rbp
	.cfi_restore %rbp
	mov	24(%rsp), %rbx
	.cfi_restore %rbx
	add	$56, %rsp
	.cfi_adjust_cfa_offset -56
	ret
	.cfi_endproc
END asm_saved_by_expression

/* An early way out: what lies behind it has the state of before (remember, restore). */
FUNCTION asm_remember
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -16
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_offset %r12, -24
	xor	%ebp, %ebp
	mov	%rdi, %r12
	test	$1, %dil
	jz	2f
	.cfi_remember_state
	pop	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
2:	TURNS
	pop	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
END asm_remember

/* Nothing but pushes and pops: another row at each instruction. */
FUNCTION asm_push_pop
	.cfi_startproc
	mov	%rdi, %rcx
	shr	$2, %rcx
3:	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	push	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	xor	%ebx, %ebx
	xor	%ebp, %ebp
	xor	%r12d, %r12d
	sub	$72, %rsp
	.cfi_adjust_cfa_offset 72
	nop
	add	$72, %rsp
	.cfi_adjust_cfa_offset -72
	pop	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	pop	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	dec	%rcx
	jnz	3b
	ret
	.cfi_endproc
END asm_push_pop

/* Arguments on the stack, taken away again behind the call. */
FUNCTION asm_pushed_arguments
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	$1
	.cfi_adjust_cfa_offset 8
	push	$2
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x2e, 0x10	/* GNU_args_size 16 */
	call	asm_leaf
	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
	.cfi_escape 0x2e, 0x00
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
END asm_pushed_arguments

/* A leaf that is called by a jump: its way back lies in rdx. */
FUNCTION asm_leaf_rdx
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rdx
	mov	%rdi, %rcx
4:	imul	$3, %rax, %rax
	dec	%rcx
	jnz	4b
	jmp	*%rdx
	.cfi_endproc
END asm_leaf_rdx

FUNCTION asm_in_register
	.cfi_startproc
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	lea	5f(%rip), %rdx
	jmp	asm_leaf_rdx
5:	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
END asm_in_register

/*
 * The CFA is told by r12, which the callee gives another value: its own CFA is what it was
 * (DW_CFA_val_offset).
 */
FUNCTION asm_told
	.cfi_startproc
	xor	%r12d, %r12d
	.cfi_escape 0x14, 0x0c, 0x00	/* val_offset r12, 0 */
	TURNS
	lea	8(%rsp), %r12
	.cfi_same_value %r12
	ret
	.cfi_endproc
END asm_told

FUNCTION asm_value_offset
	.cfi_startproc
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_offset %r12, -16
	mov	%rsp, %r12
	.cfi_def_cfa_register %r12
	call	asm_told
	.cfi_def_cfa_register %rsp
	pop	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	ret
	.cfi_endproc
END asm_value_offset

/* The same by rbx and DW_CFA_val_expression: its CFA and 32 more. */
FUNCTION asm_told_by_expression
	.cfi_startproc
	xor	%ebx, %ebx
	.cfi_escape 0x16, 0x03, 0x02, 0x23, 0x20	/* val_expression rbx: plus_uconst 32 */
	TURNS
	lea	40(%rsp), %rbx
	.cfi_same_value %rbx
	ret
	.cfi_endproc
END asm_told_by_expression

FUNCTION asm_value_expression
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	sub	$32, %rsp
	call	asm_told_by_expression
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
END asm_value_expression

/* A call that is the last instruction; what follows has another frame. */
FUNCTION asm_ends_in_call
	.cfi_startproc
	sub	$88, %rsp
	.cfi_adjust_cfa_offset 88
	call	asm_drops_caller
	.cfi_endproc
END asm_ends_in_call
	.globl asm_follows
	.type asm_follows, @function
asm_follows:
	.cfi_startproc
	.cfi_def_cfa_offset 400
	ud2
	.cfi_endproc
END asm_follows

FUNCTION asm_drops_caller
	.cfi_startproc
	TURNS
	add	$96, %rsp
	ret
	.cfi_endproc
END asm_drops_caller

/* A jump out of a frame that is taken down before it. */
FUNCTION asm_jumped_to
	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	asm_leaf
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
END asm_jumped_to

FUNCTION asm_jumps
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	xor	%ebx, %ebx
	TURNS
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	jmp	asm_jumped_to
	.cfi_endproc
END asm_jumps

/* Calls asm_leaf on a stack of its own (rsi is its top), and comes back by rbx. */
FUNCTION asm_switch
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	mov	%rsi, %rsp
	call	asm_leaf
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
END asm_switch

/* No information at all: with a frame pointer there is a way. */
FUNCTION asm_hand_pointed_leaf
	push	%rbp
	mov	%rsp, %rbp
	TURNS
	pop	%rbp
	ret
END asm_hand_pointed_leaf

FUNCTION asm_hand_pointed
	push	%rbp
	mov	%rsp, %rbp
	sub	$48, %rsp
	call	asm_hand_pointed_leaf
	leave
	ret
END asm_hand_pointed

/* None, and no frame pointer either. */
FUNCTION asm_hand_written
	push	%rbx
	push	%r12
	sub	$136, %rsp
	TURNS
	add	$136, %rsp
	pop	%r12
	pop	%rbx
	ret
END asm_hand_written

	.section .note.GNU-stack, "", @progbits
#endif
