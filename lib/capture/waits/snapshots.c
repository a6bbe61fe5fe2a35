/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proxy.h"
#include "capture/waits/syscall_text.h"
#include "capture/waits/thread_reader.h"
#include "unwind/arch.h"

#define REGISTERS_MAX 64

/* A thread to read, and what was read. */
struct shot {
	uint32_t pid, tid;
	enum snapshot_result result;
	struct blocked blocked;
	uint64_t began_ns, ended_ns; /* CLOCK_MONOTONIC, or that of `now` */
	size_t copied;               /* bytes of the stack */
};

/* Source of a shot. */
struct shot_source {
	struct thread_reader *reader;
	size_t (*read_memory)(void *arg, uint32_t tid, uint64_t address, size_t size, void *ret);
	uint64_t (*now)(void *arg);
	void *arg;
	size_t stack_bytes;
};

/* Memory of a proxy that serves snapshots alone. */
struct shot_job {
	struct thread_reader reader; /* its context is older than the proxies */
	struct thread_file files[SNAPSHOT_FILES_MAX];
	size_t stack_bytes, count;
	uint64_t pid; /* the process that is read now */
	struct shot shots[SNAPSHOTS_BATCH];
	uint8_t stacks[];
};

struct snapshots {
	struct snapshots_options options;
	struct perf_event_attr attr;
	struct proxies *proxies; /* NULL: threads are read here */
	struct proxy *proxy;     /* NULL: none yet, or it was left behind */
	struct thread_reader reader;
	struct thread_file files[SNAPSHOT_FILES_MAX];
	uint64_t registers[REGISTERS_MAX];
	size_t register_count, ip_index, sp_index;
	struct snapshot_counts counts;
	uint8_t stack[SNAPSHOT_STACK_MAX];
};

DEFINE_CLEANUP(struct snapshots *, snapshots_free)

static size_t index_of(uint64_t mask, unsigned int number)
{
	return (size_t)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
}

/* Finds perf's numbers of IP and SP among the registers of the attr. */
static bool find_registers(struct snapshots *snapshots, const char *machine)
{
	const uint64_t needed = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const struct unwind_arch *arch = arch_find(machine, PERF_SAMPLE_REGS_ABI_64);
	uint64_t mask = snapshots->attr.sample_regs_user;
	unsigned int sp = 0;
	if (!arch || (snapshots->attr.sample_type & needed) != needed)
		return false;
	while (arch->column_of[sp] != arch->sp)
		sp++;
	snapshots->register_count = (size_t)__builtin_popcountll(mask);
	snapshots->ip_index = index_of(mask, arch->perf_ip);
	snapshots->sp_index = index_of(mask, sp);
	return mask >> sp & 1 && mask >> arch->perf_ip & 1;
}

struct sp_error *snapshots_new(const struct snapshots_options *options, struct snapshots **ret)
{
	CLEANUP(cleanup_snapshots_free) struct snapshots *snapshots = calloc(1, sizeof(*snapshots));
	NEED(snapshots);
	snapshots->options = *options;
	snapshots->options.read_memory = options->read_memory ?: thread_reader_memory;
	snapshots->attr = *options->attr;
	if (!find_registers(snapshots, options->machine) || !options->files_max ||
	    options->files_max > SNAPSHOT_FILES_MAX || options->stack_bytes < 8 ||
	    options->stack_bytes > SNAPSHOT_STACK_MAX)
		return error_new(SP_ERROR_INVALID, "the event cannot hold stack snapshots");
	thread_reader_init(&snapshots->reader, options->ctx, snapshots->files, options->files_max);
	snapshots->proxies = proxies_for_memory(ctx_proxies(options->ctx));
	*ret = take_ptr(snapshots);
	return NULL;
}

void snapshots_free(struct snapshots *snapshots)
{
	if (!snapshots)
		return;
	thread_reader_deinit(&snapshots->reader);
	if (snapshots->proxy)
		proxy_release(snapshots->proxies, snapshots->proxy);
	free(snapshots);
}

static enum snapshot_result result_of(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ESRCH:
		return SNAPSHOT_GONE;
	case EPERM:
	case EACCES:
		return SNAPSHOT_DENIED;
	default:
		return SNAPSHOT_FAILED;
	}
}

