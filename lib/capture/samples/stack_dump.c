/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In a ring, all of a SAMPLE are aligned u64s:
 *
 *	header, fixed fields, (counters) | nr, ips[nr] | (raw, branches) |
 *	abi, registers[] | size, stack[size], dyn_size |
 *	(weight, data_src, transaction, interrupted abi, registers[], phys_addr, …, aux)
 *
 * Without user space there is no stack but for its size, 0. Of the stack, dyn_size bytes are good.
 */
#include "capture/samples/stack_dump.h"

#include <string.h>
#include "record/put.h"
#include "record/types.h"

/* perf's numbers (asm/perf_regs.h of each machine). */
enum { X86_SP = 7, X86_IP = 8, ARM64_SP = 31, ARM64_PC = 32 };

static uint32_t index_of(uint64_t mask, uint32_t number)
{
	return __builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
}

/* Words after the interrupt's registers, one for each field; the last two are page sizes. */
#define LAST_FIELDS                                                                     \
	((uint64_t)(PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |                        \
		    PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE))
#define FIELDS_BEHIND                                                                   \
	((uint64_t)(PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION))

static uint32_t count_bits(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

bool stack_dump_layout_make(const struct perf_event_attr *attr, uint64_t kept, const char *machine,
			    struct stack_dump_layout *ret)
{
	const uint64_t needed = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				PERF_SAMPLE_STACK_USER;
	uint64_t type = attr->sample_type, branches = attr->branch_sample_type;
	struct record_fields fields;
	bool arm64 = !strcmp(machine, "aarch64");
	uint32_t sp = arm64 ? ARM64_SP : X86_SP, ip = arm64 ? ARM64_PC : X86_IP;
	uint64_t mask = attr->sample_regs_user;
	if ((type & needed) != needed || type & ~RECORD_SAMPLE_KNOWN || !(mask >> sp & 1) ||
	    !(mask >> ip & 1) || kept & ~mask || !record_fields_make(type, &fields))
		return false;
	*ret = (struct stack_dump_layout){
		.head_size = fields.sample_end,
		.has_read = type & PERF_SAMPLE_READ,
		.read_format = attr->read_format,
		.has_raw = type & PERF_SAMPLE_RAW,
		.has_branches = type & PERF_SAMPLE_BRANCH_STACK,
		.branch_index = branches & PERF_SAMPLE_BRANCH_HW_INDEX,
		.branch_counters = branches & RECORD_BRANCH_COUNTERS,
		.words_behind = count_bits(type & FIELDS_BEHIND),
		.has_interrupt = type & PERF_SAMPLE_REGS_INTR,
		.interrupt_registers = count_bits(attr->sample_regs_intr),
		.words_last = count_bits(type & LAST_FIELDS),
		.has_aux = type & PERF_SAMPLE_AUX,
		.kept_mask = kept,
		.registers = count_bits(mask),
		.register_mask = mask,
		.sp_index = index_of(mask, sp),
		.ip_index = index_of(mask, ip),
	};
	return true;
}

void stack_dump_file_attr(struct perf_event_attr *attr, uint64_t kept)
{
	/* Dummies and others have no stack copies. */
	if (attr->sample_type & PERF_SAMPLE_STACK_USER) {
		attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
		attr->sample_type |= kept ? PERF_SAMPLE_REGS_USER : 0;
		attr->sample_regs_user = kept;
		attr->sample_stack_user = 0;
	}
	attr->exclude_callchain_user = 0;
}

/* A record's words, read in order. */
struct record_walk {
	const struct ring *ring;
	uint64_t position, end;
};

static bool next_word(struct record_walk *walk, uint64_t *ret)
{
	if (walk->position >= walk->end)
		return false;
	*ret = ring_u64(walk->ring, walk->position);
	walk->position += 8;
	return true;
}

static bool skip_words(struct record_walk *walk, uint64_t count)
{
	if (count > (walk->end - walk->position) / 8)
		return false;
	walk->position += 8 * count;
	return true;
}

/* PERF_SAMPLE_READ's counters: of one event, or of a group. */
static bool skip_counters(struct record_walk *walk, uint64_t format)
{
	uint64_t times = count_bits(format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
					      PERF_FORMAT_TOTAL_TIME_RUNNING));
	uint64_t each = 1 + count_bits(format & (PERF_FORMAT_ID | RECORD_FORMAT_LOST));
	uint64_t count = 1;
	if (format & PERF_FORMAT_GROUP && (!next_word(walk, &count) || count > UINT16_MAX))
		return false;
	return skip_words(walk, times + each * count);
}

static bool skip_raw(struct record_walk *walk)
{
	uint64_t first;
	if (!next_word(walk, &first))
		return false;
	/* Size and bytes together are a multiple of 8. */
	uint64_t size = (uint64_t)first_u32(first) + 4;
	return size % 8 == 0 && skip_words(walk, size / 8 - 1);
}

