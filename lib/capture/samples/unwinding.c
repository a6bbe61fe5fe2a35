/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/unwinding.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/wakeup.h"
#include "binary/binary.h"
#include "capture/samples/dump.h"
#include "capture/samples/pool.h"
#include "capture/samples/python.h"
#include "capture/samples/touch.h"
#include "record/decode.h"

/* Some dozen samples of the default size: enough to be worth a thread's waking. */
#define CHUNK_BYTES ((size_t)256 << 10)

/* The pool's memory is looked at so often. */
#define TRIM_NS 500000000

/* Shortest time between two calls that drop unused files and return memory. */
#define CLEAN_NS UINT64_C(10000000000)

/* More than there can be in the largest copy, with a return address in each 8 bytes. */
#define FRAMES_MAX 8448

/* Stacks are hardly ever larger; what is further away is another one. */
#define STACK_MOST ((uint64_t)64 << 20)

struct worker {
	struct unwind_thread *thread;
	struct unwind_frame *frames; /* FRAMES_MAX */
	uint64_t *ips;               /* FRAMES_MAX, and PYTHON_FRAMES_MAX */
	struct python_worker *python; /* NULL: without Python frames */
	struct toucher toucher;
	struct stack_sizes sizes;
	struct sp_capture_stacks stacks;
	uint64_t cuts[JOINING_CUTS], alone; /* of those that stay truncated */
	struct wide_seen seen;              /* atomic, each for itself */
	/* So that two workers do not write to one line. */
	uint8_t padding[64];
};

struct unwinding {
	struct sp_ctx *ctx;
	struct dump_layout layout;
	struct record_fields fields;
	size_t frame_limit;
	struct live *live;
	struct decoder *decoder;    /* of the side-band */
	struct sp_event event;      /* what it decodes by */
	struct utsname host;        /* binaries and unwinder borrow its `machine` */
	struct binary_env binaries;
	struct unwinder *unwinder;
	pthread_rwlock_t files;     /* of `unwinder`: to be written where they are forgotten */
	uint64_t cleaned_ns;        /* atomic; time of the last clean_up() that was not skipped */
	uint64_t forgotten;         /* how many, in all */
	struct worker *workers;
	size_t worker_count;
	struct pool *pool;
	uint64_t trimmed_ns;        /* when its memory was looked at */
	struct joining *joining;
	struct python *python;       /* NULL: without Python frames */
	uint32_t stack_bytes;       /* that were asked for */
	struct wakeup alarm;        /* wakes the drain: stacks need larger copies */
	struct record_buffer simple; /* samples that need no unwinding, or get none */
	struct dump *scratch;        /* one of these */
	struct sp_capture_stacks stacks; /* of these */
};

DEFINE_CLEANUP(struct unwinding *, unwinding_free)

static void count_end(struct sp_capture_stacks *stacks, enum unwind_end end)
{
	uint64_t *const counts[UNWIND_END_COUNT] = {
		[UNWIND_COMPLETE] = &stacks->complete,
		[UNWIND_TRUNCATED] = &stacks->truncated,
		[UNWIND_NO_INFO] = &stacks->no_unwind_info,
		[UNWIND_BAD_MEMORY] = &stacks->bad_memory,
		[UNWIND_DEPTH_LIMIT] = &stacks->depth_limit,
	};
	++*counts[end];
}

/* A fixed field of the sample, by its place from the header. */
static uint64_t field(const struct dump *dump, uint32_t at)
{
	return dump->words[at / 8];
}

/* Only its worker adds to it. */
static void add_seen(uint64_t *sum, bool more)
{
	if (more)
		__atomic_store_n(sum, *sum + 1, __ATOMIC_RELAXED);
}

/* What there is no more of than the kernel found, or than was asked for. */
static enum joining_cut see_truncated(struct unwinding *unwinding, struct worker *worker,
				      const struct dump *dump, const struct unwind_result *result)
{
	uint64_t tid_word = field(dump, unwinding->fields.sample_tid);
	uint64_t time_ns = field(dump, unwinding->fields.sample_time);
	uint64_t sp = dump_registers(dump)[unwinding->layout.sp_index];
	if (result->switched || result->missing < sp)
		return JOINING_CUT_ELSEWHERE;
	if (dump->stack_size < dump->stack_asked) {
		struct touch_stack stack = {.pid = first_u32(tid_word), .sp = sp,
					    .good = dump->stack_size, .asked = dump->stack_asked,
					    .time_ns = time_ns};
		toucher_touch(&worker->toucher, &stack);
		return JOINING_CUT_BY_HOLE;
	}
	if (!dump->helper) {
		add_seen(&worker->seen.cuts, true);
		stack_sizes_see(&worker->sizes, first_u32(tid_word), second_u32(tid_word), sp,
				time_ns);
	}
	return JOINING_CUT_BY_SIZE;
}

