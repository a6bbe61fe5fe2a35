/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples with stacks, as a kernel writes them, and what becomes of them. */
#include "capture/samples/stack_dump.h"

#include <string.h>
#include "record/decode.h"
#include "record/types.h"
#include "rings.h"

#define MASK UINT64_C(0xff0fff)
#define REGISTERS 20

/* Their order in a sample: by perf's numbers, those that the mask has. */
enum { SP_INDEX = 7, IP_INDEX = 8 };

static const struct perf_event_attr kernel_attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(kernel_attr), .sample_id_all = 1,
	.sample_type = RECORD_FIELDS_NEEDED | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
		       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.sample_regs_user = MASK, .sample_stack_user = 1024, .exclude_callchain_user = 1,
};

static const uint64_t kernel_chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000010),
					UINT64_C(0xffffffff81000020)};

struct made {
	uint64_t registers[REGISTERS];
	uint8_t stack[1024];
	uint8_t raw[12];
	struct sp_record record;
};

static void make(struct made *made)
{
	for (size_t i = 0; i < REGISTERS; i++)
		made->registers[i] = 0x1000 + i;
	for (size_t i = 0; i < sizeof(made->stack); i++)
		made->stack[i] = (uint8_t)(i * 7);
	memset(made->raw, 0x5a, sizeof(made->raw));
	made->record = (struct sp_record){
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL,
		.sample = {
			.id = 77, .ip = kernel_chain[1], .pid = 12, .tid = 13, .time_ns = 14, .cpu = 1,
			.period = 1000, .ips = kernel_chain, .ip_count = 3, .raw = {made->raw, 12},
			.user_registers = {PERF_SAMPLE_REGS_ABI_64, MASK, made->registers, REGISTERS},
			.stack = {made->stack, sizeof(made->stack)}, .stack_dyn_size = 1000,
		},
	};
}

/* A ring that begins shortly before its end, with the record in it. */
struct filled {
	struct memory_ring memory;
	struct ring ring;
	struct perf_event_header header;
	uint64_t position;
};

static void fill(struct filled *filled, const struct sp_record *record, uint64_t position)
{
	struct record_buffer buffer = {0};
	ok_or_fail(record_encode(&buffer, record, &kernel_attr));
	filled->position = position;
	filled->ring = memory_ring_init(&filled->memory, 8192, position);
	ck_assert(memory_ring_put(&filled->memory, buffer.items, buffer.count));
	filled->header = ring_header(&filled->ring, position);
	vec_deinit(&buffer);
}

static struct stack_dump_layout layout_or_fail(void)
{
	struct stack_dump_layout layout;
	ck_assert(stack_dump_layout_make(&kernel_attr, 0, "x86_64", &layout));
	return layout;
}

static struct dump *take(const struct stack_dump_layout *layout, const struct filled *filled,
			 bool with_stack)
{
	struct stack_dump_parts parts;
	ck_assert(stack_dump_find(layout, &filled->ring, filled->position, &filled->header, &parts));
	struct dump *dump = malloc(stack_dump_size(layout, &parts, with_stack));
	ck_assert_ptr_nonnull(dump);
	stack_dump_copy(layout, &parts, &filled->ring, with_stack, dump);
	return dump;
}

/* Encodes, and decodes by the attribute that the file has. */
static void round_trip(const struct dump *dump, const struct stack_dump_chain *chain, size_t limit,
		       struct decoder **decoder, struct record_buffer *buffer, struct sp_record *ret)
{
	static struct sp_event event;
	event = (struct sp_event){.name = "clock", .attr = kernel_attr};
	stack_dump_file_attr(&event.attr, 0);
	const struct record_layout layout = {.events = &event, .event_count = 1, .path = "made"};
	const struct stack_dump_layout shape = layout_or_fail();
	ok_or_fail(stack_dump_encode(&shape, buffer, dump, chain, limit));
	struct perf_event_header header;
	memcpy(&header, buffer->items, sizeof(header));
	ck_assert_uint_eq(header.size, buffer->count);
	ck_assert_uint_eq(buffer->count % 8, 0);
	const struct raw_record raw = {.type = header.type, .misc = header.misc, .size = header.size,
				       .bytes = buffer->items};
	ok_or_fail(decoder_new(&layout, decoder));
	ok_or_fail(decoder_decode(*decoder, &raw, ret));
}

