/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds the files of a session against what the kernel knows. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/reader.h>
#include "calls.h"
#include "scenario.h"

/* A killed recorder may lack the samples of that time before. */
#define KILL_NS (1000 * SIM_MS)

/* A sample of a file, or a record of a task or mapping. */
struct found {
	uint64_t time_ns, order, ip, chain_hash;
	uint32_t type, pid, tid, cpu;
	uint16_t misc;
	uint64_t id, start, size;
	uint32_t ppid;
	bool has_stack;            /* copied, to be unwound later */
};

static struct {
	struct found *items;
	size_t count, room;
	uint64_t lost, lost_samples, unfinished;
	uint64_t ids[4096];
	size_t id_count;
	uint64_t newest_ns, mark_ns;
} read_back;

static void add_found(const struct found *found)
{
	if (read_back.count == read_back.room) {
		read_back.room = read_back.room ? 2 * read_back.room : 4096;
		read_back.items = realloc(read_back.items, read_back.room * sizeof(*found));
		if (!read_back.items)
			abort();
	}
	read_back.items[read_back.count] = *found;
	read_back.items[read_back.count].order = read_back.count;
	read_back.count++;
}

static uint64_t hash_user(const struct sp_sample *sample)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	bool user = false;
	for (size_t i = 0; i < sample->ip_count; i++) {
		if (sample->ips[i] >= PERF_CONTEXT_MAX)
			user = sample->ips[i] == PERF_CONTEXT_USER;
		else if (user)
			hash = (hash ^ sample->ips[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* Readers sort what is between two marks: nothing may be older than the mark before the last one. */
static void check_order(const struct sp_record *record)
{
	uint64_t ns = record->type == PERF_RECORD_SAMPLE ? record->sample.time_ns : record->id.time_ns;
	if (record->type == SP_RECORD_FINISHED_ROUND) {
		read_back.mark_ns = read_back.unfinished;
		read_back.unfinished = read_back.newest_ns;
		return;
	}
	if (!ns)
		return;
	if (ns < read_back.mark_ns)
		sim_violation("a record of type %u is %llu ns older than the mark before allows",
			      record->type, (unsigned long long)(read_back.mark_ns - ns));
	if (ns > read_back.newest_ns)
		read_back.newest_ns = ns;
}

static void take_record(const struct sp_record *record)
{
	struct found found = {.type = record->type, .misc = record->misc, .time_ns = record->id.time_ns,
			      .id = record->id.id};
	check_order(record);
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		found.time_ns = record->sample.time_ns;
		found.id = record->sample.id;
		found.ip = record->sample.ip;
		found.pid = record->sample.pid;
		found.tid = record->sample.tid;
		found.cpu = record->sample.cpu;
		found.chain_hash = hash_user(&record->sample);
		found.has_stack = record->sample.present & PERF_SAMPLE_STACK_USER;
		break;
	case PERF_RECORD_LOST:
		read_back.lost += record->lost.lost;
		return;
	case PERF_RECORD_LOST_SAMPLES:
		read_back.lost_samples += record->lost.lost;
		return;
	case PERF_RECORD_MMAP2:
		found.pid = record->mmap.pid;
		found.tid = record->mmap.tid;
		found.start = record->mmap.start;
		found.size = record->mmap.size;
		break;
	case PERF_RECORD_COMM:
		found.pid = record->comm.pid;
		found.tid = record->comm.tid;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		found.pid = record->task.pid;
		found.tid = record->task.tid;
		found.ppid = record->task.ppid;
		break;
	default:
		return;
	}
	add_found(&found);
}

static void take_events(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		for (size_t k = 0; k < event->id_count && read_back.id_count < 4096; k++)
			read_back.ids[read_back.id_count++] = event->ids[k];
	}
}

struct reading {
	struct sp_ctx *ctx;
	bool killed;
	unsigned int files;
};

static void read_file(const char *path, const struct sim_inode *inode, void *arg)
{
	struct reading *reading = arg;
	struct sp_reader *reader = NULL;
	const struct sp_record *record = NULL;
	struct sp_error *error = sp_reader_open_memory(reading->ctx, inode->bytes, inode->size, path,
						       &reader);
	read_back.newest_ns = read_back.mark_ns = read_back.unfinished = 0;
	reading->files++;
	if (!error)
		take_events(reader);
	while (!error && !(error = sp_reader_next(reader, &record)) && record)
		take_record(record);
	if (error)
		sim_violation("%s of %llu bytes cannot be read: %s", path,
			      (unsigned long long)inode->size, sp_error_message(error));
	sp_error_free(error);
	for (size_t i = 0; reader && !reading->killed && i < sp_reader_damage_count(reader); i++)
		sim_violation("%s is damaged: %s", path, sp_reader_damage(reader, i)->what);
	if (reader && !reading->killed && !sim_result.failed && sp_reader_unfinished(reader))
		sim_violation("%s is unfinished", path);
	sp_reader_free(reader);
}

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* -- Samples --------------------------------------------------------------- */

static bool is_listed(uint64_t id)
{
	for (size_t i = 0; i < read_back.id_count; i++)
		if (read_back.ids[i] == id)
			return true;
	return false;
}

static bool is_target(const struct sim_scenario *scenario, const struct sim_truth *truth)
{
	const struct sim_task *task = sim_task_find(truth->tid);
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

static void compare_sample(const struct sim_truth *truth, const struct found *found)
{
	if (found->ip != truth->ip || found->pid != truth->pid || found->tid != truth->tid ||
	    found->cpu != truth->cpu)
		sim_violation("the sample of %llu differs from the kernel's",
			      (unsigned long long)truth->time_ns);
	unsigned int end = (found->misc & SP_MISC_END_MASK) >> SP_MISC_END_SHIFT;
	bool whole = !found->has_stack && (end == SP_MISC_END_COMPLETE || end == SP_MISC_END_UNKNOWN);
	if (whole && !(found->misc & (SP_MISC_SHORTENED | SP_MISC_REPAIRED)) &&
	    found->chain_hash != truth->chain_hash)
		sim_violation("the call chain of the sample of %llu is wrong (end %u)",
			      (unsigned long long)truth->time_ns, end);
}

struct counts {
	uint64_t put, found, missing, lost;
};

/* Both lists are in order of time. */
static struct counts compare_samples(const struct sim_scenario *scenario, bool killed)
{
	struct counts counts = {0};
	uint64_t until_ns = killed ? sim_result.commit_ns : sim_result.stop_ns;
	if (killed)
		until_ns = until_ns > KILL_NS ? until_ns - KILL_NS : 0;
	size_t at = 0;
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (truth->type != PERF_RECORD_SAMPLE)
			continue;
		for (; at < read_back.count && read_back.items[at].time_ns < truth->time_ns; at++)
			if (read_back.items[at].type == PERF_RECORD_SAMPLE)
				sim_violation("a sample of %llu is there twice, or was never taken",
					      (unsigned long long)read_back.items[at].time_ns);
		const struct found *found = NULL;
		if (at < read_back.count && read_back.items[at].time_ns == truth->time_ns &&
		    read_back.items[at].type == PERF_RECORD_SAMPLE)
			found = &read_back.items[at++];
		counts.put += truth->fate == SIM_PUT;
		counts.found += found != NULL;
		counts.lost += truth->fate == SIM_LOST;
		if (found && truth->fate == SIM_LOST)
			sim_violation("a sample of %llu is there, though it was lost",
				      (unsigned long long)truth->time_ns);
		if (found)
			compare_sample(truth, found);
		if (found && !is_target(scenario, truth))
			sim_violation("a sample of thread %u, which is not a target", truth->tid);
		bool due = truth->time_ns >= sim_result.begin_ns && truth->time_ns < until_ns &&
			   truth->fate == SIM_PUT && is_listed(truth->id) && is_target(scenario, truth);
		if (found || !due || scenario->may_drop || sim_result.failed || is_double(truth))
			continue;
		counts.missing++;
		sim_violation("the sample of %llu (thread %u, CPU %u, id %llu) is missing",
			      (unsigned long long)truth->time_ns, truth->tid, truth->cpu,
			      (unsigned long long)truth->id);
	}
	return counts;
}

/* -- Mappings -------------------------------------------------------------- */

struct known {
	uint32_t pid;
	bool named;
	struct { uint64_t start, size; } maps[64];
	size_t count;
};

static struct {
	struct known *items;
	size_t count;
} known;

static struct known *know(uint32_t pid)
{
	if (pid >= known.count) {
		size_t count = pid + 1024;
		known.items = realloc(known.items, count * sizeof(*known.items));
		if (!known.items)
			abort();
		memset(known.items + known.count, 0, (count - known.count) * sizeof(*known.items));
		known.count = count;
	}
	return &known.items[pid];
}

static void learn(const struct found *found)
{
	struct known *process = know(found->pid > found->ppid ? found->pid : found->ppid);
	process = know(found->pid);
	switch (found->type) {
	case PERF_RECORD_FORK:
		if (found->pid != found->ppid) {
			uint32_t pid = found->pid;
			*process = *know(found->ppid);
			process->pid = pid;
		}
		break;
	case PERF_RECORD_COMM:
		process->named = true;
		if (found->misc & PERF_RECORD_MISC_COMM_EXEC)
			process->count = 0;
		break;
	case PERF_RECORD_MMAP2:
		if (process->count < 64) {
			process->maps[process->count].start = found->start;
			process->maps[process->count++].size = found->size;
		}
		break;
	}
}

static void check_mapping(const struct found *found)
{
	const struct known *process = know(found->pid);
	if (!process->named && found->pid) {
		sim_violation("process %u has no name at its sample of %llu", found->pid,
			      (unsigned long long)found->time_ns);
		return;
	}
	if (found->ip >> 63)
		return;
	for (size_t i = 0; i < process->count; i++)
		if (found->ip - process->maps[i].start < process->maps[i].size)
			return;
	sim_violation("no mapping of process %u for its sample of %llu", found->pid,
		      (unsigned long long)found->time_ns);
}

static void check_mappings(void)
{
	for (size_t i = 0; i < read_back.count; i++) {
		if (read_back.items[i].type == PERF_RECORD_SAMPLE)
			check_mapping(&read_back.items[i]);
		else
			learn(&read_back.items[i]);
	}
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
			printf("# event %llu: CPU %d, task %d, config %llu, %llu records, %llu lost%s\n",
			       (unsigned long long)event->id, event->cpu, event->pid,
			       (unsigned long long)event->attr.config, (unsigned long long)samples,
			       (unsigned long long)event->lost, is_listed(event->id) ? "" : ", not listed");
	}
}

void sim_check_files(const struct sim_scenario *scenario, bool killed)
{
	struct reading reading = {.killed = killed};
	sp_error_free(sp_ctx_new(&reading.ctx));
	sim_files_visit(read_file, &reading);
	sp_ctx_free(reading.ctx);
	if (!reading.files && sim_result.published && !killed && !sim_result.failed)
		sim_violation("there is no file");
	if (!reading.files)
		return;
	qsort(read_back.items, read_back.count, sizeof(*read_back.items), compare_found);
	struct counts counts = compare_samples(scenario, killed);
	const struct sp_capture_stats *stats = &sim_result.stats;
	if (!stats->lost_sideband && !killed && !sim_result.failed)
		check_mappings();
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

static void keep_file(const char *path, const struct sim_inode *inode, void *arg)
{
	char name[PATH_MAX];
	snprintf(name, sizeof(name), "%s/%s", (const char *)arg, strrchr(path, '/') + 1);
	FILE *file = fopen(name, "w");
	if (!file || fwrite(inode->bytes, 1, inode->size, file) != inode->size || fclose(file))
		perror(name);
}

void sim_keep_files(const char *folder)
{
	sim_files_visit(keep_file, (void *)(uintptr_t)folder);
}