/* How much of stacks is needed. */
static void see_need(struct unwinding *unwinding, struct worker *worker, const struct dump *dump,
		     const struct unwind_result *result)
{
	uint64_t sp = dump_registers(dump)[unwinding->layout.sp_index], end = sp;
	if (result->end == UNWIND_COMPLETE && result->count)
		end = worker->frames[result->count - 1].sp;
	else if (result->end == UNWIND_TRUNCATED && !result->switched)
		end = result->missing + 8;
	/* Below, or far away: another stack. */
	bool beyond = end - sp > unwinding->stack_bytes && end - sp <= STACK_MOST;
	add_seen(&worker->seen.need.stacks, true);
	add_seen(&worker->seen.need.beyond, beyond);
	/* What is copied from now on had better be more: the next round may be far away. */
	if (beyond && dump->stack_asked <= unwinding->stack_bytes)
		wakeup_raise(&unwinding->alarm);
}

/*
 * In a chain, all but the first are taken for addresses behind calls. Behind a signal's
 * frame is the very place where code was interrupted: the one after it leads back there.
 */
static void take_ips(struct worker *worker, size_t count)
{
	for (size_t i = 0; i < count; i++)
		worker->ips[i] = worker->frames[i].ip + (i > 0 && worker->frames[i].exact);
}

static struct unwind_sample sample_of(const struct unwinding *unwinding, const struct dump *dump)
{
	struct perf_event_header header;
	memcpy(&header, dump->words, sizeof(header));
	uint16_t mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return (struct unwind_sample){
		.in_kernel = mode == PERF_RECORD_MISC_KERNEL,
		.view = dump->view,
		.registers = {.abi = dump->abi, .mask = unwinding->layout.register_mask,
			      .values = dump_registers(dump), .count = dump->register_count},
		.stack = {dump_stack(dump), dump->stack_size},
	};
}

/* Returns the number of addresses in the worker's chain. */
static size_t add_python(const struct unwinding *unwinding, struct worker *worker,
			 const struct dump *dump, size_t count)
{
	uint64_t tid_word = field(dump, unwinding->fields.sample_tid);
	const struct python_sample sample = {
		.pid = first_u32(tid_word), .tid = second_u32(tid_word), .view = dump->view,
		.time_ns = field(dump, unwinding->fields.sample_time),
		.stack = {dump_stack(dump), dump_registers(dump)[unwinding->layout.sp_index],
			  dump->stack_size},
		.frames = worker->frames, .count = count,
	};
	return worker->python ? python_insert(worker->python, &sample, worker->ips) : count;
}

static struct sp_error *unwind_dump(struct unwinding *unwinding, struct worker *worker,
				    const struct dump *dump, struct record_buffer *output)
{
	const struct unwind_sample sample = sample_of(unwinding, dump);
	struct unwind_result result =
		unwind_stack(worker->thread, &sample, worker->frames, FRAMES_MAX);
	enum joining_cut cut = JOINING_CUT_ELSEWHERE;
	if (result.end == UNWIND_TRUNCATED)
		cut = see_truncated(unwinding, worker, dump, &result);
	if (!dump->helper)
		see_need(unwinding, worker, dump, &result);
	uint16_t misc = unwind_misc(&result);
	const struct joining_stack stack = {
		.dump = dump, .frames = worker->frames, .result = &result, .misc = misc,
		.thread = hash_pair(field(dump, unwinding->fields.sample_tid), dump->space),
		.time_ns = field(dump, unwinding->fields.sample_time),
		.cut = cut,
		.helper = dump->helper,
	};
	bool held, shortened;
	struct sp_error *error = joining_add(unwinding->joining, &stack, &held);
	if (error || held || dump->helper)
		return error;
	count_end(&worker->stacks, result.end);
	worker->cuts[cut] += result.end == UNWIND_TRUNCATED;
	take_ips(worker, result.count);
	size_t count = add_python(unwinding, worker, dump, result.count);
	struct dump_chain chain = {.ips = worker->ips, .count = count, .misc = misc};
	error = dump_encode(&unwinding->layout, output, dump, &chain, unwinding->frame_limit, &shortened);
	if (!error)
		worker->stacks.shortened += shortened;
	return error;
}

