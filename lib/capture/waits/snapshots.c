/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "capture/waits/blocked.h"
#include "capture/waits/thread_reader.h"
#include "unwind/arch.h"

#define REGISTERS_MAX 64

struct snapshots {
	struct snapshots_options options;
	struct perf_event_attr attr;
	struct thread_reader reader;
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
	    options->stack_bytes < 8 || options->stack_bytes > SNAPSHOT_STACK_MAX)
		return error_new(SP_ERROR_INVALID, "the event cannot hold stack snapshots");
	TRY(thread_reader_init(&snapshots->reader, options->ctx, options->files_max));
	*ret = take_ptr(snapshots);
	return NULL;
}

void snapshots_free(struct snapshots *snapshots)
{
	if (!snapshots)
		return;
	thread_reader_deinit(&snapshots->reader);
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

static uint64_t now(const struct snapshots *snapshots)
{
	return snapshots->options.now(snapshots->options.arg);
}

static struct sp_error *append(struct snapshots *snapshots, const struct snapshot_thread *thread,
			       uint64_t began_ns, const struct blocked *blocked, size_t copied,
			       struct record_buffer *buffer)
{
	uint64_t ended_ns = now(snapshots);
	bool is_32bit = blocked->sp <= UINT32_MAX && blocked->ip <= UINT32_MAX;
	snapshots->registers[snapshots->ip_index] = blocked->ip;
	snapshots->registers[snapshots->sp_index] = blocked->sp;
	const struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER | SP_MISC_SNAPSHOT,
		.sample = {
			.ip = blocked->ip, .pid = thread->pid, .tid = thread->tid, .time_ns = ended_ns,
			/* Programs of 32 bits have other numbers of system calls. */
			.addr = blocked->in_syscall && !is_32bit ? (uint64_t)blocked->number + 1 : 0,
			.id = thread->id, .cpu = thread->cpu, .period = ended_ns - began_ns,
			.user_registers = {
				.abi = is_32bit ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64,
				.mask = snapshots->attr.sample_regs_user,
				.values = snapshots->registers, .count = snapshots->register_count,
			},
			.stack = {snapshots->stack, copied}, .stack_dyn_size = copied,
		},
	};
	return record_encode(buffer, &record, &snapshots->attr);
}

/* Copies the stack; a size that is a multiple of words. Returns 0 or an errno. */
static int copy_stack(struct snapshots *snapshots, uint32_t tid, uint64_t sp, size_t *ret)
{
	const struct snapshots_options *options = &snapshots->options;
	size_t size = options->stack_bytes & ~7U;
	if (UINT64_MAX - sp < size)
		size = (size_t)(UINT64_MAX - sp);
	errno = 0;
	*ret = options->read_memory(options->arg, tid, sp, size, snapshots->stack) & ~(size_t)7;
	/* EFAULT: the thread has no stack there, but its place in the code is known. */
	return *ret || errno == EFAULT ? 0 : errno;
}

static struct sp_error *read_thread(struct snapshots *snapshots, const struct snapshot_thread *thread,
				    struct record_buffer *buffer, enum snapshot_result *ret)
{
	char text[BLOCKED_TEXT_MAX];
	size_t size, copied;
	struct blocked blocked;
	uint64_t began_ns = now(snapshots);
	int errnum = thread_reader_text(&snapshots->reader, thread->pid, thread->tid, text,
					sizeof(text), &size);
	enum blocked_state state = errnum ? BLOCKED_INVALID : blocked_parse(text, size, &blocked);
	*ret = errnum			    ? result_of(errnum)
	       : state == BLOCKED_RUNNABLE ? SNAPSHOT_RUNNABLE
	       : state == BLOCKED_INVALID  ? SNAPSHOT_FAILED
	       : !blocked.sp		    ? SNAPSHOT_NO_STACK
					    : SNAPSHOT_TAKEN;
	if (*ret != SNAPSHOT_TAKEN)
		return NULL;
	errnum = copy_stack(snapshots, thread->tid, blocked.sp, &copied);
	if (errnum) {
		*ret = result_of(errnum);
		return NULL;
	}
	snapshots->counts.no_copy += !copied;
	return append(snapshots, thread, began_ns, &blocked, copied, buffer);
}

struct sp_error *snapshots_read(struct snapshots *snapshots, const struct snapshot_thread *thread,
				struct record_buffer *buffer, enum snapshot_result *ret)
{
	enum snapshot_result result;
	TRY(read_thread(snapshots, thread, buffer, &result));
	snapshots->counts.results[result]++;
	snapshots->counts.opened = snapshots->reader.opened;
	*ret = result;
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
