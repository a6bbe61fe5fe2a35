/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a recording comes to: how much there is, how much is missing, and why. */
#include <stdio.h>
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "record/note.h"

/* Where less of the CPU time than that is in the samples, it is said. */
#define COVERED_ENOUGH 0.93
#define MISSING_NS 30000000

static uint64_t to_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

/*
 * What the whole command used, where it is what a single clock has sampled. 0: not to be
 * compared. User time alone is not: the kernel guesses it by its ticks, and takes all
 * that short processes use for it.
 */
static uint64_t used_ns(const struct sp_capture *capture)
{
	const struct event_plan *plan = capture->plan;
	const struct perf_event_attr *attr = &plan->samples[0].attr;
	/* What was overwritten, or came after a file was full, is not missing. */
	if (capture->flight.on || capture->switching.full)
		return 0;
	if (capture->target != CAPTURE_COMMAND || !capture->workload.ended || capture->turns.turned ||
	    !capture->inherit || plan->sample_count != 1 || !capture_is_clock(attr) ||
	    attr->exclude_user || attr->exclude_kernel)
		return 0;
	const struct rusage *usage = &capture->workload.usage;
	return to_ns(&usage->ru_utime) + to_ns(&usage->ru_stime);
}

/* Of all samples that were lost, how many were probably ours. */
static uint64_t lost_own(const struct sp_capture *capture, uint64_t lost, uint64_t used)
{
	const struct filter_counts *counts = &capture->filter.counts;
	if (!capture->filter.membership)
		return lost;
	if (used && counts->samples) {
		/* As many as are missing to the CPU time. */
		double period_ns = (double)counts->weight / (double)counts->samples;
		double missing = ((double)used - (double)counts->weight) / period_ns;
		return missing < 0 ? 0 : missing > (double)lost ? lost : (uint64_t)missing;
	}
	/* As many as of what lies beside them; those of the end, as of all. */
	double kept = (double)counts->samples, seen = kept + (double)counts->strangers;
	double at_end = (double)capture->lost_at_end * (seen > 0 ? kept / seen : 1);
	double told = (double)counts->lost, helping = (double)capture->lost_helping;
	double counting = told > 0 ? (told - helping) / told : 1;
	return (uint64_t)(counts->lost_own * counting + at_end + 0.5);
}

/* What the samples that were written stand for. */
static uint64_t written_weight(const struct filter_counts *counts, uint64_t shed)
{
	double share = counts->samples ? 1 - (double)shed / (double)counts->samples : 1;
	return (uint64_t)((double)counts->weight * share);
}

/* Samples that are in files or on their way there; once all are closed, those in the files. */
static uint64_t written_samples(const struct sp_capture *capture, const struct writing_counts *written)
{
	struct file_maker *maker = capture->switching.maker;
	if (!capture->closed || !maker)
		return capture->filter.counts.samples - written->unwritten - written->shed;
	pthread_mutex_lock(&maker->lock);
	uint64_t samples = maker->samples;
	pthread_mutex_unlock(&maker->lock);
	return samples;
}

struct sp_capture_stats sp_capture_stats(const struct sp_capture *capture)
{
	const struct filter_counts *counts = &capture->filter.counts;
	uint64_t end_ns = capture->end_ns ? capture->end_ns : capture_now_ns();
	uint64_t lost = counts->lost - capture->lost_helping + capture->lost_at_end;
	uint64_t used = used_ns(capture);
	const struct writing_counts written = writing_counts(capture->writing);
	uint64_t samples = written_samples(capture, &written);
	const struct file_maker *maker = capture->switching.maker;
	const struct durability syncs =
		maker ? durability_read(&maker->durability) : (struct durability){0};
	return (struct sp_capture_stats){
		.samples = samples,
		.unwritten = counts->samples - written.shed - samples,
		.shed = written.shed,
		.lost = lost,
		.lost_own = lost_own(capture, lost, used),
		.lost_sideband = capture->tracker.counts.lost,
		.throttled = counts->throttled,
		.unattributed = counts->ended,
		.file_bytes = written.file_bytes,
		.all_file_bytes = written.all_bytes,
		.full = capture->switching.full,
		.ring_bytes = capture->rings ? sample_rings(capture)->size : 0,
		.duration_ns = end_ns - capture->begin_ns,
		.used_ns = used,
		.sampled_ns = used ? written_weight(counts, written.shed) : 0,
		.cpu_wide = capture->plan->cpu_wide,
		.stacks = capture->unwound.stacks,
		.syncs = syncs.syncs,
		.sync_ns = syncs.spent_ns,
		.sync_longest_ns = syncs.longest_ns,
	};
}