/* What was held back, if it is due; `worker` counts it. */
static struct sp_error *settle(const struct unwinding *unwinding, bool now,
			       struct record_buffer *output, uint64_t *oldest_ns,
			       struct worker *worker)
{
	struct joining_counts counts = {0};
	struct sp_error *error = joining_settle(unwinding->joining, now, output, oldest_ns,
						&counts);
	worker->stacks.repaired += counts.repaired;
	worker->stacks.truncated += counts.truncated;
	worker->stacks.shortened += counts.shortened;
	worker->alone += counts.alone;
	for (size_t i = 0; i < JOINING_CUTS; i++)
		worker->cuts[i] += counts.cuts[i];
	return error;
}

static const struct dump *dump_at(const struct chunk *chunk, size_t at)
{
	return (const struct dump *)(const void *)(chunk->bytes + at);
}

/*
 * Returns freed memory, which the C library keeps while something next to it is in use: after some
 * minutes of short processes, 58 of 71 MB of a thread's heap were free.
 */
static void return_memory(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/* Drops unused files if there are many, and returns memory. */
static void clean_up(struct unwinding *unwinding)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t before_ns = __atomic_load_n(&unwinding->cleaned_ns, __ATOMIC_RELAXED);
	if (now_ns - before_ns < CLEAN_NS ||
	    !__atomic_compare_exchange_n(&unwinding->cleaned_ns, &before_ns, now_ns, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	if (unwinder_keeps_much(unwinding->unwinder)) {
		pthread_rwlock_wrlock(&unwinding->files);
		unwinding->forgotten += unwinder_forget_files(unwinding->unwinder);
		pthread_rwlock_unlock(&unwinding->files);
	}
	return_memory();
}

static void work_on(void *arg, size_t index, struct chunk *chunk)
{
	struct unwinding *unwinding = arg;
	struct worker *worker = &unwinding->workers[index];
	pthread_rwlock_rdlock(&unwinding->files);
	for (size_t at = 0; at < chunk->used && !chunk->error;) {
		const struct dump *dump = dump_at(chunk, at);
		at += dump->size;
		if (at < chunk->used) {
			const struct unwind_sample next = sample_of(unwinding, dump_at(chunk, at));
			unwind_prefetch(&next);
		}
		chunk->error = unwind_dump(unwinding, worker, dump, &chunk->output);
	}
	pthread_rwlock_unlock(&unwinding->files);
	clean_up(unwinding);
	if (!chunk->error)
		chunk->error = settle(unwinding, false, &chunk->output, &chunk->oldest_ns,
				      worker);
}

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	struct unwinding *unwinding = arg;
	return live_locate(unwinding->live, view, ip);
}

static struct sp_error *make_unwinder(struct unwinding *unwinding)
{
	const char *machine = unwinding->host.machine;
	struct unwind_options options = {
		.arch = machine,
		.locator = {locate, unwinding},
		.files = {.open = binary_open_code, .debug = binary_open_debug, .arg = &unwinding->binaries},
	};
	const struct provenance here = {.same_kernel = true, .host = HOST_SAME, .arch = machine};
	struct sp_error *error = binary_env_init(&unwinding->binaries, unwinding->ctx, NULL, &here);
	if (!error)
		error = held_files_new(&unwinding->binaries.held);
	return error ? error : unwinder_new(unwinding->ctx, &options, &unwinding->unwinder);
}

static struct sp_error *make_workers(struct unwinding *unwinding, size_t count, size_t memory)
{
	unwinding->workers = calloc(count, sizeof(*unwinding->workers));
	if (!unwinding->workers)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct worker *worker = &unwinding->workers[unwinding->worker_count++];
		toucher_init(&worker->toucher);
		worker->sizes.ctx = unwinding->ctx;
		worker->thread = unwind_thread_new(unwinding->unwinder);
		worker->frames = calloc(FRAMES_MAX, sizeof(*worker->frames));
		worker->ips = calloc(FRAMES_MAX + PYTHON_FRAMES_MAX, sizeof(*worker->ips));
		worker->python = unwinding->python ? python_worker_new(unwinding->python) : NULL;
		if (!worker->thread || !worker->frames || !worker->ips ||
		    !worker->python != !unwinding->python)
			return error_no_memory();
	}
	const struct pool_options options = {
		.workers = count, .chunk_bytes = CHUNK_BYTES,
		.chunks = memory / CHUNK_BYTES > 2 * count ? memory / CHUNK_BYTES : 2 * count,
		.work = work_on, .arg = unwinding,
	};
	return pool_new(&options, &unwinding->pool);
}

