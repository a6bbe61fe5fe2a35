/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Type information of BPF programs. */
#include <assert.h>
#include <string.h>
#include "capture/metadata/bpf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	for (uint32_t id = 0; id < 16; id++) {
		const char *name = btf_type_name(bytes, size, id);
		assert(!name || (*name && strlen(name) < size));
	}
	return 0;
}
