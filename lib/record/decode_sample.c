/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of a SAMPLE, in the kernel's order:
 *
 *	identifier ip pid,tid time addr id stream_id cpu period    one word each
 *	read callchain raw branch_stack regs_user stack_user       of any length
 *	weight data_src transaction                                one word each
 *	regs_intr                                                  of any length
 *	phys_addr cgroup data_page_size code_page_size             one word each
 *	aux                                                        of any length
 *
 * The cursor is never copied on the way of a plain sample: its fields were stored a
 * word at a time, and a copy of two words at once waits until they are in the cache
 * (measured: 12 of 38 ns a sample).
 *
 * This is the hot path of every report: a sample is read where it lies, and
 * only of the other byte order are its arrays copied.
 */
#include "record/decode_internal.h"

bool read_counters(struct decoder *decoder, struct cursor *cursor, uint64_t read_format,
		   struct sp_counters *ret)
{
	uint64_t count = 1;
	struct sp_counters counters = {.read_format = read_format};
	bool group = read_format & PERF_FORMAT_GROUP;
	size_t words = 1 + !!(read_format & PERF_FORMAT_ID) + !!(read_format & RECORD_FORMAT_LOST);
	struct cursor at = *cursor;
	uint64_t single = 0;
	if (!cursor_u64(&at, group ? &count : &single))
		return false;
	if ((read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) &&
	    !cursor_u64(&at, &counters.time_enabled_ns))
		return false;
	if ((read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) &&
	    !cursor_u64(&at, &counters.time_running_ns))
		return false;
	if (count > (cursor_left(&at) / 8 + !group) / words)
		return false;
	struct sp_counter *values = scratch_take(decoder, count * sizeof(*values));
	for (uint64_t i = 0; i < count; i++) {
		struct sp_counter counter = {.value = single};
		if (group && !cursor_u64(&at, &counter.value))
			return false;
		if ((read_format & PERF_FORMAT_ID) && !cursor_u64(&at, &counter.id))
			return false;
		if ((read_format & RECORD_FORMAT_LOST) && !cursor_u64(&at, &counter.lost))
			return false;
		values[i] = counter;
	}
	counters.values = values;
	counters.count = count;
	*ret = counters;
	*cursor = at;
	return true;
}

/* Reads a u32 size and that many bytes, which together fill whole words. */
static bool read_raw(struct cursor *cursor, struct sp_bytes *ret)
{
	uint32_t size;
	struct cursor at = *cursor;
	const uint8_t *bytes;
	if (!cursor_u32(&at, &size) || !cursor_bytes(&at, size, &bytes))
		return false;
	*ret = (struct sp_bytes){bytes, size};
	*cursor = at;
	return true;
}

/*
 * Converts the flags of a branch from a big-endian kernel, which fills bit-fields from the highest bit,
 * to this host's struct perf_branch_entry.
 */
static uint64_t mirror_branch_flags(uint64_t flags)
{
	/* mispred predicted in_tx abort cycles type spec new_type priv reserved */
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
	uint64_t mirrored = 0;
	unsigned int at = 0;
	for (size_t i = 0; i < sizeof(widths); i++) {
		unsigned int width = widths[i], far = 64 - at - width;
		uint64_t mask = (UINT64_C(1) << width) - 1;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		mirrored |= (flags >> far & mask) << at;
#else
		mirrored |= (flags >> at & mask) << far;
#endif
		at += width;
	}
	return mirrored;
}

static bool read_branch_entries(struct decoder *decoder, struct cursor *cursor, uint64_t count,
				const struct sp_branch **ret)
{
	_Static_assert(sizeof(struct sp_branch) == 24, "an entry is three words, as in the record");
	const uint64_t *words;
	if (count > cursor_left(cursor) / sizeof(struct sp_branch) ||
	    !read_words(decoder, cursor, count * 3, &words))
		return false;
	const struct sp_branch *branches = (const struct sp_branch *)words;
	if (cursor->swap) {
		struct sp_branch *turned = scratch_take(decoder, count * sizeof(*turned));
		for (uint64_t i = 0; i < count; i++) {
			turned[i] = branches[i];
			turned[i].flags = mirror_branch_flags(branches[i].flags);
		}
		branches = turned;
	}
	*ret = branches;
	return true;
}

/*
 * Reads a branch stack: nr, [hw_index], entries, [counters]. If the hardware has no stack, the kernel
 * writes nr = 0 and omits hw_index, too; `index_if_empty` states whether it is there.
 */
