/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack snapshots: of a made-up /proc and memory, and of a thread of this process. */
#include "capture/waits/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "capture/ring_bank/record_offsets.h"
#include "record/decode.h"
#include "root.h"

#define MASK UINT64_C(0xff0fff)
#define REGISTERS 20
#define STACK 4096

/* Their order in a sample: by perf's numbers, those that the mask has. */
enum { BP_INDEX = 6, SP_INDEX = 7, IP_INDEX = 8 };

static const struct perf_event_attr made_attr = {
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(made_attr),
	.sample_type = RECORD_FIELDS_NEEDED | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
		       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.sample_regs_user = MASK, .sample_stack_user = STACK, .sample_id_all = 1,
	.exclude_callchain_user = 1,
};

static const struct snapshot_thread made_thread = {.pid = 10, .tid = 11, .id = 4711, .cpu = 1};

/* Memory of made-up processes: `size` bytes at `start`, each its address's low byte. */
struct memory {
	uint64_t start, size;
	int errnum; /* errno of reads elsewhere */
	uint32_t tid; /* thread of the last read */
	uint64_t now_ns; /* advances by 300 with each look at the clock */
};

static uint64_t read_clock(void *arg)
{
	struct memory *memory = arg;
	return memory->now_ns += 300;
}

static size_t read_memory(void *arg, uint32_t tid, uint64_t address, size_t size, void *ret)
{
	struct memory *memory = arg;
	memory->tid = tid;
	uint8_t *bytes = ret;
	size_t done = 0;
	for (; done < size && address + done - memory->start < memory->size; done++)
		bytes[done] = (uint8_t)(address + done);
	errno = memory->errnum;
	return done;
}

struct made {
	struct root root;
	struct memory memory;
	struct snapshots *snapshots;
	struct record_buffer buffer;
};

static void made_deinit(struct made *made)
{
	snapshots_free(made->snapshots);
	vec_deinit(&made->buffer);
	root_deinit(&made->root);
}

#define MADE CLEANUP(made_deinit) struct made

static void made_init_by(struct made *made, size_t files_max, bool by_proxy)
{
	*made = (struct made){.memory = {.start = 0x7f0000000000, .size = 0x10000, .errnum = EFAULT}};
	root_init(&made->root);
	const struct snapshots_options options = {
		.ctx = made->root.ctx, .attr = &made_attr, .machine = "x86_64", .stack_bytes = STACK,
		.files_max = files_max, .read_memory = read_memory, .now = read_clock, .arg = &made->memory,
	};
	if (by_proxy)
		ok_or_fail(proxies_begin(ctx_proxies(options.ctx)));
	ok_or_fail(snapshots_new(&options, &made->snapshots));
}

static void made_init(struct made *made, size_t files_max)
{
	made_init_by(made, files_max, false);
}

static enum snapshot_result read_thread(struct made *made, const struct snapshot_thread *thread)
{
	enum snapshot_result result;
	ok_or_fail(snapshots_read(made->snapshots, thread, 1, &made->buffer, &result));
	return result;
}

static void put_syscall(struct made *made, uint32_t tid, const char *text)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/10/task/%u/syscall", tid);
	root_put(&made->root, path, text);
}

/* Decodes the only record; valid until *decoder is freed. */
static struct sp_record decode(const struct made *made, const struct perf_event_attr *attr,
			       struct decoder **decoder)
{
	struct sp_event event = {.name = "offcpu-time", .attr = *attr};
	const struct record_layout layout = {.events = &event, .event_count = 1, .path = "snapshot"};
	struct sp_record record;
	struct perf_event_header header;
	ok_or_fail(decoder_new(&layout, decoder));
	ck_assert_uint_gt(made->buffer.count, sizeof(header));
	memcpy(&header, made->buffer.items, sizeof(header));
	ck_assert_uint_eq(header.size, made->buffer.count);
	const struct raw_record raw = {.type = header.type, .misc = header.misc, .size = header.size,
				       .bytes = made->buffer.items};
	ok_or_fail(decoder_decode(*decoder, &raw, &record));
	return record;
}