/* Copies the stack; a size that is a multiple of words. Returns 0 or an errno. */
static int copy_stack(const struct shot_source *source, const struct shot *shot, uint8_t *stack,
		      size_t *ret)
{
	uint64_t sp = shot->blocked.sp;
	size_t size = source->stack_bytes & ~(size_t)7;
	if (UINT64_MAX - sp < size)
		size = (size_t)(UINT64_MAX - sp);
	errno = 0;
	*ret = source->read_memory(source->arg, shot->tid, sp, size, stack) & ~(size_t)7;
	/* EFAULT: the thread has no stack there, but its place in the code is known. */
	return *ret || errno == EFAULT ? 0 : errno;
}

/* Reads a thread, here or in a proxy. */
static void take_shot(const struct shot_source *source, struct shot *shot, uint8_t *stack)
{
	char text[SYSCALL_TEXT_MAX];
	size_t size;
	shot->began_ns = source->now(source->arg);
	int errnum = thread_reader_text(source->reader, shot->pid, shot->tid, text, sizeof(text),
					&size);
	enum blocked_state state =
		errnum ? BLOCKED_INVALID : syscall_text_parse(text, size, &shot->blocked);
	shot->result = errnum			    ? result_of(errnum)
		       : state == BLOCKED_RUNNABLE ? SNAPSHOT_RUNNABLE
		       : state == BLOCKED_INVALID  ? SNAPSHOT_FAILED
		       : !shot->blocked.sp	    ? SNAPSHOT_NO_STACK
						    : SNAPSHOT_TAKEN;
	if (shot->result != SNAPSHOT_TAKEN)
		return;
	errnum = copy_stack(source, shot, stack, &shot->copied);
	if (errnum)
		shot->result = result_of(errnum);
	shot->ended_ns = source->now(source->arg);
}

static uint64_t monotonic_ns(void *arg)
{
	(void)arg;
	return clock_ns(CLOCK_MONOTONIC);
}

static int take_shots(void *bytes)
{
	struct shot_job *job = bytes;
	const struct shot_source source = {
		.reader = &job->reader, .read_memory = thread_reader_memory,
		.now = monotonic_ns, .stack_bytes = job->stack_bytes,
	};
	for (size_t i = 0; i < job->count; i++) {
		__atomic_store_n(&job->pid, job->shots[i].pid, __ATOMIC_RELAXED);
		take_shot(&source, &job->shots[i], job->stacks + i * job->stack_bytes);
	}
	return -1;
}

static struct sp_error *append(struct snapshots *snapshots, const struct snapshot_thread *thread,
			       const struct shot *shot, const uint8_t *stack,
			       struct record_buffer *buffer)
{
	const struct blocked *blocked = &shot->blocked;
	bool is_32bit = blocked->sp <= UINT32_MAX && blocked->ip <= UINT32_MAX;
	uint64_t number = blocked->number;
	snapshots->registers[snapshots->ip_index] = blocked->ip;
	snapshots->registers[snapshots->sp_index] = blocked->sp;
	const struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER | SP_MISC_SNAPSHOT,
		.sample = {
			.ip = blocked->ip, .pid = thread->pid, .tid = thread->tid,
			.time_ns = shot->ended_ns,
			/* Programs of 32 bits have other numbers of system calls. */
			.addr = blocked->in_syscall && !is_32bit ? number + 1 : 0,
			.id = thread->id, .cpu = thread->cpu,
			.period = shot->ended_ns - shot->began_ns,
			.user_registers = {
				.abi = is_32bit ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64,
				.mask = snapshots->attr.sample_regs_user,
				.values = snapshots->registers, .count = snapshots->register_count,
			},
			.stack = {stack, shot->copied}, .stack_dyn_size = shot->copied,
		},
	};
	return record_encode(buffer, &record, &snapshots->attr);
}

static struct sp_error *read_here(struct snapshots *snapshots, const struct snapshot_thread *thread,
				  struct record_buffer *buffer, enum snapshot_result *ret)
{
	const struct snapshots_options *options = &snapshots->options;
	const struct shot_source source = {
		.reader = &snapshots->reader, .read_memory = options->read_memory,
		.now = options->now, .arg = options->arg, .stack_bytes = options->stack_bytes,
	};
	struct shot shot = {.pid = thread->pid, .tid = thread->tid};
	take_shot(&source, &shot, snapshots->stack);
	*ret = shot.result;
	return shot.result == SNAPSHOT_TAKEN ?
		       append(snapshots, thread, &shot, snapshots->stack, buffer) : NULL;
}

/* Two readings of the clocks, in one order and the other. */
struct two_clocks {
	uint64_t recorded_ns, monotonic_ns;
};

