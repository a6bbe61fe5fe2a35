/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/record_length.h"

#include <endian.h>
#include <linux/perf_event.h>
#include "base/cursor.h"
#include "record/command_line.h"
#include "record/content.h"
#include "record/kept.h"
#include "record/note.h"
#include "record/python_record.h"
#include "record/types.h"

#define HEADER_SIZE 8
#define TRAILER_WORDS_MAX 6

/* Size of an EVENT_UPDATE record before its data: header, kind, id. */
#define UPDATE_DATA 24

/* Extra bytes in perf's records since Linux 6.0 to 6.2, because perf counts a union twice. */
#define UPDATE_UNION 16

/*
 * Offset of the file's name in a HEADER_BUILD_ID record, and the multiple to which perf pads the name.
 */
#define BUILD_ID_NAME 36
#define BUILD_ID_ALIGN ((size_t)64)

#define MMAP2_PROT 64
#define MMAP2_NAME 72

/* Offset of the count in a BPF_METADATA record, which has a name and pairs of names and values. */
#define BPF_METADATA_COUNT (HEADER_SIZE + 512)
#define BPF_METADATA_ENTRY (64 + 256)

enum how {
	OPEN,    /* only the header states the size */
	FIXED,   /* the record has `at` bytes */
	STRING,  /* the record ends with a string that begins at `at` */
	COUNTED, /* at `at` is a u64 count, then that many items of `each` bytes */
};

struct record_shape {
	uint16_t how;
	uint16_t at;
	uint16_t each;
};

/* Records of the kernel come first, then those of perf. */
static const struct record_shape shapes[] = {
	[PERF_RECORD_MMAP] = {STRING, 40, 0},
	[PERF_RECORD_LOST] = {FIXED, 24, 0},
	[PERF_RECORD_COMM] = {STRING, 16, 0},
	[PERF_RECORD_EXIT] = {FIXED, 32, 0},
	[PERF_RECORD_THROTTLE] = {FIXED, 32, 0},
	[PERF_RECORD_UNTHROTTLE] = {FIXED, 32, 0},
	[PERF_RECORD_FORK] = {FIXED, 32, 0},
	[PERF_RECORD_MMAP2] = {STRING, MMAP2_NAME, 0},
	[PERF_RECORD_AUX] = {FIXED, 32, 0},
	[PERF_RECORD_ITRACE_START] = {FIXED, 16, 0},
	[PERF_RECORD_LOST_SAMPLES] = {FIXED, 16, 0},
	[PERF_RECORD_SWITCH] = {FIXED, 8, 0},
	[PERF_RECORD_SWITCH_CPU_WIDE] = {FIXED, 16, 0},
	[PERF_RECORD_NAMESPACES] = {COUNTED, 16, 16},
	[PERF_RECORD_KSYMBOL] = {STRING, 24, 0},
	[PERF_RECORD_BPF_EVENT] = {FIXED, 24, 0},
	[PERF_RECORD_CGROUP] = {STRING, 16, 0},
	[RECORD_AUX_OUTPUT_HW_ID] = {FIXED, 16, 0},
	[RECORD_CALLCHAIN_DEFERRED] = {COUNTED, 16, 8},
	[SP_RECORD_HEADER_EVENT_TYPE] = {STRING, 16, 0},
	[SP_RECORD_FINISHED_ROUND] = {FIXED, 8, 0},
	[SP_RECORD_ID_INDEX] = {COUNTED, 8, 32},
	[SP_RECORD_THREAD_MAP] = {COUNTED, 8, 24},
	[SP_RECORD_STAT_CONFIG] = {COUNTED, 8, 16},
	[SP_RECORD_STAT] = {FIXED, 48, 0},
	[SP_RECORD_STAT_ROUND] = {FIXED, 24, 0},
	[SP_RECORD_FINISHED_INIT] = {FIXED, 8, 0},
	[SP_RECORD_BPF_METADATA] = {COUNTED, BPF_METADATA_COUNT, BPF_METADATA_ENTRY},
	[SP_RECORD_SCHEDSTAT_CPU] = {FIXED, 72, 0},
};