TEST(a_sample_comes_out_with_a_chain_wherever_it_lay)
{
	struct made made;
	make(&made);
	struct stack_dump_layout layout = layout_or_fail();
	ck_assert_uint_eq(layout.sp_index, SP_INDEX);
	ck_assert_uint_eq(layout.ip_index, IP_INDEX);
	const uint64_t ips[] = {0x400010, 0x400020};
	const struct stack_dump_chain chain = {ips, 2, SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT};
	for (uint64_t position = 0; position < 8192; position += 8) {
		struct filled filled;
		struct decoder *decoder;
		struct record_buffer buffer = {0};
		struct sp_record record;
		fill(&filled, &made.record, position);
		struct dump *dump = take(&layout, &filled, true);
		if (memcmp(stack_dump_registers(dump), made.registers, sizeof(made.registers)) ||
		    dump->stack_size != 1000 || dump->stack_asked != 1024 ||
		    memcmp(dump_stack(dump), made.stack, 1000))
			ck_abort_msg("at %d: not what was put there", (int)position);
		if (position % 1024 == 0) {
			round_trip(dump, &chain, SIZE_MAX, &decoder, &buffer, &record);
			const struct sp_sample *sample = &record.sample;
			ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_KERNEL |
						SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT);
			ck_assert_uint_eq(sample->ip_count, 6);
			ck_assert_mem_eq(sample->ips, kernel_chain, sizeof(kernel_chain));
			ck_assert_uint_eq(sample->ips[3], (uint64_t)PERF_CONTEXT_USER);
			ck_assert_mem_eq(sample->ips + 4, ips, sizeof(ips));
			ck_assert(sample->time_ns == 14 && sample->tid == 13 && sample->period == 1000);
			ck_assert_uint_eq(sample->raw.size, 12);
			ck_assert_mem_eq(sample->raw.bytes, made.raw, 12);
			decoder_free(decoder);
			vec_deinit(&buffer);
		}
		free(dump);
		memory_ring_deinit(&filled.memory);
	}
}

/* The kernel's chain of user code is for the unwinder, not for the file. */
TEST(user_callers_are_apart)
{
	static const uint64_t whole[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000010),
		UINT64_C(0xffffffff81000020), (uint64_t)PERF_CONTEXT_USER, 0x400010, 0x400020,
	};
	const uint64_t ips[] = {0x400010, 0x400015, 0x400020};
	const struct stack_dump_chain chain = {ips, 3, 0};
	struct stack_dump_layout layout = layout_or_fail();
	struct made made;
	make(&made);
	made.record.sample.ips = whole;
	/* Without a kernel part, too. */
	for (size_t from = 0; from < 6; from += 3) {
		struct filled filled;
		struct decoder *decoder;
		struct record_buffer buffer = {0};
		struct sp_record record;
		made.record.sample.ips = whole + from;
		made.record.sample.ip_count = 6 - from;
		fill(&filled, &made.record, 8000);
		struct dump *dump = take(&layout, &filled, true);
		ck_assert_uint_eq(dump->chain_count, 3 - from);
		ck_assert_uint_eq(dump->caller_count, 2);
		ck_assert_mem_eq(stack_dump_callers(dump), whole + 4, 16);
		ck_assert_mem_eq(dump_stack(dump), made.stack, 1000);
		round_trip(dump, &chain, SIZE_MAX, &decoder, &buffer, &record);
		ck_assert_uint_eq(record.sample.ip_count, 3 - from + 4);
		ck_assert_mem_eq(record.sample.ips + 4 - from, ips, sizeof(ips));
		decoder_free(decoder);
		vec_deinit(&buffer);
		free(dump);
		memory_ring_deinit(&filled.memory);
	}
}