static bool was_online(const struct sp_capture *capture, uint32_t cpu)
{
	for (size_t i = 0; i < capture->online.count; i++)
		if (capture->online.items[i] == cpu)
			return true;
	return false;
}

static struct sp_error *say_new_cpus(struct sp_capture *capture)
{
	struct cpu_list online = {0};
	struct sp_error *error = sysfs_cpus_online(capture->ctx, &online);
	for (size_t i = 0; i < online.count && !error; i++)
		if (!was_online(capture, online.items[i]))
			error = capture_note(capture, "CPU %u came online meanwhile: what ran there is "
					     "not in the recording", online.items[i]);
	vec_deinit(&online);
	return error;
}

/*
 * An inherited event begins with a whole period, so of each task that was made
 * meanwhile up to a period is not in the samples; and no more than what the events have
 * counted in all beyond it. A clock counts the kernel's time, too, where only the user's is sampled.
 */
static uint64_t unsampled_most_ns(const struct sp_capture *capture)
{
	uint64_t period_ns = capture->plan->freq_hz ? 1000000000 / capture->plan->freq_hz : 0;
	uint64_t most_ns = capture->tracker.counts.followed_forks * period_ns;
	uint64_t sampled_ns = capture->filter.counts.weight;
	struct event_total total;
	if (capture->plan->cpu_wide || !most_ns || !capture_is_clock(&capture->plan->samples[0].attr))
		return capture->plan->cpu_wide ? 0 : most_ns;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = event_set_read(capture->set, 0, &total);
	if (error)
		return most_ns;
	uint64_t counted_ns = total.value + wide_counted(&capture->wide);
	uint64_t missing_ns = counted_ns > sampled_ns ? counted_ns - sampled_ns : 0;
	return missing_ns < most_ns ? missing_ns : most_ns;
}

/* Others ran beside the command, for more than a tenth of its time. */
static bool shared_cpus(const struct filter_counts *counts)
{
	return counts->strangers > counts->samples / 10;
}

static const char *why_uncovered(const struct sp_capture *capture,
				 const struct sp_capture_stats *stats)
{
	if (stats->lost_sideband)
		return "records of new processes were lost, and with them who they are";
	if (stats->shed)
		return "samples were left out";
	if (stats->lost_own)
		return "samples were lost";
	if (stats->cpu_wide && shared_cpus(&capture->filter.counts))
		return "it shared the CPUs with others, and of whom a sample of whole CPUs is, is left to "
		       "chance and the scheduler's rhythm (--scope task goes by its own time)";
	if (stats->cpu_wide)
		return "sampling was paused, or the processor taken from this machine";
	return "of threads and processes that live shorter than a period, hardly any is taken";
}

