/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded BPF programs, by bpf(2). All functions return a descriptor or 0, or -errno. */
#ifndef CAPTURE_METADATA_BPF_H
#define CAPTURE_METADATA_BPF_H

#include <stddef.h>
#include <stdint.h>

/* The first program with a higher number than *id, which then is its number. */
int bpf_next_program(uint32_t *id);

int bpf_open_program(uint32_t id);
int bpf_open_types(uint32_t id);

/*
 * Reads a struct bpf_prog_info or bpf_btf_info. The caller sets its pointers and counts to request
 * arrays.
 */
int bpf_object_info(int fd, void *info, uint32_t size);

/* BTF, the kernel's type information, as far as names of BPF functions need it. */

/*
 * The name of type `id` in a BTF blob (host byte order), which points into it;
 * NULL where there is none, or the blob is damaged.
 */
const char *btf_type_name(const void *blob, size_t size, uint32_t id);

#endif
