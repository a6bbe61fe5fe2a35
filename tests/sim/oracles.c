/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds the files of a session against what the kernel knows. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/reader.h>
#include "calls.h"
#include "found.h"

/* Slow events have that part of the rate of those that they stand in for. */
#define SLOWER 4

/* A killed recorder may lack the samples of that time before. */
#define KILL_NS (1000 * SIM_MS)

static struct sim_read_back read_back;

/* -- Samples --------------------------------------------------------------- */

static bool is_listed(uint64_t id)
{
	for (size_t i = 0; i < read_back.id_count; i++)
		if (read_back.ids[i] == id)
			return true;
	return false;
}

/* By id of the event: whether its samples belong in the files. Others only help to unwind. */
static bool *recorded;

static bool is_recorded(uint64_t id)
{
	return recorded[id];
}

/*
 * Large and slow events stand in for those in the header. Others that are slow copy more of the stack,
 * and are not recorded.
 */
static void note_recorded(void)
{
	uint64_t period = 0, stack = 0;
	recorded = calloc(sim_perf.event_count + 101, sizeof(*recorded));
	if (!recorded)
		abort();
	for (size_t i = 0; i < sim_perf.event_count; i++) {
		const struct sim_event *event = sim_perf.events[i];
		bool clock = event->attr.config != PERF_COUNT_SW_DUMMY;
		recorded[event->id] = clock && is_listed(event->id);
		if (!recorded[event->id])
			continue;
		period = event->attr.sample_freq;
		stack = event->attr.sample_stack_user;
	}
	for (size_t i = 0; i < sim_perf.event_count; i++) {
		const struct sim_event *event = sim_perf.events[i];
		recorded[event->id] |= event->attr.config != PERF_COUNT_SW_DUMMY && event->ever_on &&
				       (event->attr.sample_freq == period ||
					(event->attr.sample_freq == period / SLOWER &&
					 event->attr.sample_stack_user == stack));
	}
}

static bool is_target(const struct sim_scenario *scenario, const struct sim_truth *truth)
{
	const struct sim_task *task = sim_task_find(truth->wakeup ? truth->woken : truth->tid);
	return scenario->target == SIM_SYSTEM || (task && task->followed);
}

/* Whether another event has sampled the same thread: then one of the two is left out. */
static bool is_double(const struct sim_truth *truth)
{
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *other = &sim_perf.truth[i];
		if (other->type == PERF_RECORD_SAMPLE && other->tid == truth->tid &&
		    other->cpu == truth->cpu && other->id != truth->id)
			return true;
	}
	return false;
}

/*
 * Returns whether a sample has the period that it stands for. A change of the period drops half a
 * period on average, which the next sample has. If the call takes longer than half a period, that
 * sample has its own period only, and the one before it may have the next period.
 */
static bool has_right_period(const struct sim_truth *truth, const struct sim_found *found)
{
	uint64_t half_ns = truth->is_first ? truth->period_ns / 2 : 0;
	bool is_clock = truth->period_ns && !found->is_wait && !found->is_preempted;
	return !is_clock || found->period == truth->period_ns ||
	       found->period == truth->period_ns + half_ns;
}

static void compare_sample(const struct sim_truth *truth, const struct sim_found *found)
{
	if (found->ip != truth->ip || found->pid != truth->pid || found->tid != truth->tid ||
	    found->cpu != truth->cpu)
		sim_violation("the sample of %llu differs from the kernel's",
			      (unsigned long long)truth->time_ns);
	unsigned int end = (found->misc & SP_MISC_END_MASK) >> SP_MISC_END_SHIFT;
	bool whole = !found->has_stack && (end == SP_MISC_END_COMPLETE || end == SP_MISC_END_UNKNOWN);
	uint16_t changes = SP_MISC_SHORTENED | SP_MISC_REPAIRED;
	/* A library failed to open: the file marks chains that have guessed frames. */
	if (sim.fault_name)
		changes |= SP_MISC_GUESSED;
	if (whole && !(found->misc & changes) &&
	    found->chain_hash != truth->chain_hash)
		sim_violation("the call chain of the sample of %llu is wrong (end %u)",
			      (unsigned long long)truth->time_ns, end);
}

