/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of several CPUs on their way to a sink, as they are and unwound. */
#include "capture/samples/sample_path.h"

#include <sys/utsname.h>
#include "capture/config/call_graph.h"
#include "made_ctx.h"
#include "record/encode.h"
#include "rings.h"

#define CPUS 2
#define RING_BYTES (2 * RING_RECORD_MAX)

enum {
	DUMP_TYPE = RECORD_FIELDS_NEEDED | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
		    PERF_SAMPLE_STACK_USER,
};

static const struct perf_event_attr plain = {.sample_type = RECORD_FIELDS_NEEDED, .sample_id_all = 1};
static struct perf_event_attr dumps = {
	.sample_type = DUMP_TYPE, .sample_id_all = 1, .sample_stack_user = 512,
};

struct fixture {
	struct memory_ring memory[CPUS];
	struct ring_bank bank;
	struct batch batch;
	struct sink sink;
	struct sample_path path;
	size_t samples, chains; /* SAMPLE records in the sink; those without a stack copy */
	uint64_t last_ns[CPUS]; /* latest sample of each CPU in the sink */
	bool wrote;
};

/* Whole records, in spans that may split them. */
static struct sp_error *count_samples(void *arg, struct iovec *spans, int count)
{
	struct fixture *f = arg;
	struct record_buffer all = {0};
	struct perf_event_header header;
	for (int i = 0; i < count; i++) {
		ck_assert(vec_reserve(&all, all.count + spans[i].iov_len));
		memcpy(all.items + all.count, spans[i].iov_base, spans[i].iov_len);
		all.count += spans[i].iov_len;
		spans[i] = (struct iovec){0};
	}
	for (size_t at = 0; at < all.count; at += header.size) {
		memcpy(&header, all.items + at, sizeof(header));
		ck_assert_uint_ge(header.size, 8);
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		uint64_t time_ns;
		uint32_t cpu;
		memcpy(&time_ns, all.items + at + f->path.filter.fields.sample_time, 8);
		memcpy(&cpu, all.items + at + f->path.filter.fields.sample_cpu, 4);
		ck_assert_uint_lt(cpu, CPUS);
		ck_assert_uint_gt(time_ns, f->last_ns[cpu]);
		f->last_ns[cpu] = time_ns;
		f->samples++;
		f->chains += header.size < 512;
	}
	vec_deinit(&all);
	return NULL;
}

static void set_up(struct fixture *f, const struct perf_event_attr *attr)
{
	const struct ring_place places[CPUS] = {{0, -1, -1}, {1, -1, -1}};
	*f = (struct fixture){0};
	ok_or_fail(ring_bank_init(&f->bank, places, CPUS));
	for (size_t i = 0; i < CPUS; i++)
		f->bank.samples[i] = memory_ring_init(&f->memory[i], RING_BYTES, RING_BYTES - 64);
	for (size_t i = 0; i < CPUS; i++)
		f->bank.metadata[i] = f->bank.samples[i];
	f->sink = (struct sink){count_samples, f};
	ok_or_fail(batch_init(&f->batch, &f->sink));
	ck_assert(record_fields_make(attr->sample_type, &f->path.filter.fields));
}

static void tear_down(struct fixture *f)
{
	sample_path_deinit(&f->path);
	batch_deinit(&f->batch);
	ring_bank_deinit(&f->bank);
	for (size_t i = 0; i < CPUS; i++)
		memory_ring_deinit(&f->memory[i]);
}

static void put(struct fixture *f, const struct perf_event_attr *attr, uint32_t cpu, uint64_t time_ns)
{
	static const uint8_t stack[512];
	static const uint64_t registers[64];
	struct record_buffer bytes = {0};
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.sample = {.pid = 7, .tid = 7, .time_ns = time_ns, .ip = 0x401000, .id = 5, .cpu = cpu,
			   .period = 10},
	};
	if (attr == &dumps) {
		record.sample.user_registers = (struct sp_registers){
			PERF_SAMPLE_REGS_ABI_64, dumps.sample_regs_user, registers,
			(size_t)__builtin_popcountll(dumps.sample_regs_user),
		};
		record.sample.stack = (struct sp_bytes){stack, sizeof(stack)};
		record.sample.stack_dyn_size = sizeof(stack);
	}
	ok_or_fail(record_encode(&bytes, &record, attr));
	ck_assert(memory_ring_put(&f->memory[cpu], bytes.items, bytes.count));
	vec_deinit(&bytes);
}

