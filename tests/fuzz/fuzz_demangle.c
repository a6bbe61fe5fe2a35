/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names from a hostile symbol table: libiberty must stay within stack, time and memory. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct arena arena = {0};
	char *name = calloc(1, size + 1);
	if (size > 0)
		memcpy(name, bytes, size);
	const char *shown = demangle(name, &arena);
	assert(!shown || strlen(shown) < 1 << 16);
	free(name);
	arena_deinit(&arena);
	return 0;
}