TEST(a_chain_keeps_its_ends)
{
	static uint64_t ips[20000];
	struct made made;
	struct filled filled;
	struct stack_dump_layout layout = layout_or_fail();
	make(&made);
	for (size_t i = 0; i < 20000; i++)
		ips[i] = 0x400000 + i;
	fill(&filled, &made.record, 4000);
	struct dump *dump = take(&layout, &filled, false);
	ck_assert_uint_eq(dump->stack_size, 0);
	const struct stack_dump_chain chain = {ips, 20000, 0};
	const size_t limits[] = {1, 7, 1000, SIZE_MAX};
	for (size_t i = 0; i < 4; i++) {
		struct decoder *decoder;
		struct record_buffer buffer = {0};
		struct sp_record record;
		round_trip(dump, &chain, limits[i], &decoder, &buffer, &record);
		size_t count = record.sample.ip_count - 4, inner = limits[i] - limits[i] / 2;
		const uint64_t *of = record.sample.ips + 4;
		ck_assert(record.misc & SP_MISC_SHORTENED);
		if (limits[i] == SIZE_MAX) {
			ck_assert(count > 8000 && buffer.count > RECORD_SIZE_MAX - 8);
			inner = (count - 2) - (count - 2) / 2;
		} else {
			ck_assert_uint_eq(count, limits[i] + (limits[i] > 1 ? 2 : 0));
		}
		ck_assert_uint_eq(of[0], ips[0]);
		ck_assert_uint_eq(of[inner - 1], ips[inner - 1]);
		if (count > 1) {
			/* Two marks, which readers look past, stand for what is missing. */
			ck_assert(of[inner] == (uint64_t)PERF_CONTEXT_USER &&
				  of[inner + 1] == (uint64_t)PERF_CONTEXT_USER);
			ck_assert_uint_eq(of[count - 1], ips[19999]);
			ck_assert_uint_eq(of[inner + 2], ips[20000 - (count - 2 - inner)]);
		}
		decoder_free(decoder);
		vec_deinit(&buffer);
	}
	free(dump);
	memory_ring_deinit(&filled.memory);
}

TEST(a_task_without_user_space_has_the_kernels_chain_alone)
{
	struct made made;
	struct filled filled;
	struct decoder *decoder;
	struct record_buffer buffer = {0};
	struct sp_record record;
	struct stack_dump_layout layout = layout_or_fail();
	make(&made);
	made.record.sample.user_registers = (struct sp_registers){0};
	made.record.sample.stack = (struct sp_bytes){0};
	fill(&filled, &made.record, 8000);
	struct dump *dump = take(&layout, &filled, true);
	ck_assert_uint_eq(dump->register_count, 0);
	ck_assert_uint_eq(dump->abi, PERF_SAMPLE_REGS_ABI_NONE);
	round_trip(dump, &(struct stack_dump_chain){0}, SIZE_MAX, &decoder, &buffer, &record);
	ck_assert_uint_eq(record.sample.ip_count, 3);
	decoder_free(decoder);
	vec_deinit(&buffer);
	free(dump);
	memory_ring_deinit(&filled.memory);
}

/* Whatever word is wrong, nothing outside of the record is read. */
TEST(a_damaged_sample_is_refused_or_harmless)
{
	struct made made;
	struct filled filled;
	struct stack_dump_layout layout = layout_or_fail();
	make(&made);
	fill(&filled, &made.record, 0);
	static const uint64_t wrong[] = {UINT64_MAX, UINT64_C(1) << 61, 1, 0x10000, 7};
	for (uint64_t at = 8; at < filled.header.size; at += 8)
		for (size_t i = 0; i < 5; i++) {
			uint64_t before;
			struct stack_dump_parts parts;
			memcpy(&before, filled.memory.data + at, 8);
			memcpy(filled.memory.data + at, &wrong[i], 8);
			if (stack_dump_find(&layout, &filled.ring, 0, &filled.header, &parts))
				ck_assert_uint_le(stack_dump_size(&layout, &parts, true),
						  filled.header.size + sizeof(struct dump));
			memcpy(filled.memory.data + at, &before, 8);
		}
	struct perf_event_header header = filled.header;
	struct stack_dump_parts parts;
	for (header.size = 8; header.size < filled.header.size; header.size += 8)
		ck_assert(!stack_dump_find(&layout, &filled.ring, 0, &header, &parts));
	memory_ring_deinit(&filled.memory);
}

