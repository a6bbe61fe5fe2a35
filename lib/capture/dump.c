/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In a ring, all of a SAMPLE are aligned u64s:
 *
 *	header, fixed fields | (read) | nr, ips[nr] | (raw) | abi, registers[] | size, stack[size], dyn_size
 *
 * Without user space there is no stack but for its size, 0. Of the stack, dyn_size bytes are good.
 */
#include "capture/dump.h"

#include <string.h>
#include "record/put.h"

/* PERF_FORMAT_LOST, Linux 6.0. */
#define FORMAT_LOST (UINT64_C(1) << 4)

/* perf's numbers (asm/perf_regs.h of each machine). */
enum { X86_SP = 7, X86_IP = 8, ARM64_SP = 31, ARM64_PC = 32 };

static uint32_t index_of(uint64_t mask, uint32_t number)
{
	return (uint32_t)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
}

bool dump_layout_make(const struct perf_event_attr *attr, const char *machine,
		      struct dump_layout *ret)
{
	const uint64_t needed = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				PERF_SAMPLE_STACK_USER;
	const uint64_t known = RECORD_FIELDS_NEEDED | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_READ | needed;
	struct record_fields fields;
	bool arm64 = !strcmp(machine, "aarch64");
	uint32_t sp = arm64 ? ARM64_SP : X86_SP, ip = arm64 ? ARM64_PC : X86_IP;
	uint64_t mask = attr->sample_regs_user;
	if ((attr->sample_type & needed) != needed || attr->sample_type & ~known ||
	    !(mask >> sp & 1) || !(mask >> ip & 1) ||
	    !record_fields_make(attr->sample_type, &fields))
		return false;
	*ret = (struct dump_layout){
		.chain_at = fields.sample_period + 8,
		.has_read = attr->sample_type & PERF_SAMPLE_READ,
		.read_format = attr->read_format,
		.has_raw = attr->sample_type & PERF_SAMPLE_RAW,
		.registers = (uint32_t)__builtin_popcountll(mask),
		.register_mask = mask,
		.sp_index = index_of(mask, sp),
		.ip_index = index_of(mask, ip),
	};
	return true;
}

void dump_file_attr(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	attr->exclude_callchain_user = 0;
}

/* What is read of a record, from its beginning on. */
struct walk {
	const struct ring *ring;
	uint64_t position, end;
};

static bool take_word(struct walk *walk, uint64_t *ret)
{
	if (walk->position >= walk->end)
		return false;
	*ret = ring_u64(walk->ring, walk->position);
	walk->position += 8;
	return true;
}

static bool skip_words(struct walk *walk, uint64_t count)
{
	if (count > (walk->end - walk->position) / 8)
		return false;
	walk->position += 8 * count;
	return true;
}

/* Counts of a group: nr, (times), nr times value, (id), (lost); of one event without nr. */
static bool skip_read(struct walk *walk, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	uint64_t count = 1;
	if (format & PERF_FORMAT_GROUP && !take_word(walk, &count))
		return false;
	return skip_words(walk, times) && count <= (walk->end - walk->position) / 8 &&
	       skip_words(walk, count * each);
}

static bool find_raw(struct walk *walk, struct dump_parts *parts)
{
	uint64_t first;
	parts->raw_at = walk->position;
	if (!take_word(walk, &first))
		return false;
	/* The size and the bytes behind it are a multiple of 8 together. */
	uint64_t size = (uint64_t)first_u32(first) + 4;
	parts->raw_size = (uint32_t)((size + 7) & ~UINT64_C(7));
	return size % 8 == 0 && skip_words(walk, size / 8 - 1);
}

static bool find_stack(struct walk *walk, struct dump_parts *parts)
{
	uint64_t size, good;
	if (!take_word(walk, &size))
		return false;
	parts->stack_at = walk->position;
	if (!size)
		return true;
	if (size % 8 || !skip_words(walk, size / 8) || !take_word(walk, &good) || good > size)
		return false;
	parts->stack_asked = (uint32_t)size;
	parts->stack_size = (uint32_t)good & ~7U;
	return true;
}

