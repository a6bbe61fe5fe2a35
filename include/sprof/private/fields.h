/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Members of struct perf_event_attr of perf_event_open(2), and the running kernel's support for
 * them.
 */
#ifndef SPROF_PRIVATE_FIELDS_H
#define SPROF_PRIVATE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_attr_field {
	const char *name;   /* name in linux/perf_event.h: "PERF_SAMPLE_ADDR", "use_clockid" */
	const char *option; /* option of sprof record that sets it; NULL: always set */
	const char *since;  /* the first Linux that has it: "5.11" */
	const char *needs;  /* hardware or kernel configuration that it requires, or NULL */
	bool known;         /* supported by this kernel, by a test */
};

/* Names of branch types, those of perf's -j. */
#define SP_BRANCH_TYPE_NAMES                                                                  \
	"any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, u, k, " \
	"hv, stack, no_flags, no_cycles, save_type, hw_index, priv, counter"

/*
 * Reads names of branch types, in either case, into bits of branch_sample_type. Privilege levels
 * alone mean branches of any type. Returns NULL, or the first name that is unknown.
 */
SP_API const char *sp_branch_types_parse(const char *text, size_t size, char separator,
					 uint64_t *ret);

/*
 * Lists all fields, by age: fields, flags, sample, branch and read format bits. The caller frees
 * *ret by free(); strings are static. Fails, with cause and remedy, if perf_event_open(2) is not
 * available.
 */
SP_API struct sp_error *sp_attr_fields(struct sp_ctx *ctx, struct sp_attr_field **ret,
				       size_t *count_ret) SP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