/* Samples that never were, where they matter. */
static struct sp_error *say_uncovered(struct sp_capture *capture,
				      const struct sp_capture_stats *stats)
{
	const char *remedy = rights_cpu_wide(&capture->rights)
				     ? "--scope cpu would take them"
				     : "a higher -F, or the right to sample whole CPUs: CAP_PERFMON";
	uint64_t most_ns = unsampled_most_ns(capture), sampled_ns = capture->filter.counts.weight;
	if (capture->flight.on)
		return NULL;
	if (!stats->used_ns && capture_is_clock(&capture->plan->samples[0].attr) && most_ns > MISSING_NS &&
	    (double)most_ns > (1 - COVERED_ENOUGH) * (double)(most_ns + sampled_ns))
		return capture_note(capture, "up to %.2f s of CPU time of the %llu threads and processes "
				    "that were made meanwhile are not in the samples (%s)",
				    (double)most_ns / 1e9,
				    (unsigned long long)capture->tracker.counts.followed_forks, remedy);
	double share = stats->used_ns ? (double)stats->sampled_ns / (double)stats->used_ns : 1;
	if (share >= COVERED_ENOUGH || stats->used_ns - stats->sampled_ns < MISSING_NS)
		return NULL;
	const char *why = why_uncovered(capture, stats);
	bool inherits = !stats->cpu_wide && !stats->lost_sideband && !stats->shed && !stats->lost_own;
	return capture_note(capture, "the samples stand for %.0f %% of the command's %.2f s of CPU time: "
			    "%s%s%s%s", 100 * share, (double)stats->used_ns / 1e9, why,
			    inherits ? " (" : "", inherits ? remedy : "", inherits ? ")" : "");
}

static uint64_t unwound(const struct sp_capture_stacks *stacks)
{
	return stacks->complete + stacks->repaired + stacks->truncated +
	       stacks->no_unwind_info + stacks->bad_memory +
	       stacks->depth_limit;
}

static struct sp_error *say_skipped(struct sp_capture *capture)
{
	const struct sp_capture_stacks *stacks = &capture->unwound.stacks;
	if (!stacks->skipped)
		return NULL;
	return capture_note(capture, "%llu of %llu stacks have no calls of user space: there was no time "
			    "to unwind them (fewer samples by -F, or --unwind later)",
			    (unsigned long long)stacks->skipped,
			    (unsigned long long)(stacks->skipped + unwound(stacks)));
}

/* Fewer than one in so many cut stacks are no news. */
#define CUT_SHARE 1000

/* What would hold them, if it is known, and can be had. */
static void size_remedy(const struct sp_capture *capture, char *text, size_t size)
{
	uint32_t enough = stack_sizes_enough(&capture->unwound.sizes);
	uint32_t most = capture->plan->samples[0].attr.sample_stack_user;
	if (capture->wide.large.stack_bytes > most)
		most = capture->wide.large.stack_bytes;
	if (enough == UINT32_MAX && most >= SP_STACK_BYTES_MAX)
		snprintf(text, size, "; " NOTE_NO_MORE_STACK);
	else if (enough == UINT32_MAX)
		snprintf(text, size, "; some are larger than what can be copied: " NOTE_STACK_SIZE "%u",
			 SP_STACK_BYTES_MAX);
	else if (enough > most || (enough > capture->graph.stack_bytes && capture->graph.fixed_size))
		snprintf(text, size, "; " NOTE_STACK_SIZE "%u would hold 99 %% of them", enough);
}

static struct sp_error *say_cut(struct sp_capture *capture)
{
	const struct unwinding_counts *counts = &capture->unwound;
	uint64_t all = unwound(&counts->stacks);
	char remedy[128] = "";
	if (!counts->stacks.truncated || counts->stacks.truncated * CUT_SHARE < all)
		return NULL;
	if (counts->cuts[JOINING_CUT_BY_SIZE])
		size_remedy(capture, remedy, sizeof(remedy));
	return capture_note(capture, "%llu of %llu stacks are cut: %llu are larger than what was copied of "
			    "them, %llu end at memory that was never used, %llu go on elsewhere; no whole "
			    "one shows the callers of %llu%s",
			    (unsigned long long)counts->stacks.truncated, (unsigned long long)all,
			    (unsigned long long)counts->cuts[JOINING_CUT_BY_SIZE],
			    (unsigned long long)counts->cuts[JOINING_CUT_BY_HOLE],
			    (unsigned long long)counts->cuts[JOINING_CUT_ELSEWHERE],
			    (unsigned long long)counts->alone, remedy);
}

