/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/hash.h"
#include "capture/waits/blocked.h"
#include "unwind/arch.h"

/* Number of places in a set: a file may be in any of them. */
#define WAYS 4

#define REGISTERS_MAX 64

/* Smallest size of pages: a copy ends at the first that cannot be read. */
#define PAGE_BYTES 4096
#define PAGES_MAX (SNAPSHOT_STACK_MAX / PAGE_BYTES + 1)

/* An open /proc/PID/task/TID/syscall; tid 0: none. */
struct open_file {
	uint32_t tid;
	int fd;
};

struct snapshots {
	struct snapshots_options options;
	struct perf_event_attr attr;
	struct open_file *files;
	size_t file_count, set_count;
	size_t victim; /* index of the file that a full set replaces next */
	uint64_t registers[REGISTERS_MAX];
	size_t register_count, ip_index, sp_index;
	struct snapshot_counts counts;
	uint8_t stack[SNAPSHOT_STACK_MAX];
};

DEFINE_CLEANUP(struct snapshots *, snapshots_free)

/* Reads page by page, because the kernel copies each span as a whole or not at all. */
static size_t read_process(void *arg, uint32_t tid, uint64_t address, size_t size, void *ret)
{
	(void)arg;
	struct iovec local = {ret, size}, remote[PAGES_MAX];
	size_t count = 0;
	while (size && count < PAGES_MAX) {
		size_t span = PAGE_BYTES - address % PAGE_BYTES;
		span = span < size ? span : size;
		remote[count++] = (struct iovec){(void *)(uintptr_t)address, span};
		address += span;
		size -= span;
	}
	ssize_t done = process_vm_readv((pid_t)tid, &local, 1, remote, count, 0);
	return done < 0 ? 0 : (size_t)done;
}

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
	snapshots->options.read_memory = options->read_memory ?: read_process;
	snapshots->attr = *options->attr;
	if (!find_registers(snapshots, options->machine) || !options->files_max ||
	    options->stack_bytes < 8 || options->stack_bytes > SNAPSHOT_STACK_MAX)
		return error_new(SP_ERROR_INVALID, "the event cannot hold stack snapshots");
	snapshots->set_count = options->files_max > WAYS ? options->files_max / WAYS : 1;
	snapshots->file_count = options->files_max > WAYS ? snapshots->set_count * WAYS : options->files_max;
	snapshots->files = calloc(snapshots->file_count, sizeof(*snapshots->files));
	NEED(snapshots->files);
	*ret = take_ptr(snapshots);
	return NULL;
}

static void close_file(struct open_file *file)
{
	if (file->tid)
		close(file->fd);
	file->tid = 0;
}

static void close_all(struct snapshots *snapshots)
{
	for (size_t i = 0; i < snapshots->file_count; i++)
		close_file(&snapshots->files[i]);
}

void snapshots_free(struct snapshots *snapshots)
{
	if (!snapshots)
		return;
	if (snapshots->files)
		close_all(snapshots);
	free(snapshots->files);
	free(snapshots);
}

/* Returns the thread's place in its set, which may hold its file, another one, or none. */
static struct open_file *place_of(struct snapshots *snapshots, uint32_t tid)
{
	size_t ways = snapshots->file_count / snapshots->set_count;
	struct open_file *set = snapshots->files + hash_u64(tid) % snapshots->set_count * ways;
	struct open_file *empty = NULL;
	for (size_t i = 0; i < ways; i++) {
		if (set[i].tid == tid)
			return &set[i];
		if (!set[i].tid)
			empty = &set[i];
	}
	return empty ?: &set[snapshots->victim++ % ways];
}

/* Opens the thread's file in its place. Returns 0 or an errno. */
static int open_file(struct snapshots *snapshots, struct open_file *file,
		     const struct snapshot_thread *thread)
{
	CLEANUP_FREE char *path = format_text("%s/proc/%u/task/%u/syscall",
					      ctx_root(snapshots->options.ctx), thread->pid, thread->tid);
	if (!path)
		return ENOMEM;
	close_file(file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		close_all(snapshots);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return errno;
	*file = (struct open_file){thread->tid, fd};
	snapshots->counts.opened++;
	return 0;
}

/*
 * Reads the thread's file. An old file of the same number may be an ended thread's: then it is opened
 * again. Returns 0 or an errno.
 */
static int read_text(struct snapshots *snapshots, const struct snapshot_thread *thread, char *text,
		     size_t *size_ret)
{
	struct open_file *file = place_of(snapshots, thread->tid);
	bool fresh = file->tid != thread->tid;
	int errnum = fresh ? open_file(snapshots, file, thread) : 0;
	ssize_t size = errnum ? 0 : pread(file->fd, text, BLOCKED_TEXT_MAX, 0);
	if (!errnum && size < 0 && errno == ESRCH && !fresh) {
		errnum = open_file(snapshots, file, thread);
		size = errnum ? 0 : pread(file->fd, text, BLOCKED_TEXT_MAX, 0);
	}
	if (!errnum && size < 0)
		errnum = errno;
	if (errnum)
		close_file(file);
	*size_ret = errnum ? 0 : (size_t)size;
	return errnum;
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
	int errnum = read_text(snapshots, thread, text, &size);
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
	*ret = result;
	return NULL;
}

void snapshots_close(struct snapshots *snapshots, uint32_t tid)
{
	struct open_file *file = place_of(snapshots, tid);
	if (file->tid == tid)
		close_file(file);
}

const struct snapshot_counts *snapshots_counts(const struct snapshots *snapshots)
{
	return &snapshots->counts;
}