static bool skip_branches(struct record_walk *walk, const struct stack_dump_layout *layout)
{
	uint64_t count;
	if (!next_word(walk, &count) || count > UINT16_MAX)
		return false;
	return skip_words(walk, (layout->branch_index ? 1 : 0) +
					count * (layout->branch_counters ? 4 : 3));
}

static bool find_middle(struct record_walk *walk, const struct stack_dump_layout *layout,
			struct stack_dump_parts *parts)
{
	parts->middle_at = walk->position;
	if ((layout->has_raw && !skip_raw(walk)) ||
	    (layout->has_branches && !skip_branches(walk, layout)))
		return false;
	parts->middle_size = walk->position - parts->middle_at;
	return true;
}

static bool find_tail(struct record_walk *walk, const struct stack_dump_layout *layout,
		      struct stack_dump_parts *parts)
{
	uint64_t abi = PERF_SAMPLE_REGS_ABI_NONE, aux = 0;
	parts->tail_at = walk->position;
	if (!skip_words(walk, layout->words_behind) ||
	    (layout->has_interrupt && !next_word(walk, &abi)) ||
	    (abi != PERF_SAMPLE_REGS_ABI_NONE && !skip_words(walk, layout->interrupt_registers)) ||
	    !skip_words(walk, layout->words_last) ||
	    (layout->has_aux && (!next_word(walk, &aux) || aux % 8 || !skip_words(walk, aux / 8))))
		return false;
	parts->tail_size = walk->position - parts->tail_at;
	return true;
}

static bool find_stack(struct record_walk *walk, struct stack_dump_parts *parts)
{
	uint64_t size, good;
	if (!next_word(walk, &size))
		return false;
	parts->stack_at = walk->position;
	if (!size)
		return true;
	if (size % 8 || !skip_words(walk, size / 8) || !next_word(walk, &good) || good > size)
		return false;
	parts->stack_asked = size;
	parts->stack_size = (uint32_t)good & ~7U;
	return true;
}

/* Sets the parts of the call chain: up to the mark of user code, and from there to another mark. */
static void split_chain(const struct ring *ring, uint64_t position, uint32_t count,
			struct stack_dump_parts *parts)
{
	uint32_t at = 0;
	while (at < count &&
	       ring_u64(ring, position + 8 * (uint64_t)at) != (uint64_t)PERF_CONTEXT_USER)
		at++;
	parts->chain_count = at++;
	while (at + parts->caller_count < count &&
	       ring_u64(ring, position + 8 * (uint64_t)(at + parts->caller_count)) <
		       (uint64_t)PERF_CONTEXT_MAX)
		parts->caller_count++;
}

bool stack_dump_find(const struct stack_dump_layout *layout, const struct ring *ring, uint64_t position,
		     const struct perf_event_header *header, struct stack_dump_parts *ret)
{
	struct record_walk walk = {ring, position + layout->head_size, position + header->size};
	struct stack_dump_parts parts = {.position = position};
	uint64_t count;
	if (header->size < layout->head_size ||
	    (layout->has_read && !skip_counters(&walk, layout->read_format)))
		return false;
	parts.head_size = walk.position - position;
	if (!next_word(&walk, &count) || !skip_words(&walk, count))
		return false;
	split_chain(ring, walk.position - 8 * count, count, &parts);
	if (!find_middle(&walk, layout, &parts) || !next_word(&walk, &parts.abi))
		return false;
	parts.registers_at = walk.position;
	if (parts.abi != PERF_SAMPLE_REGS_ABI_NONE && !skip_words(&walk, layout->registers))
		return false;
	if (!find_stack(&walk, &parts) || !find_tail(&walk, layout, &parts) ||
	    walk.position != walk.end)
		return false;
	*ret = parts;
	return true;
}

static uint32_t register_count(const struct stack_dump_layout *layout, const struct stack_dump_parts *parts)
{
	return parts->abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : layout->registers;
}

size_t stack_dump_size(const struct stack_dump_layout *layout, const struct stack_dump_parts *parts,
		       bool with_stack)
{
	return sizeof(struct dump) + parts->head_size + 8 * (size_t)parts->chain_count +
	       parts->middle_size + parts->tail_size + 8 * (size_t)register_count(layout, parts) +
	       8 * (size_t)parts->caller_count +
	       (with_stack ? parts->stack_size : 0);
}