/* Records of the side-band have no fields of samples: one event will do for all. */
static struct sp_error *make_decoder(struct unwinding *unwinding,
				     const struct perf_event_attr *attr)
{
	unwinding->event = (struct sp_event){.name = "side-band", .attr = *attr};
	/* A kernel that was not asked for build-ids does not set the bit that says one. */
	unwinding->event.attr.build_id = 1;
	unwinding->event.attr.mmap2 = 1;
	const struct record_layout layout = {.events = &unwinding->event, .event_count = 1,
					     .path = "side-band"};
	return decoder_new(&layout, &unwinding->decoder);
}

/* Who forgets must not wait for a stream of others to end. */
static void init_files_lock(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

struct sp_error *unwinding_new(const struct unwinding_options *options, struct unwinding **ret)
{
	CLEANUP(cleanup_unwinding_free) struct unwinding *unwinding = calloc(1, sizeof(*unwinding));
	if (!unwinding)
		return error_no_memory();
	init_files_lock(&unwinding->files);
	struct sp_error *error = wakeup_init(&unwinding->alarm);
	if (error)
		return error;
	if (uname(&unwinding->host) < 0)
		return error_os(errno, "uname");
	unwinding->ctx = options->ctx;
	unwinding->stack_bytes = options->stack_bytes;
	unwinding->frame_limit = options->max_stack ? options->max_stack : SIZE_MAX;
	if (!dump_layout_make(options->attr, options->kept_registers, unwinding->host.machine,
			      &unwinding->layout) ||
	    !record_fields_make(options->attr->sample_type, &unwinding->fields))
		return error_new(SP_ERROR_INVALID, "samples without a copy of the stack");
	unwinding->scratch = malloc(2 * RECORD_SIZE_MAX);
	unwinding->joining = joining_new(&unwinding->layout, unwinding->frame_limit);
	if (!unwinding->scratch || !unwinding->joining)
		return error_no_memory();
	error = make_decoder(unwinding, options->attr);
	if (!error)
		error = live_new(strstr(unwinding->host.machine, "64"), &unwinding->live);
	if (!error)
		error = make_unwinder(unwinding);
	if (!error && options->python)
		unwinding->python = python_new(&unwinding->binaries, unwinding->live);
	if (!error && options->python && !unwinding->python)
		error = error_no_memory();
	if (!error)
		error = make_workers(unwinding, options->workers, options->memory_bytes);
	if (!error)
		*ret = take_ptr(unwinding);
	return error;
}

struct held_files *unwinding_held_files(const struct unwinding *unwinding)
{
	return unwinding->binaries.held;
}

void unwinding_free(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	pool_free(unwinding->pool);
	for (size_t i = 0; i < unwinding->worker_count; i++) {
		unwind_thread_free(unwinding->workers[i].thread);
		free(unwinding->workers[i].frames);
		free(unwinding->workers[i].ips);
		python_worker_free(unwinding->workers[i].python);
	}
	free(unwinding->workers);
	python_free(unwinding->python);
	unwinder_free(unwinding->unwinder);
	held_files_free(unwinding->binaries.held);
	binary_env_deinit(&unwinding->binaries);
	live_free(unwinding->live);
	decoder_free(unwinding->decoder);
	joining_free(unwinding->joining);
	wakeup_deinit(&unwinding->alarm);
	vec_deinit(&unwinding->simple);
	free(unwinding->scratch);
	pthread_rwlock_destroy(&unwinding->files);
	free(unwinding);
}

static struct sp_error *on_record(struct unwinding *unwinding, const struct sp_record *record)
{
	struct sp_error *error = live_add(unwinding->live, record);
	if (!error && unwinding->python)
		error = python_on_record(unwinding->python, record);
	return error;
}

struct sp_error *unwinding_see(struct unwinding *unwinding, const uint8_t *bytes, size_t size)
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
		error = decoder_decode(unwinding->decoder, &raw, &record);
		if (!error)
			error = on_record(unwinding, &record);
		else if (sp_error_code(error) == SP_ERROR_FORMAT)
			sp_error_free(take_ptr(error)); /* the file has it, and says so */
		at += header.size;
	}
	return error ? error : live_apply(unwinding->live);
}

struct sp_error *unwinding_retain(struct unwinding *unwinding, const uint32_t *pids, size_t count,
				  uint64_t time_ns)
{
	return live_retain(unwinding->live, pids, count, time_ns);
}