struct lengths lengths_of_any(void)
{
	return (struct lengths){.trailers = (1 << (TRAILER_WORDS_MAX + 1)) - 1};
}

struct lengths lengths_of(const struct sp_event *events, size_t count)
{
	/* Writers that make records themselves may omit the sample_id. */
	struct lengths lengths = {.trailers = 1};
	bool fits = true;
	for (size_t i = 0; i < count; i++) {
		const struct perf_event_attr *attr = &events[i].attr;
		uint64_t bits = attr->sample_type & RECORD_SAMPLE_ID_BITS;
		size_t known = 0;
		if (attr->sample_id_all)
			lengths.trailers |= (uint8_t)(1 << __builtin_popcountll(bits));
		while (known < lengths.format_count && lengths.formats[known] != attr->read_format)
			known++;
		if (known == LENGTH_FORMATS)
			fits = false;
		else if (known == lengths.format_count)
			lengths.formats[lengths.format_count++] = attr->read_format;
	}
	if (!fits)
		lengths.format_count = 0;
	return lengths;
}

static struct cursor cursor_at(const struct raw_record *raw, bool swap, size_t at)
{
	struct cursor cursor = cursor_make(raw->bytes, raw->size, swap, NULL, raw->offset);
	/* A record that is too short has no bytes to read. */
	cursor.pos = at < raw->size ? cursor.begin + at : cursor.end;
	return cursor;
}

/* The following functions return 0 if the field that states the length is not within the record. */

static size_t string_end(const struct raw_record *raw, size_t at)
{
	const uint8_t *nul = at < raw->size ? memchr(raw->bytes + at, 0, raw->size - at) : NULL;
	return nul ? (size_t)(nul - raw->bytes) + 1 : 0;
}

static size_t counted_end(const struct raw_record *raw, bool swap, size_t at, size_t each)
{
	struct cursor cursor = cursor_at(raw, swap, at);
	uint64_t count;
	if (!cursor_u64(&cursor, &count) || count > cursor_left(&cursor) / each)
		return 0;
	return at + 8 + (size_t)count * each;
}

static inline size_t shape_end(const struct raw_record *raw, bool swap,
			       const struct record_shape *shape)
{
	switch (shape->how) {
	case FIXED:
		return shape->at;
	case STRING:
		if (raw->type == PERF_RECORD_MMAP2 && raw->size > MMAP2_PROT &&
		    mmap2_is_old(raw->bytes[MMAP2_PROT]))
			return string_end(raw, MMAP2_PROT);
		return string_end(raw, shape->at);
	case COUNTED:
		return counted_end(raw, swap, shape->at, shape->each);
	default:
		return 0;
	}
}

/* Returns the end of ip, two u16 lengths, and that many bytes. */
static size_t text_poke_end(const struct raw_record *raw, bool swap)
{
	struct cursor cursor = cursor_at(raw, swap, 16);
	uint16_t before, after;
	if (!cursor_u16(&cursor, &before) || !cursor_u16(&cursor, &after))
		return 0;
	return 20 + (size_t)before + after;
}

/* Returns the end of pid, tid and the counters; a group states how many counters it has. */
static size_t read_end(const struct raw_record *raw, bool swap, uint64_t format)
{
	size_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & RECORD_FORMAT_LOST);
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	struct cursor cursor = cursor_at(raw, swap, 16);
	uint64_t count = 1;
	bool group = format & PERF_FORMAT_GROUP;
	if (group && (!cursor_u64(&cursor, &count) || count > raw->size / (8 * words)))
		return 0;
	return 16 + 8 * (group + times + (size_t)count * words);
}

/* Returns the end of the second of two texts. */
static size_t python_end(const struct raw_record *raw)
{
	size_t file = string_end(raw, UPDATE_DATA + PYTHON_FIXED_SIZE);
	return file ? string_end(raw, file) : 0;
}