static bool read_branches(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
			  bool index_if_empty, struct sp_sample *sample)
{
	uint64_t count, index = 0;
	struct cursor at = *cursor;
	const struct sp_branch *branches;
	const uint64_t *counters = NULL;
	if (!cursor_u64(&at, &count))
		return false;
	if ((plan->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) && (count || index_if_empty) &&
	    !cursor_u64(&at, &index))
		return false;
	if (!read_branch_entries(decoder, &at, count, &branches))
		return false;
	if ((plan->branch_type & RECORD_BRANCH_COUNTERS) && count &&
	    !read_words(decoder, &at, count, &counters))
		return false;
	sample->branches = branches;
	sample->branch_count = count;
	sample->branch_hw_index = index;
	sample->branch_counters = counters;
	*cursor = at;
	return true;
}

/* Reads registers: abi, and unless abi is NONE, a word for each bit of the mask. */
static bool read_registers(struct decoder *decoder, struct cursor *cursor, uint64_t mask,
			   struct sp_registers *ret)
{
	struct sp_registers registers = {0};
	struct cursor at = *cursor;
	if (!cursor_u64(&at, &registers.abi))
		return false;
	if (registers.abi != PERF_SAMPLE_REGS_ABI_NONE) {
		registers.mask = mask;
		registers.count = (size_t)__builtin_popcountll(mask);
		if (!read_words(decoder, &at, registers.count, &registers.values))
			return false;
	}
	*ret = registers;
	*cursor = at;
	return true;
}

/* Reads a stack copy: size, the bytes, and, unless size is 0, the number of valid bytes. */
static bool read_stack(struct cursor *cursor, struct sp_sample *sample)
{
	uint64_t size, dyn_size = 0;
	struct cursor at = *cursor;
	const uint8_t *bytes = NULL;
	if (!cursor_u64(&at, &size) || size > cursor_left(&at))
		return false;
	if (size && (!cursor_bytes(&at, size, &bytes) || !cursor_u64(&at, &dyn_size)))
		return false;
	sample->stack = (struct sp_bytes){bytes, size};
	/* Limited to the copy's size, because unwinders rely on it. */
	sample->stack_dyn_size = dyn_size < size ? dyn_size : size;
	*cursor = at;
	return true;
}

static bool read_aux(struct cursor *cursor, struct sp_bytes *ret)
{
	uint64_t size;
	struct cursor at = *cursor;
	const uint8_t *bytes;
	if (!cursor_u64(&at, &size) || size > cursor_left(&at) || !cursor_bytes(&at, size, &bytes))
		return false;
	*ret = (struct sp_bytes){bytes, size};
	*cursor = at;
	return true;
}

static inline bool read_callchain(struct decoder *decoder, struct cursor *cursor,
				  struct sp_sample *sample)
{
	uint64_t count;
	if (!cursor_u64(cursor, &count))
		return false;
	if (!read_words(decoder, cursor, count, &sample->ips)) {
		cursor->pos -= sizeof(count);
		return false;
	}
	sample->ip_count = count;
	return true;
}

/* Decodes the fields from identifier to period. */
static inline const char *decode_head(uint64_t type, struct cursor *cursor,
				      struct sp_sample *sample)
{
	uint32_t reserved;
	if ((type & PERF_SAMPLE_IDENTIFIER) && !cursor_u64(cursor, &sample->id))
		return "identifier";
	if ((type & PERF_SAMPLE_IP) && !cursor_u64(cursor, &sample->ip))
		return "ip";
	if ((type & PERF_SAMPLE_TID) &&
	    (!cursor_u32(cursor, &sample->pid) || !cursor_u32(cursor, &sample->tid)))
		return "pid and tid";
	if ((type & PERF_SAMPLE_TIME) && !cursor_u64(cursor, &sample->time_ns))
		return "time";
	if ((type & PERF_SAMPLE_ADDR) && !cursor_u64(cursor, &sample->addr))
		return "addr";
	if ((type & PERF_SAMPLE_ID) && !cursor_u64(cursor, &sample->id))
		return "id";
	if ((type & PERF_SAMPLE_STREAM_ID) && !cursor_u64(cursor, &sample->stream_id))
		return "stream id";
	if ((type & PERF_SAMPLE_CPU) &&
	    (!cursor_u32(cursor, &sample->cpu) || !cursor_u32(cursor, &reserved)))
		return "cpu";
	if ((type & PERF_SAMPLE_PERIOD) && !cursor_u64(cursor, &sample->period))
		return "period";
	return NULL;
}

/*
 * Decodes the fields after the branch stack. They are rare, so this code is kept out of the hot path.
 */