/* Three of the longest periods at 997 Hz. */
#define LEEWAY_NS 6000000

struct counts {
	uint64_t put, found, missing, lost, wrong_periods;
	uint64_t periods_ns, due_ns; /* sums of the found samples' periods, and of the right ones */
};

static uint64_t count_made(void)
{
	uint64_t count = 0;
	for (size_t i = 0; i < read_back.count; i++)
		count += sim_is_made(&read_back, &read_back.items[i]);
	return count;
}

/* Both lists are in order of time. */
static struct counts compare_samples(const struct sim_scenario *scenario, bool killed)
{
	struct counts counts = {.found = count_made()};
	uint64_t until_ns = killed ? sim_result.commit_ns : sim_result.stop_ns;
	/*
	 * The last samples are read after the list of unrecorded processes, which takes long. A rescan after
	 * full rings takes long, too, but comes later.
	 */
	bool rescans = sim_result.stats.lost || scenario->stall_ms;
	if (!killed && !sim.fault_name && !rescans && sim.stat_ns > until_ns)
		until_ns = sim.stat_ns;
	if (killed)
		until_ns = until_ns > KILL_NS ? until_ns - KILL_NS : 0;
	size_t at = 0;
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (truth->type != PERF_RECORD_SAMPLE)
			continue;
		for (; at < read_back.count && read_back.items[at].time_ns < truth->time_ns; at++)
			if (read_back.items[at].type == PERF_RECORD_SAMPLE &&
			    !sim_is_made(&read_back, &read_back.items[at]))
				sim_violation("a sample of %llu is there twice, or was never taken",
					      (unsigned long long)read_back.items[at].time_ns);
		const struct sim_found *found = NULL;
		while (at < read_back.count && read_back.items[at].time_ns == truth->time_ns &&
		       sim_is_made(&read_back, &read_back.items[at]))
			at++;
		if (at < read_back.count && read_back.items[at].time_ns == truth->time_ns &&
		    read_back.items[at].type == PERF_RECORD_SAMPLE)
			found = &read_back.items[at++];
		counts.put += truth->fate == SIM_PUT;
		counts.found += found != NULL;
		counts.lost += truth->fate == SIM_LOST;
		if (found && truth->fate == SIM_LOST)
			sim_violation("a sample of %llu is there, though it was lost",
				      (unsigned long long)truth->time_ns);
		if (found) {
			compare_sample(truth, found);
			counts.wrong_periods += !has_right_period(truth, found);
			if (truth->period_ns && !found->is_wait) {
				counts.periods_ns += found->period;
				counts.due_ns += truth->period_ns;
				counts.due_ns += truth->is_first ? truth->period_ns / 2 : 0;
			}
		}
		if (found && !is_target(scenario, truth))
			sim_violation("a sample of thread %u, which is not a target", truth->tid);
		bool due = truth->time_ns >= sim_result.begin_ns && truth->time_ns < until_ns &&
			   truth->fate == SIM_PUT && is_recorded(truth->id) && is_target(scenario, truth) &&
			   !sim_is_wait(truth->id) && !truth->wakeup;
		/* Without the record of its fork, a task's samples cannot be attributed. */
		const struct sim_task *task = sim_task_find(truth->tid);
		bool unknown = scenario->target != SIM_SYSTEM &&
			       (sim_result.stats.lost_sideband ||
				(task && (task->uncertain || task->process->unknown_until_ns)));
		if (found || !due || scenario->may_drop || sim_result.failed || unknown ||
		    is_double(truth))
			continue;
		/* Dropped samples are counted. */
		if (++counts.missing <= sim_result.stats.shed)
			continue;
		sim_violation("the sample of %llu (thread %u, CPU %u, id %llu) is missing",
			      (unsigned long long)truth->time_ns, truth->tid, truth->cpu,
			      (unsigned long long)truth->id);
	}
	if (counts.wrong_periods > 2 + counts.found / 100)
		sim_violation("%llu of %llu samples have the period of another time",
			      (unsigned long long)counts.wrong_periods,
			      (unsigned long long)counts.found);
	/* A few samples may have a neighbour's period, which is at most three times as long. */
	if (counts.periods_ns > counts.due_ns + counts.due_ns / 100 + LEEWAY_NS ||
	    counts.periods_ns + counts.due_ns / 100 + LEEWAY_NS < counts.due_ns)
		sim_violation("the periods' sum is %llu ns, not %llu",
			      (unsigned long long)counts.periods_ns,
			      (unsigned long long)counts.due_ns);
	return counts;
}