/* Returns the end of the last word. */
static size_t command_line_end(const struct raw_record *raw)
{
	struct cursor cursor = cursor_at(raw, false, UPDATE_DATA + COMMAND_LINE_COUNT);
	size_t end = UPDATE_DATA + COMMAND_LINE_FIXED_SIZE;
	uint32_t count;
	if (!cursor_u32(&cursor, &count))
		return 0;
	for (count = le32toh(count); count && end; count--)
		end = string_end(raw, end + 1);
	return end;
}

/* Returns the end of a text or a number; five kinds are sprof's own. */
static size_t event_update_end(const struct raw_record *raw, bool swap)
{
	struct cursor cursor = cursor_at(raw, swap, HEADER_SIZE);
	uint64_t kind, id, size;
	if (!cursor_u64(&cursor, &kind) || !cursor_u64(&cursor, &id))
		return 0;
	switch (kind) {
	case SP_EVENT_UPDATE_UNIT:
	case SP_EVENT_UPDATE_NAME:
		return string_end(raw, UPDATE_DATA);
	case SP_EVENT_UPDATE_SCALE:
		return UPDATE_DATA + 8;
	case NOTE_KIND:
		size = note_data_size(raw->bytes + UPDATE_DATA, raw->size - UPDATE_DATA);
		return size ? UPDATE_DATA + (size_t)size : 0;
	case CONTENT_KIND:
		return string_end(raw, UPDATE_DATA + CONTENT_FIXED_SIZE);
	case COMMAND_LINE_KIND:
		return command_line_end(raw);
	case PYTHON_KIND:
		return python_end(raw);
	case KEPT_KIND:
		cursor.swap = false;
		if (!cursor_u64(&cursor, &size) || (size = le64toh(size)) > raw->size)
			return 0;
		return UPDATE_DATA + 8 + KEPT_NAME_SIZE + (size_t)size;
	default:
		return 0;
	}
}

/* Returns the end if the header's size holds all of it; the reader handles other records. */
static size_t compressed2_end(const struct raw_record *raw, bool swap)
{
	struct cursor cursor = cursor_at(raw, swap, HEADER_SIZE);
	uint64_t size;
	bool inside = cursor_u64(&cursor, &size) && size && size <= cursor_left(&cursor);
	return inside ? 16 + (size_t)size : 0;
}

static size_t round_up(size_t size, size_t multiple)
{
	return (size + multiple - 1) & ~(multiple - 1);
}

size_t record_fields_end(const struct raw_record *raw, bool swap)
{
	size_t end = 0;
	if (raw->type == PERF_RECORD_TEXT_POKE)
		end = text_poke_end(raw, swap);
	else if (raw->type < RECORD_USER_TYPES && raw->type < count_of(shapes))
		end = shape_end(raw, swap, &shapes[raw->type]);
	end = round_up(end, 8);
	return end <= raw->size ? end : 0;
}

/* Possible ends of a record of one type; some may be 0. */
struct ends {
	size_t at[LENGTH_FORMATS];
	size_t count;
};

static void end_at(struct ends *ends, size_t end)
{
	ends->at[ends->count++] = end;
}

/* Finds the ends of a list, a mask or a range at `at`: see decode_cpu_map(). */
static void cpu_map_ends(const struct raw_record *raw, bool swap, size_t at, struct ends *ends)
{
	struct cursor cursor = cursor_at(raw, swap, at);
	uint16_t kind, count, size;
	if (!cursor_u16(&cursor, &kind) || !cursor_u16(&cursor, &count) ||
	    !cursor_u16(&cursor, &size))
		return;
	if (kind == 0) {
		end_at(ends, round_up(at + 4 + 2 * (size_t)count, 8));
		end_at(ends, at + 8 + 2 * (size_t)count); /* layout since perf 4.16 */
	} else if (kind == 1 && size == 4) {
		end_at(ends, round_up(at + 6 + 4 * (size_t)count, 8));
	} else if (kind == 1 && size == 8) {
		end_at(ends, at + 8 + 8 * (size_t)count);
		end_at(ends, at + 16 + 8 * (size_t)count); /* layout before Linux 6.1 */
	} else if (kind == 2) {
		end_at(ends, at + 8);
	}
}

