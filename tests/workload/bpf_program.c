/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_program COMMAND [ARG]...: loads a BPF program that does nothing, prints its number to
 * standard error and becomes the command, which keeps it. Status 77 where that is not allowed.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insn_cnt = 2,
		.insns = (uint64_t)(uintptr_t)instructions,
		.license = (uint64_t)(uintptr_t)"GPL",
		.prog_name = "sprof_test",
	};
	if (argc < 2)
		return 99;
	long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0) {
		fprintf(stderr, "bpf: %s\n", strerror(errno));
		return 77;
	}
	struct bpf_prog_info info = {0};
	union bpf_attr ask = {
		.info = {.bpf_fd = (uint32_t)fd, .info_len = sizeof(info),
			 .info = (uint64_t)(uintptr_t)&info},
	};
	syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask));
	fprintf(stderr, "%u\n", info.id);
	/* Descriptors of programs are closed by exec: a copy is not. */
	if (dup((int)fd) < 0)
		return 99;
	execvp(argv[1], argv + 1);
	return 127;
}
