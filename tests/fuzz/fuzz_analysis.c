/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole report of whatever the bytes are: machine, unwinding of copied stacks and their
 * repair, rows and tree. No crash, no hang; each sample is counted once, by how its stack
 * ended, and the threads do not matter. Nothing of this machine is read.
 */
#include <assert.h>
#include <sprof/sprof.h>
#include "base/cleanup.h"
#include "fuzz.h"

static void check_profile(const struct sp_profile *profile)
{
	const struct sp_stack_ends *ends = &profile->stacks;
	uint64_t sum = ends->complete + ends->truncated + ends->no_unwind_info +
		       ends->bad_memory + ends->depth_limit + ends->skipped + ends->switched +
		       ends->none;
	assert(sum == profile->samples);
	assert(profile->shown_samples <= profile->samples);
	for (size_t i = 0; i < profile->row_count; i++)
		assert(profile->rows[i].self.samples <= profile->rows[i].total.samples);
}

/* Adds up what must not depend on the number of threads. */
static uint64_t analyse(const char *path, unsigned int threads)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader = NULL;
	struct sp_analysis *analysis = NULL;
	uint64_t sum = 0;
	struct sp_error *error = sp_ctx_new(&ctx);
	assert(!error);
	const struct sp_analysis_options options = {
		.children = true,
		.tree = SP_TREE_CALLER,
		.symfs = "/nonexistent",
		.threads = threads,
	};
	error = sp_reader_open(ctx, path, &reader);
	if (!error)
		error = sp_analysis_run(ctx, reader, &options, &analysis);
	for (size_t i = 0; analysis && i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		check_profile(profile);
		sum = sum * 31 + profile->samples + profile->stacks.complete * 3 +
		      profile->stacks.truncated * 5 + profile->repaired * 7 + profile->row_count;
	}
	assert(!error || sp_error_message(error)[0]);
	sp_error_free(error);
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	CLEANUP_CLOSE int fd = fuzz_file(bytes, size, path);
	uint64_t one = analyse(path, 1);
	assert(one == analyse(path, 2));
	return 0;
}
