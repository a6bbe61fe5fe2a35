/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loaded BPF programs, by bpf(2), and names in BTF, the kernel's type information. Only names of
 * BPF functions are read.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets *id to the number of the first program above *id. Returns its descriptor, or -errno. */
int bpf_next_program(uint32_t *id);

/* Arrays of a program's info, as bits: some, or all that perf reads. */
#define BPF_KSYMS (UINT64_C(1) << 3)
#define BPF_FUNC_LENS (UINT64_C(1) << 4)
#define BPF_FUNC_INFO (UINT64_C(1) << 5)
#define BPF_PROG_TAGS (UINT64_C(1) << 8)
#define BPF_ALL_ARRAYS UINT64_MAX

struct bpf_program {
	struct bpf_prog_info info; /* its pointers are offsets in `data` */
	uint8_t *data;
	uint32_t data_size;
	uint64_t have; /* arrays that are not empty */
};

/*
 * Reads the info of a compiled program, and the wanted arrays. Returns false if the program was
 * unloaded, may not be read, or when out of memory. The caller deinitialises *ret in any case.
 */
bool bpf_read_program(uint32_t id, uint64_t wanted, struct bpf_program *ret);
void bpf_program_deinit(struct bpf_program *program);

/* Returns a BTF blob, which the caller frees; NULL if it cannot be read. */
uint8_t *bpf_read_types(uint32_t id, uint32_t *size_ret);

/*
 * Returns the name of type `id` in a BTF blob (host byte order), a pointer into it; NULL if it has
 * none, or the blob is damaged.
 */
const char *btf_type_name(const void *blob, size_t size, uint32_t id);
