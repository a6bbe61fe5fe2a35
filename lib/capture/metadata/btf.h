/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BTF, the kernel's type information, as far as names of BPF functions need it. */
#ifndef CAPTURE_METADATA_BTF_H
#define CAPTURE_METADATA_BTF_H

#include <stddef.h>
#include <stdint.h>

/*
 * The name of type `id` in a BTF blob (host byte order), which points into it;
 * NULL where there is none, or the blob is damaged.
 */
const char *btf_type_name(const void *blob, size_t size, uint32_t id);

#endif