static void put_id(const struct unwinding *unwinding, struct dump *dump, uint64_t id)
{
	dump->words[unwinding->fields.sample_id / 8] = id;
	if (unwinding->fields.sample_id_again)
		dump->words[unwinding->fields.sample_id_again / 8] = id;
}

/* Without the user's calls: there are none, or nobody has the time to find them. */
static struct sp_error *write_simply(struct unwinding *unwinding, const struct ring *ring,
				     const struct dump_parts *parts, uint64_t id)
{
	struct dump *dump = unwinding->scratch;
	struct dump_chain chain = {0};
	bool shortened;
	dump_copy(&unwinding->layout, parts, ring, false, dump);
	put_id(unwinding, dump, id);
	if (dump->register_count) {
		chain = (struct dump_chain){
			.ips = dump_registers(dump) + unwinding->layout.ip_index, .count = 1,
			.misc = SP_MISC_END_SKIPPED << SP_MISC_END_SHIFT,
		};
		unwinding->stacks.skipped++;
	} else {
		unwinding->stacks.none++;
	}
	return dump_encode(&unwinding->layout, &unwinding->simple, dump, &chain, SIZE_MAX, &shortened);
}

struct sp_error *unwinding_take(struct unwinding *unwinding, const struct ring *ring,
				uint64_t position, const struct perf_event_header *header,
				uint64_t id)
{
	struct dump_parts parts;
	struct chunk *chunk;
	if (!dump_find(&unwinding->layout, ring, position, header, &parts))
		return error_new(SP_ERROR_FORMAT, "a sample does not match its event's format");
	struct dump *dump = NULL;
	if (parts.abi != PERF_SAMPLE_REGS_ABI_NONE)
		dump = pool_reserve(unwinding->pool, dump_size(&unwinding->layout, &parts, true),
				    &chunk);
	if (!dump)
		return id ? write_simply(unwinding, ring, &parts, id) : NULL;
	dump_copy(&unwinding->layout, &parts, ring, true, dump);
	dump->helper = !id;
	put_id(unwinding, dump, id);
	uint64_t time_ns = field(dump, unwinding->fields.sample_time);
	uint32_t pid = first_u32(field(dump, unwinding->fields.sample_tid));
	dump->view = live_view(unwinding->live, pid, time_ns);
	dump->space = live_space(unwinding->live, dump->view);
	if (time_ns < chunk->oldest_ns)
		chunk->oldest_ns = time_ns;
	return NULL;
}

struct python_probe *unwinding_probe_new(struct unwinding *unwinding)
{
	return unwinding->python ? python_probe_new(unwinding->ctx) : NULL;
}

void unwinding_on_arrival(struct unwinding *unwinding, struct python_probe *probe,
			  const struct ring *ring, uint64_t end)
{
	struct perf_event_header header;
	struct python_place last = {.layout = &unwinding->layout, .ring = ring};
	for (uint64_t at = ring->tail; at < end && ring_record(ring, at, end, &header);
	     at += header.size) {
		if (header.type != PERF_RECORD_SAMPLE ||
		    header.size < unwinding->layout.head_size)
			continue;
		uint64_t tid_word = ring_u64(ring, at + unwinding->fields.sample_tid);
		last.position = at;
		last.header = header;
		last.pid = first_u32(tid_word);
		last.tid = second_u32(tid_word);
		last.time_ns = ring_u64(ring, at + unwinding->fields.sample_time);
	}
	/* Threads of earlier samples have run on since. */
	if (last.header.size)
		python_on_sample(unwinding->python, probe, &last);
}

struct sp_error *unwinding_write(struct unwinding *unwinding, struct batch *batch,
				 bool *wrote_ret)
{
	VEC(struct chunk *) chunks = {0};
	struct chunk *chunk;
	/* Who is held back must not wait for the next sample. */
	if (joining_oldest_ns(unwinding->joining) != UINT64_MAX)
		pool_nudge(unwinding->pool);
	else
		pool_submit(unwinding->pool);
	struct sp_error *error = NULL;
	while (!error && (chunk = pool_collect(unwinding->pool))) {
		struct chunk **slot = vec_push(&chunks);
		*wrote_ret = true;
		error = take_ptr(chunk->error);
		if (!error && !slot)
			error = error_no_memory();
		if (slot)
			*slot = chunk;
		else
			pool_release(unwinding->pool, chunk);
	}
	/* The functions that these samples need come before them. */
	if (!error && unwinding->python)
		error = python_encode(unwinding->python, &unwinding->simple);
	*wrote_ret |= unwinding->simple.count != 0;
	if (!error)
		error = batch_add_bytes(batch, unwinding->simple.items, unwinding->simple.count);
	for (size_t i = 0; i < chunks.count && !error; i++)
		error = batch_add_bytes(batch, chunks.items[i]->output.items,
					chunks.items[i]->output.count);
	struct sp_error *flush_error = batch_flush(batch);
	unwinding->simple.count = 0;
	for (size_t i = 0; i < chunks.count; i++)
		pool_release(unwinding->pool, chunks.items[i]);
	vec_deinit(&chunks);
	return error_first(error, flush_error);
}