/* Returns whether the file has a mapping of the process as the kernel recorded it. */
static bool has_own_mapping(const struct sim_process *process)
{
	for (size_t i = 0; i < read_back.count; i++) {
		const struct sim_found *item = &read_back.items[i];
		for (size_t j = 0; j < sim_perf.truth_count; j++)
			if (item->type == PERF_RECORD_MMAP2 && item->pid == process->pid &&
			    sim_perf.truth[j].type == PERF_RECORD_MMAP2 &&
			    sim_perf.truth[j].pid == process->pid &&
			    sim_perf.truth[j].time_ns == item->time_ns)
				return true;
	}
	return false;
}

/* The command's samples and mappings are in the file, although its exec's records were lost. */
static void check_command(const struct sim_scenario *scenario)
{
	const struct sim_process *command = sim_machine.command->process;
	uint64_t put = 0, found = 0, mapped_ns = UINT64_MAX, unmapped = 0;
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		put += truth->type == PERF_RECORD_SAMPLE && is_recorded(truth->id) &&
		       is_target(scenario, truth);
	}
	for (size_t i = 0; i < read_back.count; i++) {
		const struct sim_found *item = &read_back.items[i];
		bool is_commands = item->pid == command->pid;
		if (item->type == PERF_RECORD_MMAP2 && is_commands && mapped_ns == UINT64_MAX)
			mapped_ns = item->time_ns;
		found += item->type == PERF_RECORD_SAMPLE;
		unmapped += item->type == PERF_RECORD_SAMPLE && is_commands &&
			    mapped_ns == UINT64_MAX;
	}
	if (!scenario->workload.refuses_own && !has_own_mapping(command))
		sim_violation("the command's mappings are not those of its own ring");
	if (found < put - put / 10 || unmapped)
		sim_violation("%llu of the command's %llu samples are there, %llu unmapped",
			      (unsigned long long)found, (unsigned long long)put,
			      (unsigned long long)unmapped);
}

/* -- All ------------------------------------------------------------------- */

static void print_events(void)
{
	for (size_t i = 0; i < sim_perf.event_count; i++) {
		const struct sim_event *event = sim_perf.events[i];
		uint64_t samples = 0;
		for (size_t k = 0; k < sim_perf.truth_count; k++)
			samples += sim_perf.truth[k].id == event->id;
		if (samples)
			printf("# event %llu: CPU %d, task %d, config %llu, %llu records, %llu lost"
			       "%s\n",
			       (unsigned long long)event->id, event->cpu, event->pid,
			       (unsigned long long)event->attr.config, (unsigned long long)samples,
			       (unsigned long long)event->lost,
			       is_recorded(event->id) ? "" : ", not recorded");
	}
}

/* Samples are lost as long as events are on: also after the recorder has counted. */
static void check_losses(void)
{
	uint64_t before = 0, all = 0, lost = sim_result.stats.lost;
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (truth->fate != SIM_LOST || !is_recorded(truth->id))
			continue;
		all++;
		before += truth->time_ns < sim_result.stop_ns;
	}
	if (lost < before || lost > all)
		sim_violation("the recorder counted %llu lost samples, the kernel %llu to %llu",
			      (unsigned long long)lost, (unsigned long long)before,
			      (unsigned long long)all);
}