TEST(other_events_are_not_of_that_kind)
{
	struct stack_dump_layout layout;
	struct perf_event_attr attr = kernel_attr;
	attr.sample_type |= UINT64_C(1) << 40; /* an unknown field */
	ck_assert(!stack_dump_layout_make(&attr, 0, "x86_64", &layout));
	attr = kernel_attr;
	attr.sample_regs_user = 1;
	ck_assert(!stack_dump_layout_make(&attr, 0, "x86_64", &layout));
	attr = kernel_attr;
	stack_dump_file_attr(&attr, 0);
	ck_assert(!stack_dump_layout_make(&attr, 0, "x86_64", &layout));
	ck_assert_uint_eq(attr.exclude_callchain_user, 0);
	ck_assert_uint_eq(attr.sample_regs_user, 0);
	ck_assert_uint_eq(attr.sample_stack_user, 0);
}

/* Every field that there is, and what of it the file shall have. */
static const struct perf_event_attr full_attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(full_attr), .sample_id_all = 1,
	.sample_type = RECORD_SAMPLE_KNOWN & ~(uint64_t)PERF_SAMPLE_WEIGHT,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX |
			      RECORD_BRANCH_COUNTERS,
	.sample_regs_user = MASK, .sample_stack_user = 1024, .sample_regs_intr = 0x181,
	.exclude_callchain_user = 1,
};
#define KEPT UINT64_C(0x183) /* AX, BX, SP, IP */