void stack_dump_copy(const struct stack_dump_layout *layout, const struct stack_dump_parts *parts,
		     const struct ring *ring, bool with_stack, struct dump *ret)
{
	*ret = (struct dump){
		.size = stack_dump_size(layout, parts, with_stack),
		.head_size = parts->head_size,
		.chain_count = parts->chain_count,
		.middle_size = parts->middle_size,
		.tail_size = parts->tail_size,
		.register_count = register_count(layout, parts),
		.caller_count = parts->caller_count,
		.stack_size = with_stack ? parts->stack_size : 0,
		.stack_asked = parts->stack_asked,
		.abi = parts->abi,
	};
	uint8_t *to = (uint8_t *)ret->words;
	ring_copy(ring, parts->position, ret->head_size, to);
	to += ret->head_size;
	ring_copy(ring, parts->position + ret->head_size + 8, 8 * (size_t)ret->chain_count, to);
	to += 8 * (size_t)ret->chain_count;
	ring_copy(ring, parts->middle_at, ret->middle_size, to);
	to += ret->middle_size;
	ring_copy(ring, parts->tail_at, ret->tail_size, to);
	to += ret->tail_size;
	ring_copy(ring, parts->registers_at, 8 * (size_t)ret->register_count, to);
	to += 8 * (size_t)ret->register_count;
	/* Number of addresses after the kernel's part and the mark of user code. */
	ring_copy(ring, parts->position + ret->head_size + 16 + 8 * (size_t)ret->chain_count,
		  8 * (size_t)ret->caller_count, to);
	to += 8 * (size_t)ret->caller_count;
	ring_copy(ring, parts->stack_at, ret->stack_size, to);
}

/* Mark in place of omitted frames: SP_MISC_SHORTENED. */
#define GAP_MARKS 2

/* The user's part as it is written: the inner frames, and the outer ones if some are left out. */
struct dump_shape {
	size_t inner, outer, marks;
	size_t words; /* size of the record */
	bool shortened;
};

static struct dump_shape shape_of(const struct stack_dump_chain *chain, size_t room, size_t limit)
{
	if (limit > room)
		limit = room;
	struct dump_shape shape = {.shortened = chain->count > limit};
	if (shape.shortened && limit > room - GAP_MARKS)
		limit = room - GAP_MARKS;
	shape.outer = shape.shortened ? limit / 2 : 0;
	shape.marks = shape.outer ? GAP_MARKS : 0;
	shape.inner = shape.shortened ? limit - shape.outer : chain->count;
	shape.words = (chain->count > 0) + shape.inner + shape.marks + shape.outer;
	return shape;
}

static void put_chain(struct put *put, const struct dump *dump, const struct stack_dump_chain *chain,
		      const struct dump_shape *shape)
{
	put_u64(put, dump->chain_count + shape->words);
	put_bytes(put, dump->words + dump->head_size / 8, 8 * (size_t)dump->chain_count);
	if (chain->count)
		put_u64(put, PERF_CONTEXT_USER);
	/* Pointers of an empty chain may be NULL. */
	if (shape->inner)
		put_bytes(put, chain->ips, 8 * shape->inner);
	for (size_t i = 0; i < shape->marks; i++)
		put_u64(put, PERF_CONTEXT_USER);
	if (shape->outer)
		put_bytes(put, chain->ips + chain->count - shape->outer, 8 * shape->outer);
}

/* Writes the user registers that the file has. */
static void put_kept(struct put *put, const struct stack_dump_layout *layout, const struct dump *dump)
{
	const uint64_t *values = stack_dump_registers(dump);
	put_u64(put, dump->register_count ? dump->abi : PERF_SAMPLE_REGS_ABI_NONE);
	for (uint64_t mask = layout->kept_mask; mask && dump->register_count; mask &= mask - 1)
		put_u64(put, values[index_of(layout->register_mask, __builtin_ctzll(mask))]);
}

/* Returns the number of words that the registers take. */
static size_t kept_words(const struct stack_dump_layout *layout, const struct dump *dump)
{
	if (!layout->kept_mask)
		return 0;
	return 1 + (dump->register_count ? count_bits(layout->kept_mask) : 0);
}

struct sp_error *stack_dump_encode(const struct stack_dump_layout *layout, struct record_buffer *buffer,
				   const struct dump *dump, const struct stack_dump_chain *chain,
				   size_t limit)
{
	struct put put = {.buffer = buffer};
	const uint8_t *head = (const uint8_t *)dump->words;
	const uint8_t *middle = head + dump->head_size + 8 * (size_t)dump->chain_count;
	size_t start = buffer->count;
	size_t other = dump->head_size + dump->middle_size + dump->tail_size +
		       8 * kept_words(layout, dump);
	size_t room = (RECORD_SIZE_MAX - other) / 8 - dump->chain_count - 2;
	const struct dump_shape shape = shape_of(chain, room, limit);
	struct perf_event_header header;
	memcpy(&header, head, sizeof(header));
	header.misc |= chain->misc | (shape.shortened ? SP_MISC_SHORTENED : 0);
	header.size = (uint16_t)(other + 8 * (1 + (size_t)dump->chain_count + shape.words));
	put_bytes(&put, &header, sizeof(header));
	put_bytes(&put, head + sizeof(header), dump->head_size - sizeof(header));
	put_chain(&put, dump, chain, &shape);
	put_bytes(&put, middle, dump->middle_size);
	if (layout->kept_mask)
		put_kept(&put, layout, dump);
	put_bytes(&put, middle + dump->middle_size, dump->tail_size);
	if (put.no_memory) {
		buffer->count = start;
		return error_no_memory();
	}
	return NULL;
}