static __attribute__((noinline)) const char *
decode_tail(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
	    struct sp_sample *sample)
{
	uint64_t type = plan->sample_type;
	if ((type & PERF_SAMPLE_REGS_USER) &&
	    !read_registers(decoder, cursor, plan->user_mask, &sample->user_registers))
		return "user registers";
	if ((type & PERF_SAMPLE_STACK_USER) && !read_stack(cursor, sample))
		return "user stack";
	if ((type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) &&
	    !cursor_u64(cursor, &sample->weight))
		return "weight";
	if ((type & PERF_SAMPLE_DATA_SRC) && !cursor_u64(cursor, &sample->data_src))
		return "data source";
	if ((type & PERF_SAMPLE_TRANSACTION) && !cursor_u64(cursor, &sample->transaction))
		return "transaction";
	if ((type & PERF_SAMPLE_REGS_INTR) &&
	    !read_registers(decoder, cursor, plan->interrupt_mask, &sample->interrupt_registers))
		return "interrupt registers";
	if ((type & PERF_SAMPLE_PHYS_ADDR) && !cursor_u64(cursor, &sample->phys_addr))
		return "physical address";
	if ((type & PERF_SAMPLE_CGROUP) && !cursor_u64(cursor, &sample->cgroup))
		return "cgroup";
	if ((type & PERF_SAMPLE_DATA_PAGE_SIZE) && !cursor_u64(cursor, &sample->data_page_size))
		return "data page size";
	if ((type & PERF_SAMPLE_CODE_PAGE_SIZE) && !cursor_u64(cursor, &sample->code_page_size))
		return "code page size";
	if ((type & PERF_SAMPLE_AUX) && !read_aux(cursor, &sample->aux))
		return "aux data";
	return NULL;
}

/*
 * Decodes a branch stack, and tries both layouts of an empty one: with hw_index, as perf reads it, and,
 * if the record does not end as it should, without.
 */
static __attribute__((noinline)) const char *
decode_from_branches(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
		     struct sp_sample *sample)
{
	struct cursor at = *cursor;
	const char *wrong = "branch stack";
	if (read_branches(decoder, plan, &at, true, sample))
		wrong = decode_tail(decoder, plan, &at, sample);
	bool ambiguous = (plan->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) && !sample->branch_count;
	if (ambiguous && (wrong || cursor_left(&at))) {
		struct cursor other = *cursor;
		struct sp_sample reading = *sample;
		if (read_branches(decoder, plan, &other, false, &reading) &&
		    !decode_tail(decoder, plan, &other, &reading) && !cursor_left(&other)) {
			*sample = reading;
			*cursor = other;
			return NULL;
		}
	}
	*cursor = at;
	return wrong;
}

/*
 * Replaces a sample's fields by those of the thread that waited, from its raw data: u64 tid << 32 |
 * pid, u64 period, the call chain, u64 cgroup.
 */
static bool read_raw_wait(struct decoder *decoder, bool swap, struct sp_sample *sample)
{
	struct cursor cursor = cursor_make(sample->raw.bytes, sample->raw.size, swap, NULL, 0);
	uint64_t task;
	if (!cursor_u64(&cursor, &task) || !cursor_u64(&cursor, &sample->period) ||
	    !read_callchain(decoder, &cursor, sample) || !cursor_u64(&cursor, &sample->cgroup))
		return false;
	sample->pid = (uint32_t)task;
	sample->tid = (uint32_t)(task >> 32);
	/* perf exchanges both in samples of single waits. A process mostly has the lower number. */
	if (sample->time_ns < RECORD_SUMMED_NS && sample->pid > sample->tid) {
		sample->pid = sample->tid;
		sample->tid = (uint32_t)task;
	}
	sample->ip = sample->ip_count > 1 ? sample->ips[1] : 0;
	sample->raw = (struct sp_bytes){NULL, 0};
	sample->present = (sample->present & ~(uint64_t)PERF_SAMPLE_RAW) | PERF_SAMPLE_CALLCHAIN;
	return true;
}

const char *decode_sample(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
			  struct sp_sample *sample)
{
	uint64_t type = plan->sample_type;
	sample->present = type;
	const char *wrong = decode_head(type, cursor, sample);
	if (!wrong && (type & PERF_SAMPLE_READ) &&
	    !read_counters(decoder, cursor, plan->read_format, &sample->counters))
		wrong = "counters";
	if (!wrong && (type & PERF_SAMPLE_CALLCHAIN) && !read_callchain(decoder, cursor, sample))
		wrong = "call chain";
	if (!wrong && (type & PERF_SAMPLE_RAW) && !read_raw(cursor, &sample->raw))
		wrong = "raw data";
	if (!wrong && (type & PERF_SAMPLE_BRANCH_STACK))
		wrong = decode_from_branches(decoder, plan, cursor, sample);
	else if (!wrong)
		wrong = decode_tail(decoder, plan, cursor, sample);
	if (unlikely(plan->is_raw_wait) && !wrong && !read_raw_wait(decoder, cursor->swap, sample))
		wrong = "wait in the raw data";
	return wrong;
}