struct sp_error *unwinding_wait(struct unwinding *unwinding)
{
	uint64_t oldest_ns = 0; /* it is written before anything else */
	pool_wait(unwinding->pool);
	return settle(unwinding, true, &unwinding->simple, &oldest_ns, &unwinding->workers[0]);
}

uint64_t unwinding_oldest_ns(const struct unwinding *unwinding)
{
	/*
	 * In that order: what is held back goes into a chunk before it counts as held no more, and
	 * only the drain takes chunks away.
	 */
	uint64_t held_ns = joining_oldest_ns(unwinding->joining);
	uint64_t pool_ns = pool_oldest_ns(unwinding->pool);
	return pool_ns < held_ns ? pool_ns : held_ns;
}

struct sp_error *unwinding_forget(struct unwinding *unwinding, uint64_t before_ns)
{
	uint64_t oldest_ns = unwinding_oldest_ns(unwinding);
	if (before_ns > unwinding->trimmed_ns + TRIM_NS) {
		pool_trim(unwinding->pool);
		unwinding->trimmed_ns = before_ns;
	}
	return live_forget(unwinding->live, oldest_ns < before_ns ? oldest_ns : before_ns);
}

void unwinding_restart(struct unwinding *unwinding)
{
	if (unwinding->python)
		python_restart(unwinding->python);
}

static void add_stacks(struct sp_capture_stacks *sum, const struct sp_capture_stacks *stacks)
{
	sum->complete += stacks->complete;
	sum->truncated += stacks->truncated;
	sum->no_unwind_info += stacks->no_unwind_info;
	sum->bad_memory += stacks->bad_memory;
	sum->depth_limit += stacks->depth_limit;
	sum->skipped += stacks->skipped;
	sum->none += stacks->none;
	sum->repaired += stacks->repaired;
	sum->shortened += stacks->shortened;
}

int unwinding_alarm_fd(const struct unwinding *unwinding)
{
	return unwinding->alarm.fd;
}

void unwinding_alarm(struct unwinding *unwinding, bool on)
{
	wakeup_arm(&unwinding->alarm, on);
}

struct wide_seen unwinding_seen(const struct unwinding *unwinding)
{
	struct wide_seen sum = {0};
	for (size_t i = 0; i < unwinding->worker_count; i++) {
		const struct wide_seen *seen = &unwinding->workers[i].seen;
		sum.need.stacks += __atomic_load_n(&seen->need.stacks, __ATOMIC_RELAXED);
		sum.need.beyond += __atomic_load_n(&seen->need.beyond, __ATOMIC_RELAXED);
		sum.cuts += __atomic_load_n(&seen->cuts, __ATOMIC_RELAXED);
	}
	return sum;
}

void unwinding_counts(const struct unwinding *unwinding, struct unwinding_counts *ret)
{
	*ret = (struct unwinding_counts){
		.stacks = unwinding->stacks,
		.cpu_ns = pool_cpu_ns(unwinding->pool),
		.unwinder = unwinder_stats(unwinding->unwinder),
		.files_forgotten = unwinding->forgotten,
	};
	for (size_t i = 0; i < unwinding->worker_count; i++) {
		const struct worker *worker = &unwinding->workers[i];
		if (worker->python)
			python_counts_add(&ret->python, worker->python);
		add_stacks(&ret->stacks, &worker->stacks);
		stack_sizes_add(&ret->sizes, &worker->sizes);
		ret->alone += worker->alone;
		for (size_t j = 0; j < JOINING_CUTS; j++)
			ret->cuts[j] += worker->cuts[j];
		ret->touched += worker->toucher.touched;
		ret->refused += worker->toucher.refused;
		if (worker->toucher.refused)
			ret->refused_pid = worker->toucher.refused_pid;
	}
}