TEST(a_blocked_thread_becomes_a_sample)
{
	MADE made;
	struct decoder *decoder;
	made_init(&made, 8);
	put_syscall(&made, 11, "230 0x0 0x0 0x0 0x0 0x0 0x0 0x7f0000001010 0x7f1100000042\n");
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_TAKEN);
	const struct sp_record record = decode(&made, &made_attr, &decoder);
	const struct sp_sample *sample = &record.sample;
	ck_assert_uint_eq(record.type, PERF_RECORD_SAMPLE);
	ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_USER | SP_MISC_SNAPSHOT);
	ck_assert_uint_eq(sample->ip, 0x7f1100000042);
	ck_assert_uint_eq(sample->pid, 10);
	ck_assert_uint_eq(sample->tid, 11);
	ck_assert_uint_eq(sample->time_ns, 600);
	ck_assert_uint_eq(sample->addr, 231);
	ck_assert_uint_eq(sample->id, 4711);
	ck_assert_uint_eq(sample->cpu, 1);
	ck_assert_uint_eq(sample->period, 300);
	ck_assert_uint_eq(sample->ip_count, 0);
	ck_assert_uint_eq(sample->user_registers.abi, PERF_SAMPLE_REGS_ABI_64);
	ck_assert_uint_eq(sample->user_registers.count, REGISTERS);
	ck_assert_uint_eq(sample->user_registers.values[SP_INDEX], 0x7f0000001010);
	ck_assert_uint_eq(sample->user_registers.values[IP_INDEX], 0x7f1100000042);
	ck_assert_uint_eq(sample->user_registers.values[BP_INDEX], 0);
	ck_assert_uint_eq(sample->stack_dyn_size, STACK);
	ck_assert_uint_eq(sample->stack.bytes[0], 0x10);
	ck_assert_uint_eq(made.memory.tid, 11);
	decoder_free(decoder);
}

TEST(a_copy_ends_where_memory_does)
{
	MADE made;
	struct decoder *decoder;
	made_init(&made, 8);
	put_syscall(&made, 11, "-1 0x7f000000fee4 0x7f1100000042\n");
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_TAKEN);
	const struct sp_record record = decode(&made, &made_attr, &decoder);
	ck_assert_uint_eq(record.sample.addr, 0);
	ck_assert_uint_eq(record.sample.stack_dyn_size, 0x118);
	decoder_free(decoder);
}

TEST(a_thread_without_readable_stack_has_its_place_in_the_code)
{
	MADE made;
	struct decoder *decoder;
	made_init(&made, 8);
	put_syscall(&made, 11, "0 0x0 0x0 0x0 0x0 0x0 0x0 0x10001000 0x10000042\n");
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_TAKEN);
	const struct sp_record record = decode(&made, &made_attr, &decoder);
	ck_assert_uint_eq(record.sample.stack_dyn_size, 0);
	ck_assert_uint_eq(record.sample.ip, 0x10000042);
	/* All below 4 GiB: a program of 32 bits. */
	ck_assert_uint_eq(record.sample.user_registers.abi, PERF_SAMPLE_REGS_ABI_32);
	ck_assert_uint_eq(record.sample.addr, 0);
	decoder_free(decoder);
}

