/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads and processes without a sample. An inherited event begins with a whole period in each
 * task (and on each CPU), so that of those that live shorter nothing is ever sampled, however
 * many there are. What they used is known where READ records (inherit_stat) or those of switches
 * say, and else is no more than their lifetime, or the period on each CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/findings.h"
#include "base/cleanup.h"
#include "base/format.h"

/* Below this share of all, nothing is said but in the list. */
#define SHARE_LEAST 0.01

/* As many programs are named. */
#define NAMED_MOST 4

struct programs {
	VEC(struct sp_unsampled) rows;
	struct u64map of; /* a name's address -> index in `rows` */
};

static void programs_deinit(struct programs *programs)
{
	vec_deinit(&programs->rows);
	u64map_deinit(&programs->of);
}

/* Names are interned by the machine, which does not live as long as the analysis. */
static struct sp_unsampled *program_of(struct run *run, struct programs *programs, uint32_t pid,
				       uint32_t tid, uint64_t time_ns)
{
	const char *comm = machine_comm(run->machine, pid, tid, time_ns);
	bool added;
	if (!vec_reserve(&programs->rows, programs->rows.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&programs->of, (uint64_t)(uintptr_t)comm,
					   (uint32_t)programs->rows.count, &added);
	if (!index)
		return NULL;
	if (added) {
		const char *copy = arena_copy_string(&run->analysis->arena, comm, strlen(comm));
		*vec_push(&programs->rows) = (struct sp_unsampled){.comm = copy, .exact = true};
	}
	return programs->rows.items[*index].comm ? &programs->rows.items[*index] : NULL;
}

static bool was_sampled(const struct run *run, uint16_t event, uint32_t tid)
{
	for (size_t i = 0; i < run->worker_count; i++)
		if (u64map_find(&run->workers[i].task_samples, (uint64_t)event << 32 | tid))
			return true;
	return false;
}

/* By READ records, of which a task may have left one for each CPU. */
static bool sum_counts(struct run *run, uint16_t event, struct programs *programs)
{
	struct u64map seen = {0};
	bool done = true, added;
	for (size_t i = 0; done && i < run->sideband.task_counts.count; i++) {
		const struct task_count *task = &run->sideband.task_counts.items[i];
		if (task->event != event)
			continue;
		struct sp_unsampled *row = program_of(run, programs, task->pid, task->tid, task->time_ns);
		bool sampled = was_sampled(run, event, task->tid);
		/* Who has counted nothing lacks no samples. */
		done = row && (!(task->value || sampled) || u64map_put(&seen, task->tid, 0, &added));
		if (!done || !(task->value || sampled))
			continue;
		row->tasks += added;
		row->unsampled += added && !sampled;
		row->weight += sampled ? 0 : task->value;
	}
	u64map_deinit(&seen);
	return done;
}

static bool has_counts(const struct run *run, uint16_t event)
{
	for (size_t i = 0; i < run->sideband.task_counts.count; i++)
		if (run->sideband.task_counts.items[i].event == event)
			return true;
	return false;
}

/* What a task may have used of a clock without a sample; UINT64_MAX: any time. */
static uint64_t most_ns(const struct run *run, const struct perf_event_attr *attr)
{
	const struct sp_file_info *info = sp_reader_info(run->reader);
	uint64_t cpus = info->cpus_online ? info->cpus_online : 1;
	uint64_t period_ns = !attr->freq ? attr->sample_period
			     : attr->sample_freq ? 1000000000 / attr->sample_freq : 0;
	return period_ns && period_ns < UINT64_MAX / cpus ? period_ns * cpus : UINT64_MAX;
}

/* By FORK and EXIT. Of several tasks of one number all were sampled, if one was. */
static bool sum_lives(struct run *run, uint16_t event, struct programs *programs)
{
	const struct lives *lives = &run->sideband.lives;
	const struct sp_profile *profile = &run->analysis->profiles[event];
	const struct perf_event_attr *attr = &run->work.layout->events[event].attr;
	uint64_t limit_ns = profile->weight_is_time ? most_ns(run, attr) : UINT64_MAX;
	uint32_t last_tid = UINT32_MAX;
	for (size_t i = 0; i < lives->lives.count; i++) {
		const struct life *life = &lives->lives.items[i];
		uint64_t lasted_ns = life->end_ns - life->begin_ns, cpu_ns;
		struct sp_unsampled *row = program_of(run, programs, life->pid, life->tid,
						      life->end_ns);
		if (!row)
			return false;
		row->tasks++;
		if (was_sampled(run, event, life->tid))
			continue;
		row->unsampled++;
		row->lasted_ns += lasted_ns;
		if (!lives_cpu_ns(lives, life->tid, &cpu_ns)) {
			row->exact = false;
			row->weight += lasted_ns < limit_ns ? lasted_ns : limit_ns;
		} else if (life->tid != last_tid) {
			row->weight += cpu_ns; /* of all of that number */
		}
		last_tid = life->tid;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct sp_unsampled *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->unsampled != y->unsampled)
		return x->unsampled > y->unsampled ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

/* Whole CPUs are sampled where their idle task or the kernel's own threads are. */
static bool is_of_cpus(const struct run *run, uint16_t event)
{
	return was_sampled(run, event, 0) ||
	       !strcmp(machine_comm(run->machine, 2, 2, UINT64_MAX), "kthreadd");
}

/* Whether each task that runs counts it: of what happens now and then, it may have had none. */
static bool counts_always(const struct sp_profile *profile, const struct perf_event_attr *attr)
{
	return profile->weight_is_time ||
	       (attr->type == PERF_TYPE_HARDWARE && (attr->config == PERF_COUNT_HW_CPU_CYCLES ||
						     attr->config == PERF_COUNT_HW_REF_CPU_CYCLES ||
						     attr->config == PERF_COUNT_HW_INSTRUCTIONS));
}

static bool sum_up(struct run *run, uint16_t event, struct programs *programs)
{
	const struct perf_event_attr *attr = &run->work.layout->events[event].attr;
	const struct sp_profile *profile = &run->analysis->profiles[event];
	if (has_counts(run, event))
		return sum_counts(run, event, programs);
	bool begins_anew = attr->inherit && !profile->of_branches && counts_always(profile, attr);
	return !begins_anew || is_of_cpus(run, event) || sum_lives(run, event, programs);
}

/* Those that are known, as sums. */
struct total {
	uint64_t tasks, unsampled, weight;
	bool exact;
};

/* "dog: 310 of 500 (up to 0.25 s), bee: ..., and 3 other programs"; NULL: out of memory. */
static char *name_programs(const struct sp_profile *profile)
{
	char *text = format_text("%s", "");
	size_t named = 0, others = 0;
	for (size_t i = 0; text && i < profile->unsampled_count; i++) {
		const struct sp_unsampled *row = &profile->unsampled[i];
		char never[FINDING_TEXT], tasks[FINDING_TEXT], time[FINDING_TEXT];
		if (!row->unsampled)
			continue;
		if (named == NAMED_MOST) {
			others++;
			continue;
		}
		CLEANUP_FREE char *before = text;
		bool timed = profile->weight_is_time;
		text = format_text("%s%s%s: %s of %s%s%s%s%s", before, named++ ? ", " : "", row->comm,
				   count_text(row->unsampled, never), count_text(row->tasks, tasks),
				   timed ? " (" : "", timed && !row->exact ? "up to " : "",
				   timed ? time_text(row->weight, time) : "", timed ? ")" : "");
	}
	if (!text || !others)
		return text;
	CLEANUP_FREE char *before = text;
	return format_text("%s, and %zu other program%s", before, others, plural(others));
}

static bool tell(struct run *run, const struct sp_profile *profile, const struct total *total)
{
	char unsampled[FINDING_TEXT], tasks[FINDING_TEXT], share[FINDING_TEXT], of_all[128];
	double part = (double)total->weight / ((double)total->weight + (double)profile->weight);
	bool known = profile->weight_is_time || total->exact;
	CLEANUP_FREE char *programs = name_programs(profile);
	if (!programs)
		return false;
	if (known)
		snprintf(of_all, sizeof(of_all), "%s%s of all that was counted is not in the profile",
			 total->exact ? "" : "up to ", share_text(part, share));
	else
		snprintf(of_all, sizeof(of_all), "what they counted is not in the profile");
	return finding_add(run, SP_FINDING_UNSAMPLED, 0, known ? part : 0,
			   "record whole CPUs, as root (--scope cpu), or at a higher rate (-F)",
			   "%s of %s threads and processes ended before the first sample of %s: %s (%s)",
			   count_text(total->unsampled, unsampled), count_text(total->tasks, tasks),
			   profile->event, of_all, programs);
}

static bool find_event(struct run *run, uint16_t event)
{
	struct sp_profile *profile = &run->analysis->profiles[event];
	CLEANUP(programs_deinit) struct programs programs = {0};
	struct total total = {.exact = true};
	if (!sum_up(run, event, &programs))
		return false;
	if (programs.rows.count)
		qsort(programs.rows.items, programs.rows.count, sizeof(*programs.rows.items), compare);
	for (size_t i = 0; i < programs.rows.count; i++) {
		const struct sp_unsampled *row = &programs.rows.items[i];
		total.tasks += row->tasks;
		total.unsampled += row->unsampled;
		total.weight += row->weight;
		total.exact &= row->exact;
	}
	if (!total.unsampled)
		return true;
	size_t size = programs.rows.count * sizeof(*programs.rows.items);
	struct sp_unsampled *rows = arena_alloc(&run->analysis->arena, size);
	if (!rows)
		return false;
	profile->unsampled = memcpy(rows, programs.rows.items, size);
	profile->unsampled_count = programs.rows.count;
	bool small = profile->weight_is_time && (double)total.weight <
			     SHARE_LEAST * ((double)total.weight + (double)profile->weight);
	return small || tell(run, profile, &total);
}

bool find_unsampled(struct run *run)
{
	if (!lives_finish(&run->sideband.lives, run->analysis->last_ns))
		return false;
	for (uint16_t event = 0; event < run->analysis->profile_count; event++)
		if (!find_event(run, event))
			return false;
	return true;
}