bool dump_find(const struct dump_layout *layout, const struct ring *ring, uint64_t position,
	       const struct perf_event_header *header, struct dump_parts *ret)
{
	struct walk walk = {ring, position + layout->chain_at, position + header->size};
	struct dump_parts parts = {.position = position, .head_size = layout->chain_at};
	uint64_t count;
	if (header->size < layout->chain_at ||
	    (layout->has_read && !skip_read(&walk, layout->read_format)))
		return false;
	parts.head_size = (uint32_t)(walk.position - position);
	if (!take_word(&walk, &count) || !skip_words(&walk, count))
		return false;
	parts.chain_count = (uint32_t)count;
	if ((layout->has_raw && !find_raw(&walk, &parts)) || !take_word(&walk, &parts.abi))
		return false;
	parts.registers_at = walk.position;
	if (parts.abi != PERF_SAMPLE_REGS_ABI_NONE && !skip_words(&walk, layout->registers))
		return false;
	if (!find_stack(&walk, &parts) || walk.position != walk.end)
		return false;
	*ret = parts;
	return true;
}

static uint32_t register_count(const struct dump_layout *layout, const struct dump_parts *parts)
{
	return parts->abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : layout->registers;
}

size_t dump_size(const struct dump_layout *layout, const struct dump_parts *parts, bool with_stack)
{
	return sizeof(struct dump) + parts->head_size + 8 * (size_t)parts->chain_count +
	       parts->raw_size + 8 * (size_t)register_count(layout, parts) +
	       (with_stack ? parts->stack_size : 0);
}

void dump_copy(const struct dump_layout *layout, const struct dump_parts *parts,
	       const struct ring *ring, bool with_stack, struct dump *ret)
{
	*ret = (struct dump){
		.size = (uint32_t)dump_size(layout, parts, with_stack),
		.head_size = parts->head_size,
		.chain_count = parts->chain_count,
		.raw_size = parts->raw_size,
		.register_count = register_count(layout, parts),
		.stack_size = with_stack ? parts->stack_size : 0,
		.stack_asked = parts->stack_asked,
		.abi = parts->abi,
	};
	uint8_t *to = (uint8_t *)ret->words;
	ring_copy(ring, parts->position, ret->head_size, to);
	to += ret->head_size;
	ring_copy(ring, parts->position + ret->head_size + 8, 8 * (size_t)ret->chain_count, to);
	to += 8 * (size_t)ret->chain_count;
	ring_copy(ring, parts->raw_at, ret->raw_size, to);
	to += ret->raw_size;
	ring_copy(ring, parts->registers_at, 8 * (size_t)ret->register_count, to);
	to += 8 * (size_t)ret->register_count;
	ring_copy(ring, parts->stack_at, ret->stack_size, to);
}

/* What stands where frames were left out: SP_MISC_SHORTENED. */
#define GAP_MARKS 2

struct sp_error *dump_encode(struct record_buffer *buffer, const struct dump *dump,
			     const struct dump_chain *chain, size_t limit, bool *shortened_ret)
{
	struct put put = {.buffer = buffer};
	const uint8_t *head = (const uint8_t *)dump->words;
	const uint8_t *kernel = head + dump->head_size;
	size_t start = buffer->count;
	size_t room = (RECORD_SIZE_MAX - dump->head_size - dump->raw_size) / 8 - dump->chain_count - 2;
	if (limit > room)
		limit = room;
	bool shortened = chain->count > limit;
	if (shortened && limit > room - GAP_MARKS)
		limit = room - GAP_MARKS;
	size_t outer = shortened ? limit / 2 : 0;
	size_t marks = outer ? GAP_MARKS : 0;
	size_t inner = shortened ? limit - outer : chain->count;
	bool user = chain->count > 0;
	struct perf_event_header header;
	memcpy(&header, head, sizeof(header));
	header.misc |= chain->misc | (shortened ? SP_MISC_SHORTENED : 0);
	header.size = (uint16_t)(dump->head_size + 8 + 8 * (size_t)dump->chain_count +
				 8 * (user + inner + marks + outer) + dump->raw_size);
	put_bytes(&put, &header, sizeof(header));
	put_bytes(&put, head + sizeof(header), dump->head_size - sizeof(header));
	put_u64(&put, dump->chain_count + user + inner + marks + outer);
	put_bytes(&put, kernel, 8 * (size_t)dump->chain_count);
	if (user)
		put_u64(&put, (uint64_t)PERF_CONTEXT_USER);
	/* An empty chain has no place. */
	if (inner)
		put_bytes(&put, chain->ips, 8 * inner);
	for (size_t i = 0; i < marks; i++)
		put_u64(&put, (uint64_t)PERF_CONTEXT_USER);
	if (outer)
		put_bytes(&put, chain->ips + chain->count - outer, 8 * outer);
	put_bytes(&put, kernel + 8 * (size_t)dump->chain_count, dump->raw_size);
	if (put.no_memory) {
		buffer->count = start;
		return error_no_memory();
	}
	*shortened_ret = shortened;
	return NULL;
}
