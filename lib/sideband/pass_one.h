/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of report and script: mappings and tasks over time, and the files of the code. */
#pragma once

#include <sprof/analysis.h>
#include "sideband/sideband.h"
#include "stacks/deferred.h"
#include "stacks/dump_unwind.h"
#include "symbol/resolver.h"

/* A recording to read. Everything is borrowed. */
struct pass_one {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct sp_files *files; /* the resolver borrows its texts, too */
	unsigned int threads;         /* limit of threads */
	struct sp_names *names;       /* kept names; may be NULL */
	bool states;                  /* build sideband.states, if records have times */
	bool chains;                  /* read deferred call chains */
};

/* Result of pass one, with the finders of names and stacks of the code. */
struct pass_one_result {
	struct sp_reader *reader; /* borrowed */
	struct machine *machine;  /* sealed */
	struct sideband sideband;
	struct resolver *resolver;
	struct unwinding unwinding;
	struct deferred deferred; /* deferred call chains; empty: none, or not requested */
};

/*
 * Reads the side-band and the samples of sched events, then jitdumps and the file's header, and
 * opens the resolver and the unwinder. *ret must keep its address, and be deinitialised after a
 * failure, too.
 */
struct sp_error *pass_one_read(const struct pass_one *pass,
			       struct pass_one_result *ret) SP_MUST_CHECK;
void pass_one_deinit(struct pass_one_result *result);

/* The same for a malloc'ed result; NULL is allowed. */
void pass_one_free(struct pass_one_result *result);

/*
 * Returns whether pass one missed records, because samples with a wrong size contained them. If so,
 * clears the damage found so far; the caller must repeat pass one. Call it after the samples were
 * read. `exact` is the result of reader_is_exact() before pass one.
 */
bool pass_one_missed_records(struct sp_reader *reader, bool exact);
