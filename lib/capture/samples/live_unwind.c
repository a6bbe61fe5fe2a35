/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/live_unwind.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "base/wakeup.h"
#include "binary/binary.h"
#include "capture/samples/stack_dump.h"
#include "capture/samples/pool.h"
#include "capture/samples/python_frames.h"
#include "capture/samples/stack_prefault.h"
#include "record/decode.h"

/* Size of a chunk: some dozen samples of the default size, worth a thread's waking. */
#define CHUNK_BYTES ((size_t)256 << 10)

/* Limit of arrived samples, the newest ones, that get their thread's Python stack. */
#define ARRIVALS_MAX 16

/* Interval at which the pool's memory is trimmed. */
#define TRIM_NS 500000000

/* Shortest time between two calls that drop unused files and return memory. */
#define CLEAN_NS UINT64_C(10000000000)

/* Bytes of files with which no other file is read; then all are dropped at once. */
#define FILES_BYTES_MAX ((size_t)256 << 20)

/* Limit of frames: the largest copy with a return address in each 8 bytes has fewer. */
#define FRAMES_MAX 8448

/* Largest distance within a stack. An address farther away is on another stack. */
#define STACK_MOST ((uint64_t)64 << 20)

struct unwind_worker {
	struct unwind_thread *thread;
	struct unwind_frame *frames; /* FRAMES_MAX */
	uint64_t *ips;               /* FRAMES_MAX, and PYTHON_FRAMES_MAX */
	struct python_worker *python; /* NULL: without Python frames */
	struct stack_prefault stack_prefault;
	struct stack_sizes sizes;
	uint64_t cuts[STACK_CUTS], alone; /* counts of stacks that stay truncated */
	struct alternate_seen seen;              /* each member is atomic */
	/* Puts workers into different cache lines. */
	uint8_t padding[64];
};

struct live_unwind {
	struct sp_ctx *ctx;
	struct stack_dump_layout layout;
	struct record_fields fields;
	size_t frame_limit;
	struct live *live;
	struct decoder *decoder;    /* decodes side-band */
	struct sp_event event;      /* the event that it decodes by */
	struct utsname host;        /* binaries and unwinder borrow its `machine` */
	struct binary_env binaries;
	struct unwinder *unwinder;
	pthread_rwlock_t files;     /* protects `unwinder`; write-locked to close files */
	uint64_t cleaned_ns;        /* atomic; time of the last clean_up() that was not skipped */
	uint64_t forgotten;         /* number of closed files so far */
	struct unwind_worker *workers;
	size_t worker_count;
	struct pool *pool;
	uint64_t trimmed_ns;        /* time of the last trim */
	struct stack_hold *stack_hold;
	struct python *python;       /* NULL: without Python frames */
	bool cpu_clock;              /* see live_unwind_options */
	uint32_t stack_bytes;       /* requested size */
	struct wakeup alarm;        /* wakes the recorder: stacks need larger copies */
	struct record_buffer simple; /* samples that need no unwinding, or were skipped */
	struct dump *scratch;        /* scratch for one of these */
	struct sp_capture_stacks stacks; /* counts of samples that were written */
};

DEFINE_CLEANUP(struct live_unwind *, live_unwind_free)

/* Adds to a sum that only its worker writes, and other threads read. */
static void increment(uint64_t *sum, bool more)
{
	if (more)
		__atomic_store_n(sum, *sum + 1, __ATOMIC_RELAXED);
}

/* Finds out why a copy is too short: the kernel copied less, or the request was smaller. */
static enum stack_hold_cut on_truncated(struct live_unwind *live_unwind,
					struct unwind_worker *worker, const struct dump *dump,
					const struct unwind_result *result)
{
	uint64_t sp = stack_dump_registers(dump)[live_unwind->layout.sp_index];
	if (result->switched || result->missing < sp)
		return STACK_CUT_ELSEWHERE;
	if (dump->stack_size < dump->stack_asked) {
		struct prefault_stack stack = {.pid = dump->pid, .sp = sp,
					       .good = dump->stack_size, .asked = dump->stack_asked,
					       .time_ns = dump->time_ns};
		stack_prefault_page(&worker->stack_prefault, &stack);
		return STACK_CUT_BY_HOLE;
	}
	if (!dump->helper) {
		increment(&worker->seen.cuts, true);
		stack_sizes_on_cut(&worker->sizes, dump->pid, dump->tid, sp, dump->time_ns);
	}
	return STACK_CUT_BY_SIZE;
}