TEST(results_are_counted_by_cause)
{
	MADE made;
	made_init(&made, 8);
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_GONE);
	put_syscall(&made, 11, "running\n");
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_RUNNABLE);
	put_syscall(&made, 11, "-1 0x0 0x0\n");
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_NO_STACK);
	put_syscall(&made, 11, "-1 0x1\n");
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_FAILED);
	put_syscall(&made, 11, "-1 0x7e0000000000 0x1\n");
	made.memory.errnum = EPERM;
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_DENIED);
	made.memory.errnum = ESRCH;
	ck_assert_int_eq(read_thread(&made, &made_thread), SNAPSHOT_GONE);
	ck_assert_uint_eq(made.buffer.count, 0);
	const struct snapshot_counts *counts = snapshots_counts(made.snapshots);
	ck_assert_uint_eq(counts->results[SNAPSHOT_TAKEN], 0);
	ck_assert_uint_eq(counts->results[SNAPSHOT_RUNNABLE], 1);
	ck_assert_uint_eq(counts->results[SNAPSHOT_GONE], 2);
	ck_assert_uint_eq(counts->results[SNAPSHOT_DENIED], 1);
	ck_assert_uint_eq(counts->results[SNAPSHOT_NO_STACK], 1);
	ck_assert_uint_eq(counts->results[SNAPSHOT_FAILED], 1);
}

/* Counts this process's descriptors. */
static size_t count_files(void)
{
	size_t count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

TEST(files_stay_open_but_are_bounded)
{
	MADE made;
	made_init(&made, 8);
	size_t before = count_files();
	for (uint32_t round = 0; round < 3; round++)
		ck_assert_int_eq((put_syscall(&made, 11, "running\n"), read_thread(&made, &made_thread)),
				 SNAPSHOT_RUNNABLE);
	ck_assert_uint_eq(snapshots_counts(made.snapshots)->opened, 1);
	for (uint32_t tid = 100; tid < 200; tid++) {
		struct snapshot_thread thread = made_thread;
		thread.tid = tid;
		put_syscall(&made, tid, "running\n");
		ck_assert_int_eq(read_thread(&made, &thread), SNAPSHOT_RUNNABLE);
	}
	ck_assert_uint_eq(snapshots_counts(made.snapshots)->opened, 101);
	ck_assert_uint_eq(count_files(), before + 8);
	snapshots_close(made.snapshots, 199);
	ck_assert_uint_eq(count_files(), before + 7);
	snapshots_close(made.snapshots, 199);
	ck_assert_uint_eq(count_files(), before + 7);
}

TEST(an_event_without_registers_or_stack_is_refused)
{
	ROOT root;
	root_init(&root);
	struct perf_event_attr attr = made_attr;
	struct snapshots *snapshots = NULL;
	struct snapshots_options options = {
		.ctx = root.ctx, .attr = &attr, .machine = "x86_64", .stack_bytes = STACK, .files_max = 1,
		.now = read_clock,
	};
	attr.sample_regs_user = MASK & ~(UINT64_C(1) << 7);
	ck_assert_ptr_null(snapshots);
	struct sp_error *error = snapshots_new(&options, &snapshots);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_INVALID);
	sp_error_free(error);
	attr = made_attr;
	options.machine = "riscv64";
	error = snapshots_new(&options, &snapshots);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_INVALID);
	sp_error_free(error);
}

static int waiting_pipe[2];
static uint32_t waiting_tid;