void sim_check_files(const struct sim_scenario *scenario, bool killed)
{
	sim_read_files(&read_back, killed);
	if (!read_back.files && sim_result.published && !killed && !sim_result.failed)
		sim_violation("there is no file");
	if (!read_back.files)
		return;
	note_recorded();
	struct counts counts = compare_samples(scenario, killed);
	if (scenario->sampling.off_cpu && !killed && !sim_result.failed)
		sim_check_waits(scenario, &read_back);
	if (scenario->sampling.wakers && !killed && !sim_result.failed && !sim_result.stats.shed)
		sim_check_wakeups(scenario, &read_back);
	if (scenario->sampling.off_cpu)
		sim_check_snapshots(scenario, &read_back, killed);
	if (scenario->sampling.off_cpu)
		sim_check_states(scenario, &read_back, killed);
	if (scenario->workload.lost_exec && !killed && !sim_result.failed && !sim.fault_name)
		check_command(scenario);
	const struct sp_capture_stats *stats = &sim_result.stats;
	if (!killed && !sim_result.failed && !scenario->may_drop)
		check_losses();
	if (stats->unwritten && !killed && !sim_result.failed && !scenario->may_drop)
		sim_violation("%llu samples count as unwritten", (unsigned long long)stats->unwritten);
	if (stats->shed && !killed && scenario->buffers.overwrite)
		sim_violation("a snapshot of rings dropped %llu samples: it has time to wait for the disk",
			      (unsigned long long)stats->shed);
	if (sim.verbose)
		print_events();
	if (sim.verbose)
		printf("# put %llu found %llu lost %llu; stats: samples %llu lost %llu shed %llu "
		       "sideband %llu unattributed %llu unwritten %llu; %llu ms, %llu calls\n",
		       (unsigned long long)counts.put, (unsigned long long)counts.found,
		       (unsigned long long)counts.lost, (unsigned long long)stats->samples,
		       (unsigned long long)stats->lost, (unsigned long long)stats->shed,
		       (unsigned long long)stats->lost_sideband,
		       (unsigned long long)stats->unattributed,
		       (unsigned long long)stats->unwritten,
		       (unsigned long long)(sim.now_ns / SIM_MS), (unsigned long long)sim.calls);
	if (!killed && !sim_result.failed && !scenario->may_drop && stats->samples != counts.found)
		sim_violation("%llu samples are in the files, the recorder counted %llu",
			      (unsigned long long)counts.found, (unsigned long long)stats->samples);
}

struct hashing {
	uint64_t hash, bytes;
};

static void hash_file(const char *path, const struct sim_inode *inode, void *arg)
{
	struct hashing *hashing = arg;
	for (; *path; path++)
		hashing->hash = (hashing->hash ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
	for (uint64_t i = 0; i < inode->size; i++)
		hashing->hash = (hashing->hash ^ inode->bytes[i]) * UINT64_C(0x100000001b3);
	hashing->bytes += inode->size;
}

uint64_t sim_hash_files(uint64_t *bytes_ret)
{
	struct hashing hashing = {.hash = UINT64_C(0xcbf29ce484222325)};
	sim_files_visit(hash_file, &hashing);
	*bytes_ret = hashing.bytes;
	return hashing.hash;
}

static void save_file(const char *path, const struct sim_inode *inode, void *arg)
{
	char name[PATH_MAX];
	snprintf(name, sizeof(name), "%s/%s", (const char *)arg, strrchr(path, '/') + 1);
	FILE *file = fopen(name, "w");
	if (!file || fwrite(inode->bytes, 1, inode->size, file) != inode->size || fclose(file))
		perror(name);
}

void sim_save_files(const char *folder)
{
	sim_files_visit(save_file, (void *)(uintptr_t)folder);
}
