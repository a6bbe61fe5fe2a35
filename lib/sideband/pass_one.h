/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of report and script: mappings and tasks over time, and the files of the code. */
#ifndef SIDEBAND_PASS_ONE_H
#define SIDEBAND_PASS_ONE_H

#include <sprof/analysis.h>
#include "sideband/sideband.h"
#include "stacks/dump_unwind.h"
#include "symbol/resolver.h"

/* A recording to read. Everything is borrowed. */
struct pass_one {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct sp_files *files; /* the resolver borrows its texts, too */
	unsigned int threads;         /* limit of threads */
	struct sp_names *names;       /* kept names; may be NULL */
	bool states;                  /* build sideband->states, if records have times */
};

/*
 * Reads all records except samples, then jitdumps and the file's header, and seals *machine_ret. Both
 * results must be freed after a failure, too.
 */
struct sp_error *pass_one_read(const struct pass_one *pass, struct machine **machine_ret,
			       struct sideband *sideband) SP_MUST_CHECK;

/*
 * Opens the resolver and the unwinder for a machine and a sideband, which are borrowed. Both results must
 * be freed after a failure, too, and before the sideband.
 */
struct sp_error *pass_one_open(const struct pass_one *pass, const struct machine *machine,
			       const struct sideband *sideband, struct resolver **resolver_ret,
			       struct unwinding *unwinding) SP_MUST_CHECK;

/*
 * Returns whether samples contained records that pass one did not see, after the samples were read. If
 * so, forgets the damage found; the caller must repeat pass one. `exact` is the result of
 * reader_is_exact() before pass one.
 */
bool pass_one_missed_records(struct sp_reader *reader, bool exact);

#endif