/* Counts the stack, and whether it needs more than the requested copy. */
static void count_need(struct live_unwind *live_unwind, struct unwind_worker *worker,
		       const struct dump *dump, const struct unwind_result *result)
{
	uint64_t sp = stack_dump_registers(dump)[live_unwind->layout.sp_index], end = sp;
	if (result->end == UNWIND_COMPLETE && result->count)
		end = worker->frames[result->count - 1].sp;
	else if (result->end == UNWIND_TRUNCATED && !result->switched)
		end = result->missing + 8;
	/* An end below SP, or far above, is on another stack. */
	bool beyond = end - sp > live_unwind->stack_bytes && end - sp <= STACK_MOST;
	increment(&worker->seen.need.stacks, true);
	increment(&worker->seen.need.beyond, beyond);
	/* Requests larger copies at once: the next round may be far away. */
	if (beyond && dump->stack_asked <= live_unwind->stack_bytes)
		wakeup_raise(&live_unwind->alarm);
}

static struct unwind_sample sample_of(const struct live_unwind *live_unwind, const struct dump *dump)
{
	struct perf_event_header header;
	memcpy(&header, dump->words, sizeof(header));
	uint16_t mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return (struct unwind_sample){
		.in_kernel = mode == PERF_RECORD_MISC_KERNEL,
		.ip_and_sp_only = header.misc & SP_MISC_SNAPSHOT,
		.view = dump->view,
		.registers = {.abi = dump->abi, .mask = live_unwind->layout.register_mask,
			      .values = stack_dump_registers(dump), .count = dump->register_count},
		.stack = {dump_stack(dump), dump->stack_size},
		.callers = stack_dump_callers(dump),
		.caller_count = dump->caller_count,
	};
}

/* Inserts Python frames. Returns the number of addresses in the worker's chain. */
static size_t add_python(const struct live_unwind *live_unwind, struct unwind_worker *worker,
			 const struct dump *dump, size_t count)
{
	const struct python_sample sample = {
		.pid = dump->pid, .tid = dump->tid, .time_ns = dump->time_ns,
		.stack = {dump_stack(dump), stack_dump_registers(dump)[live_unwind->layout.sp_index],
			  dump->stack_size},
		.frames = worker->frames, .count = count,
	};
	return worker->python ? python_insert(worker->python, &sample, worker->ips) : count;
}

static struct sp_error *unwind_dump(struct live_unwind *live_unwind, struct unwind_worker *worker,
				    const struct dump *dump, struct record_buffer *output)
{
	const struct unwind_sample sample = sample_of(live_unwind, dump);
	struct unwind_result result =
		unwind_stack(worker->thread, &sample, worker->frames, FRAMES_MAX);
	enum stack_hold_cut cut = STACK_CUT_ELSEWHERE;
	if (result.end == UNWIND_TRUNCATED)
		cut = on_truncated(live_unwind, worker, dump, &result);
	if (!dump->helper)
		count_need(live_unwind, worker, dump, &result);
	uint16_t misc = unwind_misc(&result);
	/*
	 * Readers of a call chain take all addresses except the first for return addresses, and
	 * look up the byte before. An exact address, where a signal interrupted code, gets 1 added
	 * to lead back to itself.
	 */
	for (size_t i = 0; i < result.count; i++)
		worker->ips[i] = worker->frames[i].ip + (i > 0 && worker->frames[i].exact);
	size_t count = dump->helper ? result.count
				    : add_python(live_unwind, worker, dump, result.count);
	const struct stack_hold_stack stack = {
		.dump = dump, .frames = worker->frames, .result = &result, .misc = misc,
		.ips = worker->ips, .ip_count = count,
		.thread = hash_pair((uint64_t)dump->tid << 32 | dump->pid, dump->space),
		.time_ns = dump->time_ns,
		.cut = cut,
		.helper = dump->helper,
	};
	bool held;
	struct sp_error *error = stack_hold_add(live_unwind->stack_hold, &stack, &held);
	if (error || held || dump->helper)
		return error;
	worker->cuts[cut] += result.end == UNWIND_TRUNCATED;
	struct stack_dump_chain chain = {.ips = worker->ips, .count = count, .misc = misc};
	return stack_dump_encode(&live_unwind->layout, output, dump, &chain,
				 live_unwind->frame_limit);
}

