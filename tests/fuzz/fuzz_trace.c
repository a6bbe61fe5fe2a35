/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of tracepoints as recordings hold them (TRACING_DATA). */
#include <assert.h>
#include "fuzz.h"
#include "trace/container.h"

struct bounds {
	const char *begin, *end;
};

static bool see_header(void *arg, const struct trace_header *header)
{
	(void)arg;
	assert(header->long_size == 4 || header->long_size == 8);
	return true;
}

static bool see_file(void *arg, enum trace_file kind, const char *system, const char *text,
		     size_t size)
{
	const struct bounds *bounds = arg;
	(void)kind;
	assert(!system || (system >= bounds->begin && system < bounds->end));
	assert(text >= bounds->begin && size <= (size_t)(bounds->end - text));
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct bounds bounds = {(const char *)bytes, (const char *)bytes + size};
	const struct trace_visitor visitor = {see_header, see_file, &bounds};
	const struct sp_bytes blob = {bytes, size};
	sp_error_free(trace_container_read(&blob, "fuzz", &visitor));
	return 0;
}
