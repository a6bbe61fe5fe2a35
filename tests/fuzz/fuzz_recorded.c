/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simpleperf's features FILE and FILE2: an index of them, and the names of a few files. */
#include <string.h>
#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const paths[] = {"/a", "/system/lib64/libc.so", "[kernel.kallsyms]"};
	if (!size)
		return 0;
	struct sp_bytes payload = {bytes + 1, size - 1};
	struct resolver_options options = {
		.symfs = "/nonexistent",
		.recorded = {.swap = bytes[0] & 1},
	};
	if (bytes[0] & 2)
		options.recorded.file2 = payload;
	else
		options.recorded.file = payload;
	struct sp_ctx *ctx;
	struct resolver *resolver;
	if (sp_ctx_new(&ctx))
		return 0;
	struct sp_error *error = resolver_new(ctx, &options, &resolver);
	for (uint32_t i = 0; !error && i < 3; i++) {
		struct module module = {.index = i, .path = paths[i], .name = paths[i],
					.kind = i < 2 ? MODULE_FILE : MODULE_KERNEL_CODE};
		for (uint64_t offset = 0; offset < 0x10000; offset += 0x333) {
			struct location location = {.module = &module, .offset = offset, .ip = offset};
			const struct symbol *symbol = resolver_find(resolver, &location);
			if (symbol && strlen(symbol->name) > size * 64 + 4096)
				__builtin_trap();
		}
	}
	if (!error)
		resolver_free(resolver);
	sp_error_free(error);
	sp_ctx_free(ctx);
	return 0;
}
