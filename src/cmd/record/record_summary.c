/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/record.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sprof/private/command.h>
#include "diag.h"

static void format_size(char *text, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
	double number = (double)bytes;
	unsigned int unit = 0;
	for (; number >= 1000 && unit < 4; unit++)
		number /= 1000;
	snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", number, units[unit]);
}

/* Returns the CPU time of this process in seconds, user and system. */
static double own_seconds(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* After a failure, buffers were not read any more: larger ones would not help. */
static void print_losses(const struct record_options *options, struct sp_capture *capture,
			 const struct sp_capture_stats *stats, bool failed)
{
	double all = (double)(stats->lost_own + stats->samples);
	double percent = 100.0 * (double)stats->lost_own / all;
	unsigned long long lost = stats->lost_own;
	char remedy[80];
	if (lost && failed)
		diag_print("%llu sample%s (%.1f %%) lost", lost, lost == 1 ? "" : "s", percent);
	else if (lost && options->buffers.overwrite)
		diag_print("%llu sample%s (%.1f %%) lost while the ring buffers were read: use "
			   "smaller "
			   "buffers (-m) or a lower -F",
			   lost, lost == 1 ? "" : "s", percent);
	else if (lost)
		diag_print("%llu sample%s (%.1f %%) lost: %s", lost, lost == 1 ? "" : "s", percent,
			   record_loss_remedy(options, capture, remedy));
	if (stats->lost_sideband)
		diag_print("%llu metadata records (mmap, comm, fork) were lost",
			   (unsigned long long)stats->lost_sideband);
	if (stats->throttled)
		diag_print("the kernel throttled sampling %llu time%s: use a lower -F",
			   (unsigned long long)stats->throttled, stats->throttled == 1 ? "" : "s");
}

static void add_part(char *text, size_t size, uint64_t count, const char *name)
{
	size_t used = strlen(text);
	if (count)
		snprintf(text + used, size - used, ", %llu %s", (unsigned long long)count, name);
}

/* Prints the part of complete stacks as a report does, which counts those without a user part. */
static void print_stacks(const struct sp_capture_stacks *stacks)
{
	char rest[256] = "";
	uint64_t unwound = stacks->complete + stacks->repaired + stacks->truncated +
			   stacks->no_unwind_info + stacks->bad_memory + stacks->depth_limit +
			   stacks->skipped;
	uint64_t all = unwound + stacks->none;
	uint64_t complete = stacks->complete + stacks->repaired + stacks->none;
	add_part(rest, sizeof(rest), stacks->repaired, "of them completed from other samples");
	add_part(rest, sizeof(rest), stacks->truncated, "truncated");
	add_part(rest, sizeof(rest), stacks->no_unwind_info, "without unwind information");
	add_part(rest, sizeof(rest), stacks->bad_memory, "with an invalid stack address");
	add_part(rest, sizeof(rest), stacks->depth_limit, "too deep");
	add_part(rest, sizeof(rest), stacks->skipped, "not unwound");
	if (unwound)
		diag_print("stacks of %llu sample%s: %.2f %% complete%s", (unsigned long long)all,
			   all == 1 ? "" : "s", 100 * (double)complete / (double)all, rest);
}

static void print_totals(struct sp_capture *capture, const struct sp_capture_stats *stats,
			 const char *path)
{
	double seconds = (double)stats->duration_ns / 1e9;
	double own = own_seconds() + (double)sp_capture_proxy_ns(capture) / 1e9;
	char size[32], share[32] = "", rate[32] = "";
	format_size(size, sizeof(size), stats->all_file_bytes);
	/*
	 * The recorder's CPU share is left out for short recordings, where starting and stopping
	 * would dominate.
	 */
	if (seconds >= 1)
		snprintf(share, sizeof(share), " (%.1f %% of a CPU)", 100 * own / seconds);
	if (stats->rate_hz && stats->samples)
		snprintf(rate, sizeof(rate), " at %llu Hz", (unsigned long long)stats->rate_hz);
	diag_print("%llu sample%s, %llu lost, %s in %s; %.3f s elapsed%s, recorder used %.1f ms "
		   "CPU%s",
		   (unsigned long long)stats->samples, stats->samples == 1 ? "" : "s",
		   (unsigned long long)(stats->lost_own + stats->shed), size, path, seconds, rate,
		   1000 * own, share);
}

void record_print_summary(const struct record_arguments *arguments, struct sp_capture *capture,
			  size_t files, bool failed)
{
	const struct record_options *options = &arguments->options;
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	const char *path = options->output.path ? options->output.path : "sprof.data";
	char text[48];
	if (!strcmp(path, "-"))
		path = "standard output";
	snprintf(text, sizeof(text), "%zu file%s", files, files == 1 ? "" : "s");
	if (files)
		path = text;
	bool empty = !stats->samples && !failed && options->sampling.samples != SP_OFF;
	if (empty)
		record_print_empty(arguments, capture, path);
	if (arguments->quiet)
		return;
	if (!empty)
		record_print_unrecorded(options, capture);
	if (stats->unwritten)
		diag_print("%llu more samples could not be written",
			   (unsigned long long)stats->unwritten);
	print_losses(options, capture, stats, failed);
	print_stacks(&stats->stacks);
	if (stats->syncs)
		diag_print("%llu syncs took %.1f ms, the longest %.1f ms; sampling did not wait "
			   "for them",
			   (unsigned long long)stats->syncs, (double)stats->sync_ns / 1e6,
			   (double)stats->sync_longest_ns / 1e6);
	print_totals(capture, stats, path);
}
