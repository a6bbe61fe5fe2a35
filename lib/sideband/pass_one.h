/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of report and script: mappings and tasks over time, and the files of the code. */
#ifndef SIDEBAND_PASS_ONE_H
#define SIDEBAND_PASS_ONE_H

#include <sprof/analysis.h>
#include "sideband/dump_unwind.h"
#include "sideband/sideband.h"
#include "symbol/resolver.h"

/* How many threads work where so many were asked for; 0: one for each processor we may use. */
unsigned int pass_one_threads(size_t wanted);

/* A recording to read; all is borrowed. */
struct pass_one {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct sp_files *files; /* its texts are borrowed by the resolver, too */
	unsigned int threads;         /* the most to use */
	struct sp_names *names;       /* kept names; may be NULL */
};

/*
 * Reads all records but samples, jitdumps and the file's header. *machine_ret is sealed then. Both are
 * to be released after a failure, too.
 */
struct sp_error *pass_one_read(const struct pass_one *pass, struct machine **machine_ret,
			       struct sideband *sideband) SP_MUST_CHECK;

/*
 * Opens the resolver and the unwinder of a machine, which is borrowed. Both are to be released after a
 * failure, too.
 */
struct sp_error *pass_one_open(const struct pass_one *pass, const struct machine *machine,
			       struct resolver **resolver_ret,
			       struct unwinding *unwinding) SP_MUST_CHECK;

/*
 * Once samples were read: whether some of them had swallowed records, which pass one did not see.
 * Then it has to be done again, and what was damaged is forgotten. `exact` is what
 * reader_is_exact() said at the beginning.
 */
bool pass_one_missed_records(struct sp_reader *reader, bool exact);

#endif