/*
 * Converts the times of a shot to the recording's clock, so that it did not begin later or end
 * earlier than it says.
 */
static void convert_times(struct shot *shot, const struct two_clocks *before,
			  const struct two_clocks *after)
{
	/* The recording's clock may only advance with its records. */
	bool advances = after->recorded_ns - before->recorded_ns >=
			(after->monotonic_ns - before->monotonic_ns) / 2;
	shot->began_ns = before->recorded_ns +
			 (advances ? shot->began_ns - before->monotonic_ns : 0);
	shot->ended_ns = after->recorded_ns -
			 (advances ? after->monotonic_ns - shot->ended_ns : 0);
}

/* Gets a proxy that keeps threads' files open, until it is left behind. */
static struct shot_job *get_job(struct snapshots *snapshots)
{
	bool is_new = !snapshots->proxy;
	if (is_new)
		snapshots->proxy = proxy_get(snapshots->proxies, 0);
	if (!snapshots->proxy)
		return NULL;
	struct shot_job *job = proxy_bytes(snapshots->proxy);
	if (is_new) {
		memset(job, 0, sizeof(*job));
		thread_reader_init(&job->reader, snapshots->options.ctx, job->files,
				   snapshots->options.files_max);
		job->stack_bytes = snapshots->options.stack_bytes & ~7U;
		proxy_watch_key(snapshots->proxy, &job->pid);
	}
	return job;
}

/*
 * Reads as many threads as fit the proxy's memory; *done_ret of them. *left_ret: none is read, as
 * one does not answer.
 */
static struct sp_error *read_batch(struct snapshots *snapshots,
				   const struct snapshot_thread *threads, size_t count,
				   struct record_buffer *buffer, enum snapshot_result *results,
				   size_t *done_ret, bool *left_ret)
{
	struct snapshots_options *options = &snapshots->options;
	const size_t room = PROXY_BYTES - sizeof(struct shot_job);
	size_t most = room / (options->stack_bytes & ~7U), taken[SNAPSHOTS_BATCH], used = 0, i;
	struct two_clocks before, after;
	struct shot_job *job = get_job(snapshots);
	for (i = 0; i < count && used < most && used < SNAPSHOTS_BATCH; i++) {
		results[i] = SNAPSHOT_REFUSED;
		if (!job || proxies_refuse(snapshots->proxies, threads[i].pid))
			continue;
		taken[used] = i;
		job->shots[used++] = (struct shot){.pid = threads[i].pid, .tid = threads[i].tid};
	}
	*done_ret = i;
	*left_ret = false;
	if (!used)
		return NULL;
	job->count = used;
	before.recorded_ns = options->now(options->arg);
	before.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	if (!proxy_call(snapshots->proxies, snapshots->proxy, take_shots, NULL)) {
		snapshots->proxy = NULL;
		*left_ret = true;
		return NULL;
	}
	after.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	after.recorded_ns = options->now(options->arg);
	for (size_t j = 0; j < used; j++) {
		struct shot shot = job->shots[j];
		results[taken[j]] = shot.result;
		if (shot.result != SNAPSHOT_TAKEN)
			continue;
		convert_times(&shot, &before, &after);
		TRY(append(snapshots, &threads[taken[j]], &shot, job->stacks + j * job->stack_bytes,
			   buffer));
	}
	return NULL;
}

struct sp_error *snapshots_read(struct snapshots *snapshots, const struct snapshot_thread *threads,
				size_t count, struct record_buffer *buffer,
				enum snapshot_result *results)
{
	size_t done = 1;
	for (size_t i = 0; i < count; i += done) {
		bool left = snapshots->proxies;
		if (!left)
			TRY(read_here(snapshots, &threads[i], buffer, &results[i]));
		/* Once more for the others: the process that does not answer is refused then. */
		for (int tries = 0; left && tries < 2; tries++)
			TRY(read_batch(snapshots, threads + i, count - i, buffer, results + i,
				       &done, &left));
	}
	for (size_t i = 0; i < count; i++)
		snapshots->counts.results[results[i]]++;
	snapshots->counts.opened = snapshots->reader.opened;
	return NULL;
}

void snapshots_close(struct snapshots *snapshots, uint32_t tid)
{
	thread_reader_close(&snapshots->reader, tid);
}

const struct snapshot_counts *snapshots_counts(const struct snapshots *snapshots)
{
	return &snapshots->counts;
}