static struct sp_error *say_refused(struct sp_capture *capture)
{
	const struct unwinding_counts *counts = &capture->unwound;
	if (!counts->refused)
		return NULL;
	return capture_note(capture, "%llu stacks end at memory that was never used, which the kernel does "
			    "not copy, and that of process %u may not be read, to make it present "
			    "(record as root, or sudo sysctl kernel.yama.ptrace_scope=0)",
			    (unsigned long long)counts->refused, counts->refused_pid);
}

static struct sp_error *say_shortened(struct sp_capture *capture)
{
	const struct sp_capture_stacks *stacks = &capture->unwound.stacks;
	if (!stacks->shortened)
		return NULL;
	return capture_note(capture, "%llu stacks are shown without calls in their middle: they have more "
			    "than %s", (unsigned long long)stacks->shortened,
			    capture->graph.max_stack ? "--max-stack allows" : "a record holds");
}

/* How unwinding went. */
static struct sp_error *say_unwound(struct sp_capture *capture)
{
	struct sp_error *error = say_skipped(capture);
	if (!error)
		error = say_cut(capture);
	if (!error)
		error = say_refused(capture);
	return error ? error : say_shortened(capture);
}

static struct sp_error *say_shed(struct sp_capture *capture)
{
	const struct writing_counts counts = writing_counts(capture->writing);
	struct sp_error *error = NULL;
	if (counts.shed)
		error = capture_note(capture, "%llu of %llu samples were left out: writing took so long "
				     "that %u MB waited for it (a faster disk by -o, or fewer "
				     "samples by -F)",
				     (unsigned long long)counts.shed,
				     (unsigned long long)capture->filter.counts.samples,
				     CAPTURE_WRITING_MEMORY >> 20);
	if (!error && counts.waits)
		error = capture_note(capture, "the recorder stood still %llu times: writing took so long "
				     "that %u MB waited for it (a faster disk by -o)",
				     (unsigned long long)counts.waits, CAPTURE_WRITING_MEMORY >> 19);
	return error;
}

static struct sp_error *say_modules(struct sp_capture *capture)
{
	return !capture->dsos.full ? NULL
	       : capture_note(capture, "more than %d files were mapped: the list of build-ids has the first "
			      "ones alone (mappings have their own)", DSOS_MAX);
}

/*
 * From Linux 5.13 until 6.19 (and the stable kernels that took its mend), the kernel forgets who
 * ends before it writes what that one counted.
 */
static struct sp_error *say_uncounted(struct sp_capture *capture)
{
	if (!capture->plan->samples[0].attr.inherit_stat || !capture->workload.ended ||
	    capture->filter.counts.reads || !capture->tracker.counts.followed_forks)
		return NULL;
	return capture_note(capture, "-s: this kernel wrote nothing of what the %llu threads and processes "
			    "counted that were made meanwhile: Linux 5.13 to 6.18 do not, unless mended "
			    "(the samples of each: report -s tid)",
			    (unsigned long long)capture->tracker.counts.followed_forks);
}

/* What is said only at the end, for those who read the file. */
struct sp_error *capture_say_end(struct sp_capture *capture)
{
	struct sp_error *error = say_new_cpus(capture);
	const struct sp_capture_stats stats = sp_capture_stats(capture);
	if (!error)
		error = say_unwound(capture);
	if (!error)
		error = say_shed(capture);
	if (!error)
		error = say_modules(capture);
	if (!error)
		error = say_uncounted(capture);
	if (!error && capture->lost_helping && capture->wide.ids.count)
		error = capture_note(capture, "of the %llu samples that LOST records tell of, %llu were "
				     "copies which only help to repair stacks, and do not count",
				     (unsigned long long)capture->filter.counts.lost,
				     (unsigned long long)capture->lost_helping);
	if (!error && capture->filter.membership && stats.lost)
		error = capture_note(capture, NOTE_LOST_OWN " of what was recorded",
				     (unsigned long long)stats.lost, (unsigned long long)stats.lost_own);
	return error ? error : say_uncovered(capture, &stats);
}