static void *wait_for_byte(void *arg)
{
	char byte;
	__atomic_store_n(&waiting_tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	ck_assert_int_eq(read(waiting_pipe[0], &byte, 1), 1);
	return arg;
}

/* perf's registers, of x86-64 and arm64. */
static struct perf_event_attr live_attr(const char *machine)
{
	struct perf_event_attr attr = made_attr;
	if (!strcmp(machine, "aarch64"))
		attr.sample_regs_user = (UINT64_C(1) << 33) - 1;
	return attr;
}

static void read_live_thread(bool by_proxy)
{
	struct utsname host;
	uname(&host);
	const struct perf_event_attr attr = live_attr(host.machine);
	MADE made = {0};
	struct snapshots_options options = {.attr = &attr, .machine = host.machine, .stack_bytes = STACK,
					    .files_max = 4, .now = read_clock, .arg = &made.memory};
	root_init(&made.root);
	ok_or_fail(sp_ctx_set_root(made.root.ctx, ""));
	options.ctx = made.root.ctx;
	if (by_proxy)
		ok_or_fail(proxies_begin(ctx_proxies(options.ctx)));
	ok_or_fail(snapshots_new(&options, &made.snapshots));
	pthread_t waiting;
	ck_assert_int_eq(pipe(waiting_pipe), 0);
	ck_assert_int_eq(pthread_create(&waiting, NULL, wait_for_byte, NULL), 0);
	struct snapshot_thread thread = made_thread;
	thread.pid = (uint32_t)getpid();
	enum snapshot_result result;
	bool in_read = false;
	for (size_t i = 0; i < 10000 && !in_read; i++) {
		struct decoder *decoder;
		thread.tid = __atomic_load_n(&waiting_tid, __ATOMIC_ACQUIRE);
		result = thread.tid ? read_thread(&made, &thread) : SNAPSHOT_RUNNABLE;
		if (result == SNAPSHOT_RUNNABLE)
			usleep(1000);
		if (result != SNAPSHOT_TAKEN)
			continue;
		const struct sp_record record = decode(&made, &attr, &decoder);
		in_read = record.sample.addr == SYS_read + 1 && record.sample.stack_dyn_size >= 64;
		decoder_free(decoder);
		made.buffer.count = 0;
	}
	ck_assert_int_eq(write(waiting_pipe[1], "", 1), 1);
	ck_assert_int_eq(pthread_join(waiting, NULL), 0);
	ck_assert(in_read);
	/* The thread has ended. /proc has it until the kernel has removed it, too. */
	result = read_thread(&made, &thread);
	for (size_t i = 0; i < 10000 && result == SNAPSHOT_RUNNABLE; i++) {
		usleep(1000);
		result = read_thread(&made, &thread);
	}
	ck_assert_int_eq(result, SNAPSHOT_GONE);
	close(waiting_pipe[0]);
	close(waiting_pipe[1]);
	__atomic_store_n(&waiting_tid, 0, __ATOMIC_RELEASE);
	ck_assert_uint_eq(proxies_counts(ctx_proxies(options.ctx)).calls, by_proxy);
}

TEST(a_live_thread_in_read_is_read)
{
	read_live_thread(false);
}

TEST(a_live_thread_in_read_is_read_by_a_proxy)
{
	struct sp_ctx *ctx;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(proxies_begin(ctx_proxies(ctx)));
	bool by_proxy = proxies_for_memory(ctx_proxies(ctx));
	sp_ctx_free(ctx);
	if (!by_proxy)
		skip_test("a child may not read its parent's memory");
	read_live_thread(true);
}

#define THREADS (3 * SNAPSHOTS_BATCH)

/*
 * Threads of three processes, in more than one batch. The second process does not answer: opening
 * its FIFO waits for a writer. The batch that finds out is read again without it.
 */
TEST(processes_that_do_not_answer_are_left_out)
{
	MADE made;
	struct snapshot_thread threads[THREADS];
	enum snapshot_result results[THREADS];
	char fifo[128];
	made_init_by(&made, 8, true);
	struct proxies *proxies = ctx_proxies(made.root.ctx);
	if (!proxies_for_memory(proxies))
		skip_test("a child may not read its parent's memory");
	root_put(&made.root, "/proc/11/task/11/syscall", "running\n");
	root_put(&made.root, "/proc/12/task/12/other", "");
	root_put(&made.root, "/proc/13/task/13/syscall", "running\n");
	snprintf(fifo, sizeof(fifo), "%s/proc/12/task/12/syscall", made.root.path);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < THREADS; i++)
		threads[i] = (struct snapshot_thread){.pid = 11 + (uint32_t)i % 3,
						      .tid = 11 + (uint32_t)i % 3};
	ok_or_fail(snapshots_read(made.snapshots, threads, THREADS, &made.buffer, results));
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(results[i], threads[i].pid == 12 ? SNAPSHOT_REFUSED
								  : SNAPSHOT_RUNNABLE);
	struct proxies_counts counts = proxies_counts(proxies);
	ck_assert_uint_eq(counts.left, 1);
	ck_assert_uint_eq(counts.first_key, 12);
}