/* Writes held stacks if they are due; `worker` counts them. */
static struct sp_error *flush_held(const struct live_unwind *live_unwind, bool now,
				   struct record_buffer *output, uint64_t *oldest_ns,
				   struct unwind_worker *worker)
{
	struct stack_hold_counts counts = {0};
	struct sp_error *error = stack_hold_flush(live_unwind->stack_hold, now, output, oldest_ns,
						  &counts);
	worker->alone += counts.alone;
	for (size_t i = 0; i < STACK_CUTS; i++)
		worker->cuts[i] += counts.cuts[i];
	return error;
}

static const struct dump *stack_dump_at(const struct chunk *chunk, size_t at)
{
	return (const struct dump *)(const void *)(chunk->bytes + at);
}

/*
 * Returns freed memory to the kernel. The C library keeps it while its neighbours are in use: after
 * some minutes of short processes, 58 of 71 MB of a thread's heap were free.
 */
static void return_memory(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/* Drops unused files if there are many, and returns memory. */
static void clean_up(struct live_unwind *live_unwind)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t before_ns = __atomic_load_n(&live_unwind->cleaned_ns, __ATOMIC_RELAXED);
	bool is_full = unwinder_is_full(live_unwind->unwinder);
	if ((now_ns - before_ns < CLEAN_NS && !is_full) ||
	    !__atomic_compare_exchange_n(&live_unwind->cleaned_ns, &before_ns, now_ns, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	if (is_full || unwinder_keeps_much(live_unwind->unwinder)) {
		pthread_rwlock_wrlock(&live_unwind->files);
		live_unwind->forgotten += unwinder_drop_files(live_unwind->unwinder, false);
		pthread_rwlock_unlock(&live_unwind->files);
	}
	return_memory();
}

static void work_on(void *arg, size_t index, struct chunk *chunk)
{
	struct live_unwind *live_unwind = arg;
	struct unwind_worker *worker = &live_unwind->workers[index];
	pthread_rwlock_rdlock(&live_unwind->files);
	for (size_t at = 0; at < chunk->used && !chunk->error;) {
		const struct dump *dump = stack_dump_at(chunk, at);
		at += dump->size;
		if (at < chunk->used) {
			const struct unwind_sample next = sample_of(live_unwind, stack_dump_at(chunk, at));
			unwind_prefetch(&next);
		}
		chunk->error = unwind_dump(live_unwind, worker, dump, &chunk->output);
	}
	pthread_rwlock_unlock(&live_unwind->files);
	clean_up(live_unwind);
	if (!chunk->error)
		chunk->error = flush_held(live_unwind, false, &chunk->output, &chunk->oldest_ns,
					  worker);
}

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	struct live_unwind *live_unwind = arg;
	return live_locate(live_unwind->live, view, ip);
}

static struct sp_error *make_unwinder(struct live_unwind *live_unwind)
{
	const char *machine = live_unwind->host.machine;
	struct unwind_options options = {
		.arch = machine,
		.locator = {locate, live_unwind},
		.files = {.open = binary_open_code,
			  .debug = binary_open_debug,
			  .arg = &live_unwind->binaries,
			  .bytes_max = FILES_BYTES_MAX},
	};
	const struct provenance here = {.same_kernel = true, .host = HOST_SAME, .arch = machine};
	TRY(binary_env_init(&live_unwind->binaries, live_unwind->ctx, NULL, &here));
	live_unwind->binaries.proxies = ctx_proxies(live_unwind->ctx);
	TRY(held_files_new(&live_unwind->binaries.held));
	return unwinder_new(live_unwind->ctx, &options, &live_unwind->unwinder);
}

static struct sp_error *make_workers(struct live_unwind *live_unwind, size_t count, size_t memory)
{
	live_unwind->workers = calloc(count, sizeof(*live_unwind->workers));
	NEED(live_unwind->workers);
	for (size_t i = 0; i < count; i++) {
		struct unwind_worker *worker = &live_unwind->workers[live_unwind->worker_count++];
		stack_prefault_init(&worker->stack_prefault, ctx_proxies(live_unwind->ctx));
		worker->sizes.ctx = live_unwind->ctx;
		worker->thread = unwind_thread_new(live_unwind->unwinder);
		worker->frames = calloc(FRAMES_MAX, sizeof(*worker->frames));
		worker->ips = calloc(FRAMES_MAX + PYTHON_FRAMES_MAX, sizeof(*worker->ips));
		worker->python = live_unwind->python ? python_worker_new(live_unwind->python) : NULL;
		if (!worker->thread || !worker->frames || !worker->ips ||
		    !worker->python != !live_unwind->python)
			return error_no_memory();
	}
	const struct pool_options options = {
		.workers = count, .chunk_bytes = CHUNK_BYTES,
		.chunks = memory / CHUNK_BYTES > 2 * count ? memory / CHUNK_BYTES : 2 * count,
		.work = work_on, .arg = live_unwind,
	};
	return pool_new(&options, &live_unwind->pool);
}

/* Prefers the writer: clean_up() must not wait for an endless series of readers. */
static void init_files_lock(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

struct sp_error *live_unwind_new(const struct live_unwind_options *options, struct live_unwind **ret)
{
	CLEANUP(cleanup_live_unwind_free) struct live_unwind *live_unwind = calloc(1, sizeof(*live_unwind));
	NEED(live_unwind);
	init_files_lock(&live_unwind->files);
	TRY(wakeup_init(&live_unwind->alarm));
	if (uname(&live_unwind->host) < 0)
		return error_os(errno, "uname");
	live_unwind->ctx = options->ctx;
	live_unwind->stack_bytes = options->stack_bytes;
	live_unwind->cpu_clock = options->cpu_clock;
	live_unwind->frame_limit = options->max_stack ? options->max_stack : SIZE_MAX;
	if (!stack_dump_layout_make(options->attr, options->kept_registers, live_unwind->host.machine,
				    &live_unwind->layout) ||
	    !record_fields_make(options->attr->sample_type, &live_unwind->fields))
		return error_new(SP_ERROR_INVALID, "samples without a copy of the stack");
	live_unwind->scratch = malloc(2 * RECORD_SIZE_MAX);
	live_unwind->stack_hold = stack_hold_new(&live_unwind->layout, live_unwind->frame_limit);
	NEED(live_unwind->scratch && live_unwind->stack_hold);
	/*
	 * Makes the decoder. Side-band records have no sample fields, so that one event fits all.
	 */
	const struct perf_event_attr *attr = options->attr;
	live_unwind->event = (struct sp_event){.name = "side-band", .attr = *attr};
	/* Records without a build-id lack its bit in `misc`, so this is right for all kernels. */
	live_unwind->event.attr.build_id = 1;
	live_unwind->event.attr.mmap2 = 1;
	const struct record_layout layout = {
		.events = &live_unwind->event, .event_count = 1, .path = "side-band"};
	struct sp_error *error = decoder_new(&layout, &live_unwind->decoder);
	if (!error)
		error = live_new(strstr(live_unwind->host.machine, "64"), &live_unwind->live);
	if (!error)
		error = make_unwinder(live_unwind);
	if (!error && options->python)
		live_unwind->python = python_new(&live_unwind->binaries, live_unwind->live);
	if (!error && options->python && !live_unwind->python)
		error = error_no_memory();
	if (!error)
		error = make_workers(live_unwind, options->workers, options->memory_bytes);
	if (!error)
		*ret = take_ptr(live_unwind);
	return error;
}

struct held_files *live_unwind_held_files(const struct live_unwind *live_unwind)
{
	return live_unwind->binaries.held;
}

void live_unwind_free(struct live_unwind *live_unwind)
{
	if (!live_unwind)
		return;
	pool_free(live_unwind->pool);
	for (size_t i = 0; i < live_unwind->worker_count; i++) {
		unwind_thread_free(live_unwind->workers[i].thread);
		free(live_unwind->workers[i].frames);
		free(live_unwind->workers[i].ips);
		python_worker_free(live_unwind->workers[i].python);
	}
	free(live_unwind->workers);
	python_free(live_unwind->python);
	unwinder_free(live_unwind->unwinder);
	held_files_free(live_unwind->binaries.held);
	binary_env_deinit(&live_unwind->binaries);
	live_free(live_unwind->live);
	decoder_free(live_unwind->decoder);
	stack_hold_free(live_unwind->stack_hold);
	wakeup_deinit(&live_unwind->alarm);
	vec_deinit(&live_unwind->simple);
	free(live_unwind->scratch);
	pthread_rwlock_destroy(&live_unwind->files);
	free(live_unwind);
}

static struct sp_error *on_record(struct live_unwind *live_unwind, const struct sp_record *record)
{
	TRY(live_add(live_unwind->live, record));
	if (live_unwind->python)
		TRY(python_on_record(live_unwind->python, record));
	return NULL;
}

struct sp_error *live_unwind_on_metadata(struct live_unwind *live_unwind, const uint8_t *bytes, size_t size)
{
	struct sp_error *error = NULL;
	for (size_t at = 0; at + sizeof(struct perf_event_header) <= size && !error;) {
		struct perf_event_header header;
		struct sp_record record;
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			break;
		const struct raw_record raw = {.type = header.type, .misc = header.misc,
					       .size = header.size, .bytes = bytes + at, .offset = at};
		error = decoder_decode(live_unwind->decoder, &raw, &record);
		if (!error)
			error = on_record(live_unwind, &record);
		else if (sp_error_code(error) == SP_ERROR_FORMAT)
			sp_error_free(take_ptr(error)); /* the record is in the file, and readers
							 * report it */
		at += header.size;
	}
	TRY(error);
	TRY(live_apply(live_unwind->live));
	if (live_unwind->python)
		python_look_up(live_unwind->python);
	return NULL;
}

struct sp_error *live_unwind_retain(struct live_unwind *live_unwind, const uint32_t *pids, size_t count,
				    uint64_t time_ns)
{
	return live_retain(live_unwind->live, pids, count, time_ns);
}

/* Returns a sample's period without the time of the reader of Python's frames. */
static uint64_t period_of(const struct live_unwind *live_unwind, const struct record_values *record)
{
	uint64_t reader_ns = live_unwind->cpu_clock && live_unwind->python ?
		python_reader_ns(live_unwind->python, record->tid, record->time_ns) : 0;
	if (reader_ns && reader_ns >= record->period)
		reader_ns = record->period ? record->period - 1 : 0;
	return record->period - reader_ns;
}

/* Replaces what the ring has of them. */
static void put_values(const struct live_unwind *live_unwind, struct dump *dump,
		       const struct record_values *record, uint64_t id)
{
	if (live_unwind->fields.sample_period)
		dump->words[live_unwind->fields.sample_period / 8] =
			period_of(live_unwind, record);
	dump->words[live_unwind->fields.sample_id / 8] = id;
	if (live_unwind->fields.sample_id_again)
		dump->words[live_unwind->fields.sample_id_again / 8] = id;
}

/*
 * Appends to `simple` a sample that is not unwound, because it has no user stack or all memory is
 * in use. Its call chain has at most the sampled address.
 */
static struct sp_error *write_simply(struct live_unwind *live_unwind, const struct ring *ring,
				     const struct stack_dump_parts *parts,
				     const struct record_values *record, uint64_t id)
{
	struct dump *dump = live_unwind->scratch;
	struct stack_dump_chain chain = {0};
	stack_dump_copy(&live_unwind->layout, parts, ring, false, dump);
	put_values(live_unwind, dump, record, id);
	if (dump->register_count)
		chain = (struct stack_dump_chain){
			.ips = stack_dump_registers(dump) + live_unwind->layout.ip_index, .count = 1,
			.misc = SP_MISC_END_SKIPPED << SP_MISC_END_SHIFT,
		};
	return stack_dump_encode(&live_unwind->layout, &live_unwind->simple, dump, &chain,
				 SIZE_MAX);
}

struct sp_error *live_unwind_add(struct live_unwind *live_unwind, const struct ring *ring,
				 const struct record_values *record, uint64_t id)
{
	struct stack_dump_parts parts;
	struct chunk *chunk;
	if (!stack_dump_find(&live_unwind->layout, ring, record->position, &record->header, &parts))
		return error_new(SP_ERROR_FORMAT, "a sample does not match its event's format");
	struct dump *dump = NULL;
	if (record->kernel_only)
		parts.abi = PERF_SAMPLE_REGS_ABI_NONE;
	if (parts.abi != PERF_SAMPLE_REGS_ABI_NONE)
		dump = pool_reserve(live_unwind->pool, stack_dump_size(&live_unwind->layout, &parts, true),
				    &chunk);
	if (!dump)
		return id ? write_simply(live_unwind, ring, &parts, record, id) : NULL;
	stack_dump_copy(&live_unwind->layout, &parts, ring, true, dump);
	dump->helper = !id;
	put_values(live_unwind, dump, record, id);
	dump->view = live_view(live_unwind->live, record->pid, record->time_ns);
	dump->space = live_space(live_unwind->live, dump->view);
	dump->pid = record->pid;
	dump->tid = record->tid;
	dump->time_ns = record->time_ns;
	if (record->time_ns < chunk->oldest_ns)
		chunk->oldest_ns = record->time_ns;
	return NULL;
}

struct python_worker *live_unwind_arrival_new(struct live_unwind *live_unwind)
{
	return live_unwind->python ? python_worker_new(live_unwind->python) : NULL;
}

void live_unwind_on_arrival(struct live_unwind *live_unwind, struct python_worker *worker,
			    const struct ring *ring, uint64_t end)
{
	struct perf_event_header header;
	struct {
		struct record_values values;
		uint64_t reader_ns;
	} newest[ARRIVALS_MAX], *sample;
	size_t count = 0;
	python_begin_arrival(worker);
	for (uint64_t at = ring->tail; at < end && ring_record(ring, at, end, &header);
	     at += header.size) {
		sample = &newest[count % ARRIVALS_MAX];
		if (header.type != PERF_RECORD_SAMPLE ||
		    header.size < live_unwind->layout.head_size ||
		    !record_values_read(ring, at, end, &live_unwind->fields, &sample->values))
			continue;
		sample->reader_ns = python_take_reader_ns(worker, sample->values.period);
		count++;
	}
	for (size_t i = 0; i < count && i < ARRIVALS_MAX; i++) {
		sample = &newest[(count - 1 - i) % ARRIVALS_MAX];
		python_on_sample(worker, &live_unwind->layout, ring, &sample->values,
				 sample->reader_ns);
	}
}

void live_unwind_count(struct live_unwind *live_unwind, const uint8_t *records, size_t size)
{
	struct sp_capture_stacks *stacks = &live_unwind->stacks;
	uint64_t *const counts[] = {
		[SP_MISC_END_UNKNOWN] = &stacks->none,
		[SP_MISC_END_COMPLETE] = &stacks->complete,
		[SP_MISC_END_TRUNCATED] = &stacks->truncated,
		[SP_MISC_END_NO_UNWIND_INFO] = &stacks->no_unwind_info,
		[SP_MISC_END_BAD_MEMORY] = &stacks->bad_memory,
		[SP_MISC_END_DEPTH_LIMIT] = &stacks->depth_limit,
		[SP_MISC_END_SKIPPED] = &stacks->skipped,
		[SP_MISC_END_SWITCHED] = &stacks->truncated,
	};
	struct perf_event_header header;
	for (size_t at = 0; at < size; at += header.size) {
		header = record_header_of(records + at);
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		++*(header.misc & SP_MISC_REPAIRED
			    ? &stacks->repaired
			    : counts[(header.misc & SP_MISC_END_MASK) >> SP_MISC_END_SHIFT]);
		stacks->shortened += (header.misc & SP_MISC_SHORTENED) != 0;
	}
}

/* Adds unwound samples to the batch. Those of waits are held until the wait is over. */
static struct sp_error *add_unwound(struct live_unwind *live_unwind, struct waits *waits,
				    struct record_buffer *unwound, struct batch *batch)
{
	if (waits)
		TRY(waits_take(waits, unwound));
	live_unwind_count(live_unwind, unwound->items, unwound->count);
	return batch_add_bytes(batch, unwound->items, unwound->count);
}

struct sp_error *live_unwind_write(struct live_unwind *live_unwind, struct waits *waits,
				   struct batch *batch, bool *wrote_ret)
{
	VEC(struct chunk *) chunks = {0};
	struct chunk *chunk;
	/* Held stacks must not wait for the next sample. */
	if (stack_hold_oldest_ns(live_unwind->stack_hold) != UINT64_MAX)
		pool_nudge(live_unwind->pool);
	else
		pool_submit(live_unwind->pool);
	struct sp_error *error = NULL;
	while (!error && (chunk = pool_collect(live_unwind->pool))) {
		struct chunk **slot = vec_push(&chunks);
		*wrote_ret = true;
		error = take_ptr(chunk->error);
		if (!error && !slot)
			error = error_no_memory();
		if (slot)
			*slot = chunk;
		else
			pool_release(live_unwind->pool, chunk);
	}
	/* The functions that these samples need come before them. */
	if (!error && live_unwind->python)
		error = python_encode(live_unwind->python, &live_unwind->simple);
	*wrote_ret |= live_unwind->simple.count != 0;
	if (!error)
		error = add_unwound(live_unwind, waits, &live_unwind->simple, batch);
	for (size_t i = 0; i < chunks.count && !error; i++)
		error = add_unwound(live_unwind, waits, &chunks.items[i]->output, batch);
	struct sp_error *flush_error = batch_flush(batch);
	live_unwind->simple.count = 0;
	vec_each (item, &chunks)
		pool_release(live_unwind->pool, *item);
	vec_deinit(&chunks);
	return error_first(error, flush_error);
}

struct sp_error *live_unwind_wait(struct live_unwind *live_unwind)
{
	uint64_t oldest_ns = 0; /* no sample is older: it is written first */
	pool_wait(live_unwind->pool);
	return flush_held(live_unwind, true, &live_unwind->simple, &oldest_ns, &live_unwind->workers[0]);
}

uint64_t live_unwind_oldest_ns(const struct live_unwind *live_unwind)
{
	/*
	 * In this order: a held stack moves to a chunk before it counts as no longer held, and only
	 * the round's thread removes chunks.
	 */
	uint64_t held_ns = stack_hold_oldest_ns(live_unwind->stack_hold);
	uint64_t pool_ns = pool_oldest_ns(live_unwind->pool);
	return pool_ns < held_ns ? pool_ns : held_ns;
}

/* Drops all modules under the lock: threads that unwind use modules only while they hold it. */
static struct sp_error *drop_modules(struct live_unwind *live_unwind)
{
	pthread_rwlock_wrlock(&live_unwind->files);
	live_unwind->forgotten += unwinder_drop_files(live_unwind->unwinder, true);
	if (live_unwind->python)
		python_drop_files(live_unwind->python);
	struct sp_error *error = live_drop_modules(live_unwind->live);
	pthread_rwlock_unlock(&live_unwind->files);
	return error;
}

struct sp_error *live_unwind_expire(struct live_unwind *live_unwind, uint64_t before_ns)
{
	uint64_t oldest_ns = live_unwind_oldest_ns(live_unwind);
	if (before_ns > live_unwind->trimmed_ns + TRIM_NS) {
		pool_trim(live_unwind->pool);
		live_unwind->trimmed_ns = before_ns;
	}
	if (live_has_many_modules(live_unwind->live))
		TRY(drop_modules(live_unwind));
	return live_expire(live_unwind->live, oldest_ns < before_ns ? oldest_ns : before_ns);
}

void live_unwind_restart(struct live_unwind *live_unwind)
{
	if (live_unwind->python)
		python_restart(live_unwind->python);
}

int live_unwind_alarm_fd(const struct live_unwind *live_unwind)
{
	return live_unwind->alarm.fd;
}

void live_unwind_alarm(struct live_unwind *live_unwind, bool on)
{
	wakeup_arm(&live_unwind->alarm, on);
}

struct alternate_seen live_unwind_demand(const struct live_unwind *live_unwind)
{
	struct alternate_seen sum = {0};
	for (size_t i = 0; i < live_unwind->worker_count; i++) {
		const struct alternate_seen *seen = &live_unwind->workers[i].seen;
		sum.need.stacks += __atomic_load_n(&seen->need.stacks, __ATOMIC_RELAXED);
		sum.need.beyond += __atomic_load_n(&seen->need.beyond, __ATOMIC_RELAXED);
		sum.cuts += __atomic_load_n(&seen->cuts, __ATOMIC_RELAXED);
	}
	return sum;
}

void live_unwind_counts(const struct live_unwind *live_unwind, struct live_unwind_counts *ret)
{
	*ret = (struct live_unwind_counts){
		.stacks = live_unwind->stacks,
		.files_forgotten = live_unwind->forgotten,
		.maps_dropped = live_counts(live_unwind->live).dropped,
	};
	for (size_t i = 0; i < live_unwind->worker_count; i++) {
		const struct unwind_worker *worker = &live_unwind->workers[i];
		if (worker->python)
			python_counts_add(&ret->python, worker->python);
		stack_sizes_add(&ret->sizes, &worker->sizes);
		ret->alone += worker->alone;
		for (size_t j = 0; j < STACK_CUTS; j++)
			ret->cuts[j] += worker->cuts[j];
		ret->refused += worker->stack_prefault.refused;
		if (worker->stack_prefault.refused)
			ret->refused_pid = worker->stack_prefault.refused_pid;
	}
}
