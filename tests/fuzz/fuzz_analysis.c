/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole report of whatever the bytes are: machine, unwinding of copied stacks and their
 * repair, rows and tree; then by what samples say of themselves, in groups, and of branches. No
 * crash, no hang; each sample is counted once, by how its stack ended, and the threads do not
 * matter. Nothing of this machine is read.
 */
#include <assert.h>
#include <sprof/private/command.h>
#include <sprof/sprof.h>
#include "base/cleanup.h"
#include "fuzz.h"
#include "tests/thread_lives.h"

static void check_profile(const struct sp_profile *profile, bool ranges)
{
	uint64_t sum = sp_profile_stack_count(profile);
	/* Branches are no stacks, and those outside of ranges are not read. */
	assert(profile->of_branches ? sum == 0 : ranges ? sum <= profile->samples
							: sum == profile->samples);
	assert(profile->shown_samples <= profile->samples);
	for (size_t i = 0; i < profile->row_count; i++)
		assert(sp_profile_row(profile, i)->self.samples <=
		       sp_profile_row(profile, i)->total.samples);
}

static uint64_t sum_groups(const struct sp_analysis *analysis)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < sp_analysis_group_count(analysis); i++) {
		const struct sp_group *group = sp_analysis_group(analysis, i);
		assert(group->profile_count >= 2);
		for (size_t j = 0; j < group->row_count; j++)
			for (size_t k = 0; k < group->ratio_count; k++) {
				const struct sp_ratio *ratio = &sp_group_row(group, j)->ratios[k];
				assert(ratio->known || !ratio->bounded);
				assert(!ratio->bounded || (ratio->low <= ratio->value &&
							   ratio->value <= ratio->high));
				sum += ratio->bounded;
			}
		sum = sum * 31 + group->row_count;
	}
	return sum;
}

/* Checks that a recording summed with itself has twice its samples. */
static void check_sum(struct sp_ctx *ctx, struct sp_reader *reader,
		      const struct sp_analysis_options *options, const struct sp_analysis *once)
{
	const struct sp_recording both[] = {{.reader = reader}, {.reader = reader}};
	struct sp_analysis *twice = NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		sp_analysis_sum(ctx, both, 2, options, &twice);
	if (error)
		return;
	assert(sp_analysis_profile_count(twice) == sp_analysis_profile_count(once));
	for (size_t i = 0; i < sp_analysis_profile_count(once); i++) {
		const struct sp_profile *profile = sp_analysis_profile(twice, i);
		check_profile(profile, false);
		assert(profile->samples == 2 * sp_analysis_profile(once, i)->samples);
	}
	sp_analysis_free(twice);
}

enum mode {
	MODE_CALLS, MODE_VALUES, MODE_BRANCHES, MODE_TRACES, MODE_WALL, MODE_LATENCY, MODE_WAKERS, MODE_COUNT,
};

static enum sp_mode mode_of_time(enum mode mode)
{
	return mode == MODE_WALL ? SP_MODE_WALL : mode == MODE_LATENCY ? SP_MODE_LATENCY
	       : mode == MODE_WAKERS ? SP_MODE_WAKERS : SP_MODE_CPU;
}

/* Adds up what must not depend on the number of threads. */
static uint64_t analyse(const char *path, unsigned int threads, enum mode mode)
{
	enum sp_key keys[SP_KEY_LIMIT];
	size_t key_count = 0;
	static const struct sp_field fields[] = {
		{"common_pid", -1, false}, {"prev_comm", -1, false}, {"prev_state", 0, true},
	};
	enum sp_key first = mode == MODE_TRACES ? SP_KEY_TRACE : SP_KEY_FIRST_VALUE;
	enum sp_key end = mode == MODE_TRACES ? SP_KEY_LIMIT : SP_KEY_TRACE;
	for (enum sp_key key = first; key < end; key++)
		if (sp_key_name(key) && mode != MODE_CALLS &&
		    sp_key_is_of_branches(key) == (mode == MODE_BRANCHES))
			keys[key_count++] = key;

	struct sp_ctx *ctx;
	struct sp_reader *reader = NULL;
	struct sp_analysis *analysis = NULL;
	uint64_t sum = 0;
	struct sp_error *error = sp_ctx_new(&ctx);
	assert(!error);
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows),
		.keys = keys,
		.key_count = key_count,
		.fields = fields,
		.field_count = sizeof(fields) / sizeof(*fields),
		.children = mode != MODE_BRANCHES,
		.groups = mode == MODE_VALUES ? SP_GROUPS_ALL : SP_GROUPS_RECORDED,
	};
	const struct sp_analysis_tree tree = {
		.size = sizeof(tree),
		.order = mode == MODE_CALLS || mode_of_time(mode) ? SP_TREE_CALLER : SP_TREE_NONE,
	};
	const struct sp_analysis_samples samples = {
		.size = sizeof(samples),
		.branches = mode == MODE_BRANCHES,
		.mode = mode_of_time(mode),
	};
	static const struct sp_time_span times[] = {{1000, 1u << 31}, {1u << 20, 0}};
	const struct sp_filter filter = {.size = sizeof(filter),
					 .times = times,
					 .time_count = mode == MODE_LATENCY ? 1
						       : mode == MODE_WAKERS ? 2 : 0};
	const struct sp_files files = {.size = sizeof(files), .symfs = "/nonexistent"};
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = &rows,
		.tree = &tree,
		.samples = &samples,
		.filter = &filter,
		.files = &files,
		.threads = threads,
	};
	error = sp_reader_open(ctx, path, &reader);
	if (!error)
		error = sp_reader_add_up_pmus(reader, (struct sp_string_list){0});
	if (!error)
		error = sp_analysis_run(ctx, reader, &options, &analysis);
	for (size_t i = 0; analysis && i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		check_profile(profile, filter.time_count);
		sum = sum * 31 + profile->samples + profile->stacks[SP_STACK_COMPLETE] * 3 +
		      profile->stacks[SP_STACK_TRUNCATED] * 5 + profile->repaired * 7 +
		      profile->row_count;
	}
	if (analysis)
		sum = sum * 31 + sum_groups(analysis);
	if (analysis && mode == MODE_VALUES)
		check_sum(ctx, reader, &options, analysis);
	assert(!error || sp_error_message(error)[0]);
	sp_error_free(error);
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return sum;
}

static uint64_t total_of(const struct sp_thread_times *times)
{
	return times->running_ns + times->runnable_ns + times->blocked_ns + times->unknown_ns;
}

/* The states of each thread sum to its lifetime, and its slices to its states. */
static void check_threads(const char *path)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader = NULL;
	struct thread_lives *threads = NULL;
	struct sp_error *error = sp_ctx_new(&ctx);
	assert(!error);
	error = sp_reader_open(ctx, path, &reader);
	if (!error)
		error = thread_lives_new(ctx, reader, NULL, &threads);
	for (size_t i = 0; threads && i < thread_lives_count(threads); i++) {
		const struct thread_life *thread = thread_lives_at(threads, i);
		uint64_t total = total_of(&thread->times), slices = 0;
		assert(total == thread->end_ns - thread->begin_ns);
		for (size_t j = 0; j < THREAD_SLICES; j++)
			slices += total_of(&thread->slices[j]);
		assert(slices == total);
	}
	sp_error_free(error);
	thread_lives_free(threads);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	CLEANUP_CLOSE int fd = fuzz_file(bytes, size, path);
	check_threads(path);
	for (enum mode mode = 0; mode < MODE_COUNT; mode++) {
		uint64_t one = analyse(path, 1, mode);
		assert(one == analyse(path, 2, mode));
	}
	return 0;
}