static void make_full(struct made *made)
{
	static const struct sp_counter counters[] = {{.value = 5, .id = 77}, {.value = 6, .id = 78}};
	static const struct sp_branch branches[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
	static const uint64_t branch_counters[] = {10, 11, 12}, interrupt[] = {21, 22, 23};
	static const uint8_t aux[16] = {1, 2, 3};
	make(made);
	struct sp_sample *sample = &made->record.sample;
	sample->addr = 30, sample->stream_id = 31;
	sample->counters = (struct sp_counters){.time_enabled_ns = 32, .values = counters, .count = 2};
	sample->branches = branches, sample->branch_count = 3, sample->branch_hw_index = 33;
	sample->branch_counters = branch_counters;
	sample->interrupt_registers =
		(struct sp_registers){PERF_SAMPLE_REGS_ABI_64, 0x181, interrupt, 3};
	sample->weight = 34, sample->data_src = 35, sample->transaction = 36;
	sample->phys_addr = 37, sample->cgroup = 38;
	sample->data_page_size = 4096, sample->code_page_size = 1 << 21;
	sample->aux = (struct sp_bytes){aux, sizeof(aux)};
}

/* Through the ring, with its chain, to the file's record. */
static void through(const struct made *made, uint64_t kept, struct decoder **decoder,
		    struct record_buffer *output, struct sp_record *ret)
{
	static struct sp_event event;
	struct record_buffer buffer = {0};
	struct memory_ring memory;
	struct stack_dump_layout layout;
	struct stack_dump_parts parts;
	const uint64_t ips[] = {0x400010, 0x400020};
	const struct stack_dump_chain chain = {ips, 2, 0};
	ck_assert(stack_dump_layout_make(&full_attr, kept, "x86_64", &layout));
	ok_or_fail(record_encode(&buffer, &made->record, &full_attr));
	struct ring ring = memory_ring_init(&memory, 8192, 4096);
	ck_assert(memory_ring_put(&memory, buffer.items, buffer.count));
	struct perf_event_header header = ring_header(&ring, 4096);
	ck_assert(stack_dump_find(&layout, &ring, 4096, &header, &parts));
	struct dump *dump = malloc(stack_dump_size(&layout, &parts, true));
	stack_dump_copy(&layout, &parts, &ring, true, dump);
	ck_assert_uint_eq(dump->stack_size, 1000);
	ck_assert_mem_eq(dump_stack(dump), made->stack, 1000);
	ok_or_fail(stack_dump_encode(&layout, output, dump, &chain, SIZE_MAX));
	/* Whatever is missing at its end, it is not that. */
	for (header.size = 8; header.size < buffer.count; header.size += 8)
		ck_assert(!stack_dump_find(&layout, &ring, 4096, &header, &parts));
	event = (struct sp_event){.name = "full", .attr = full_attr};
	stack_dump_file_attr(&event.attr, kept);
	const struct record_layout shape = {.events = &event, .event_count = 1, .path = "made"};
	memcpy(&header, output->items, sizeof(header));
	ck_assert_uint_eq(header.size, output->count);
	const struct raw_record raw = {.type = header.type, .misc = header.misc, .size = header.size,
				       .bytes = output->items};
	ok_or_fail(decoder_new(&shape, decoder));
	ok_or_fail(decoder_decode(*decoder, &raw, ret));
	free(dump);
	vec_deinit(&buffer);
	memory_ring_deinit(&memory);
}

TEST(every_field_goes_through)
{
	struct made made;
	struct decoder *decoder;
	struct record_buffer output = {0};
	struct sp_record record;
	make_full(&made);
	through(&made, KEPT, &decoder, &output, &record);
	const struct sp_sample *sample = &record.sample;
	ck_assert_uint_eq(sample->ip_count, 6);
	ck_assert(sample->addr == 30 && sample->stream_id == 31 && sample->period == 1000);
	ck_assert(sample->counters.count == 2 && sample->counters.time_enabled_ns == 32);
	ck_assert(sample->counters.values[1].value == 6 && sample->counters.values[1].id == 78);
	ck_assert_uint_eq(sample->raw.size, 12);
	ck_assert(sample->branch_count == 3 && sample->branch_hw_index == 33);
	ck_assert(sample->branches[2].to == 8 && sample->branch_counters[2] == 12);
	ck_assert_uint_eq(sample->user_registers.abi, PERF_SAMPLE_REGS_ABI_64);
	ck_assert_uint_eq(sample->user_registers.mask, KEPT);
	ck_assert_uint_eq(sample->user_registers.count, 4);
	static const size_t indexes[] = {0, 1, SP_INDEX, IP_INDEX};
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(sample->user_registers.values[i], made.registers[indexes[i]]);
	ck_assert_uint_eq(sample->stack.size, 0);
	ck_assert(sample->weight == 34 && sample->data_src == 35 && sample->transaction == 36);
	ck_assert_uint_eq(sample->interrupt_registers.values[2], 23);
	ck_assert(sample->phys_addr == 37 && sample->cgroup == 38 && sample->data_page_size == 4096);
	ck_assert(sample->code_page_size == 1 << 21 && sample->aux.size == 16);
	decoder_free(decoder);
	vec_deinit(&output);
}

TEST(a_task_without_user_space_keeps_what_else_there_is)
{
	struct made made;
	struct decoder *decoder;
	struct record_buffer buffer = {0}, output = {0};
	struct memory_ring memory;
	struct stack_dump_layout layout;
	struct stack_dump_parts parts;
	struct sp_record record;
	make_full(&made);
	struct sp_sample *sample = &made.record.sample;
	sample->user_registers = sample->interrupt_registers = (struct sp_registers){0};
	sample->stack = (struct sp_bytes){0};
	ck_assert(stack_dump_layout_make(&full_attr, KEPT, "x86_64", &layout));
	ok_or_fail(record_encode(&buffer, &made.record, &full_attr));
	struct ring ring = memory_ring_init(&memory, 8192, 0);
	ck_assert(memory_ring_put(&memory, buffer.items, buffer.count));
	struct perf_event_header header = ring_header(&ring, 0);
	ck_assert(stack_dump_find(&layout, &ring, 0, &header, &parts));
	struct dump *dump = malloc(stack_dump_size(&layout, &parts, false));
	stack_dump_copy(&layout, &parts, &ring, false, dump);
	const struct stack_dump_chain none = {0};
	ok_or_fail(stack_dump_encode(&layout, &output, dump, &none, SIZE_MAX));
	struct sp_event event = {.name = "full", .attr = full_attr};
	stack_dump_file_attr(&event.attr, KEPT);
	const struct record_layout shape = {.events = &event, .event_count = 1, .path = "made"};
	memcpy(&header, output.items, sizeof(header));
	const struct raw_record raw = {.type = header.type, .size = header.size, .bytes = output.items};
	ok_or_fail(decoder_new(&shape, &decoder));
	ok_or_fail(decoder_decode(decoder, &raw, &record));
	ck_assert_uint_eq(record.sample.ip_count, 3);
	ck_assert_uint_eq(record.sample.user_registers.abi, PERF_SAMPLE_REGS_ABI_NONE);
	ck_assert(record.sample.phys_addr == 37 && record.sample.branch_count == 3);
	free(dump);
	decoder_free(decoder);
	vec_deinit(&output);
	vec_deinit(&buffer);
	memory_ring_deinit(&memory);
}