static void round_of(struct fixture *f)
{
	f->wrote = false;
	ring_bank_end_round(&f->bank, true);
	ok_or_fail(sample_path_write(&f->path, &f->bank, &f->batch, &f->wrote));
	ok_or_fail(batch_flush(&f->batch));
}

TEST(samples_of_all_cpus_pass_up_to_the_end_of_the_round)
{
	struct fixture f;
	set_up(&f, &plain);
	for (uint64_t i = 1; i <= 10; i++)
		put(&f, &plain, i % CPUS, i);
	round_of(&f);
	ck_assert(f.wrote);
	ck_assert_uint_eq(f.samples, 10);
	ck_assert_uint_eq(f.memory[0].page.data_tail, f.memory[0].page.data_head);
	ck_assert(f.bank.reads[0].time_ns == 10 && f.bank.reads[1].time_ns == 9);
	ck_assert_uint_eq(sample_path_oldest_ns(&f.path), UINT64_MAX);
	round_of(&f);
	ck_assert(!f.wrote);
	ck_assert_uint_eq(f.path.filter.counts.samples, 10);
	tear_down(&f);
}

TEST(a_limit_leaves_samples_for_the_next_round)
{
	struct fixture f;
	set_up(&f, &plain);
	for (uint64_t i = 1; i <= 10; i++)
		put(&f, &plain, 0, i);
	ring_bank_end_round(&f.bank, true);
	ck_assert(ring_bank_limit(&f.bank, ring_bank_round_bytes(&f.bank) / 2));
	ok_or_fail(sample_path_write(&f.path, &f.bank, &f.batch, &f.wrote));
	ok_or_fail(batch_flush(&f.batch));
	ck_assert_uint_eq(f.samples, 5);
	round_of(&f);
	ck_assert_uint_eq(f.samples, 10);
	tear_down(&f);
}

TEST(times_are_shifted_once_though_a_limit_ends_the_round)
{
	struct fixture f;
	set_up(&f, &plain);
	f.bank.rewrite.shift_ns = 100;
	for (uint64_t i = 1; i <= 3; i++)
		put(&f, &plain, 0, 1000 * i);
	ring_bank_end_round(&f.bank, true);
	ck_assert(ring_bank_limit(&f.bank, ring_bank_round_bytes(&f.bank) / 2));
	ok_or_fail(sample_path_write(&f.path, &f.bank, &f.batch, &f.wrote));
	ok_or_fail(batch_flush(&f.batch));
	ck_assert_uint_eq(f.samples, 1);
	ck_assert_uint_eq(f.last_ns[0], 1100);
	round_of(&f);
	ck_assert_uint_eq(f.samples, 3);
	ck_assert_uint_eq(f.last_ns[0], 3100);
	ck_assert_uint_eq(f.path.filter.counts.first_ns, 1100);
	ck_assert_uint_eq(f.path.filter.counts.last_ns, 3100);
	tear_down(&f);
}

/* Nothing is mapped at the address: each chain has one frame. None is lost, and order holds. */
TEST(stack_copies_return_as_call_chains)
{
	struct fixture f;
	const struct live_unwind_options options = {
		.ctx = made_ctx(), .attr = &dumps, .stack_bytes = 512, .workers = 2, .memory_bytes = 1 << 20,
	};
	struct utsname machine;
	ck_assert_int_eq(uname(&machine), 0);
	dumps.sample_regs_user = call_graph_registers(machine.machine);
	set_up(&f, &dumps);
	f.batch.copy_all = true;
	ok_or_fail(sample_path_enable_unwinding(&f.path, &options));
	for (uint64_t i = 1; i <= 50; i++)
		put(&f, &dumps, i % CPUS, i);
	round_of(&f);
	ok_or_fail(sample_path_flush(&f.path, &f.batch, &f.wrote));
	ck_assert_uint_eq(f.samples, 50);
	ck_assert_uint_eq(f.chains, 50);
	ck_assert(f.wrote);
	ck_assert_uint_eq(sample_path_oldest_ns(&f.path), UINT64_MAX);
	ok_or_fail(sample_path_finish(&f.path));
	tear_down(&f);
}
