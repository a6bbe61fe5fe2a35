/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What struct perf_event_attr of perf_event_open(2) has, and what this kernel knows of it. */
#ifndef SPROF_FIELDS_H
#define SPROF_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sprof/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_attr_field {
	const char *name;   /* as linux/perf_event.h has it: "PERF_SAMPLE_ADDR", "use_clockid" */
	const char *option; /* of sprof record, that asks for it; NULL: taken without being asked */
	const char *since;  /* the first Linux that has it: "5.11" */
	const char *needs;  /* what hardware or build of the kernel it takes besides, or NULL */
	bool known;         /* by this kernel, which was asked */
};

/*
 * All of them, by age: fields, flags, sample, branch and read format bits. *ret is the
 * caller's to free(); strings are static. Fails with cause and remedy where perf_event_open(2)
 * is not to be had at all.
 */
SP_API struct sp_error *sp_attr_fields(struct sp_ctx *ctx, struct sp_attr_field **ret,
				       size_t *count_ret) SP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