static void event_update_ends(const struct raw_record *raw, bool swap, struct ends *ends)
{
	struct cursor cursor = cursor_at(raw, swap, HEADER_SIZE);
	uint64_t kind;
	if (cursor_u64(&cursor, &kind) && kind == SP_EVENT_UPDATE_CPUS) {
		cpu_map_ends(raw, swap, UPDATE_DATA, ends);
		return;
	}
	size_t end = event_update_end(raw, swap);
	end_at(ends, round_up(end, 8));
	end_at(ends, end ? round_up(end + UPDATE_UNION, 8) : 0);
}

/* Finds the ends of a build-id's file name: padded to 64 by perf, to 8 by others, or not at all. */
static void build_id_ends(const struct raw_record *raw, struct ends *ends)
{
	size_t end = string_end(raw, BUILD_ID_NAME);
	if (!end)
		return;
	end_at(ends, round_up(end, 8));
	end_at(ends, BUILD_ID_NAME + round_up(end - BUILD_ID_NAME, BUILD_ID_ALIGN));
}

static void ends_find(const struct lengths *lengths, const struct raw_record *raw, bool swap,
		      struct ends *ends)
{
	size_t end = 0;
	if (raw->type < count_of(shapes))
		end = round_up(shape_end(raw, swap, &shapes[raw->type]), 8);
	switch (raw->type) {
	case PERF_RECORD_READ:
		for (size_t i = 0; i < lengths->format_count; i++)
			end_at(ends, read_end(raw, swap, lengths->formats[i]));
		break;
	case PERF_RECORD_TEXT_POKE:
		end_at(ends, round_up(text_poke_end(raw, swap), 8));
		break;
	case SP_RECORD_HEADER_BUILD_ID:
		build_id_ends(raw, ends);
		break;
	case SP_RECORD_EVENT_UPDATE:
		event_update_ends(raw, swap, ends);
		break;
	case SP_RECORD_CPU_MAP:
		cpu_map_ends(raw, swap, HEADER_SIZE, ends);
		break;
	case SP_RECORD_TIME_CONV:
		end_at(ends, 32);
		end_at(ends, 56); /* layout since Linux 5.11 */
		break;
	case SP_RECORD_ID_INDEX:
		/* Since Linux 6.0, the guests of the ids may follow. */
		end_at(ends, end);
		end_at(ends, end ? end + (end - 16) / 2 : 0);
		break;
	case SP_RECORD_COMPRESSED2:
		end_at(ends, round_up(compressed2_end(raw, swap), 8));
		break;
	default:
		end_at(ends, end);
	}
}

bool lengths_fit(const struct lengths *lengths, const struct raw_record *raw, bool swap)
{
	if (raw->type >= RECORD_USER_TYPES)
		return false;
	size_t end = shape_end(raw, swap, &shapes[raw->type]);
	size_t surplus = raw->size - round_up(end, 8);
	return end && surplus <= 8 * TRAILER_WORDS_MAX && !(surplus & 7) &&
	       lengths->trailers >> surplus / 8 & 1;
}

size_t lengths_below(const struct lengths *lengths, const struct raw_record *raw, bool swap,
		     size_t ret[LENGTHS_MAX])
{
	struct ends ends = {.count = 0};
	size_t count = 0;
	unsigned int trailers = raw->type < RECORD_USER_TYPES ? lengths->trailers : 1;
	ends_find(lengths, raw, swap, &ends);
	for (size_t i = 0; i < ends.count; i++) {
		for (size_t words = 0; ends.at[i] && trailers >> words; words++) {
			size_t length = ends.at[i] + 8 * words;
			if (!(trailers >> words & 1))
				continue;
			/*
			 * The optional part after the short form of a perf record states itself whether
			 * it is there.
			 */
			if (length == raw->size)
				return raw->type < RECORD_USER_TYPES ? 0 : count;
			if (length < raw->size)
				ret[count++] = length;
		}
	}
	return count;
}

bool record_size_is_doubtful(uint32_t type)
{
	return type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT ||
	       type == PERF_RECORD_TEXT_POKE;
}
