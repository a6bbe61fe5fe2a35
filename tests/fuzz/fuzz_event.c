/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event strings, as -e takes them. */
#include <assert.h>
#include <string.h>
#include "base/cleanup.h"
#include "event/parse.h"
#include "fuzz.h"

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP_FREE char *text = calloc(1, size + 1);
	memcpy(text, bytes, size);
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	assert(!sp_ctx_new(&ctx));
	/* Has no PMU and no tracepoint. */
	assert(!sp_ctx_set_root(ctx, "/nonexistent"));
	struct event_specs specs = {0};
	struct sp_error *error = event_specs_parse(&specs, ctx, text);
	assert(error ? sp_error_remedy(error) && !specs.count : specs.count);
	for (size_t i = 0; i < specs.count; i++)
		assert(strstr(text, specs.items[i].name));
	sp_error_free(error);
	event_specs_deinit(&specs);
	return 0;
}
