/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes records. A record's fields follow its header without padding. After the fields of kernel
 * records other than SAMPLE comes a sample_id, if the event's attr has sample_id_all.
 *
 * The record's event is found by an id in the sample_id or in the SAMPLE itself. The place of that id
 * depends on the event. So each possible place is tried, and an id found there counts if its event has
 * ids at that place.
 *
 * Some writers omit the sample_id of records that they make themselves. So it is read only if the
 * fields leave room for it.
 */
#include "record/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "record/attr.h"
#include "record/decode_internal.h"
#include "record/fixed_fields.h"
#include "record/record_length.h"
#include "record/task_change.h"

/* Decodes the fields of the kernel's records, except SAMPLE. */

/*
 * Returns whether the 24 bytes after file_offset are a build-id, not device and inode. The record's
 * flag is not reliable: up to Linux 6.18 at least, the kernel may leave it set from another
 * recorder's event. If no event of this recording asked for build-ids, only the two sizes that
 * linkers write are accepted. As a device's major number, they do not occur.
 */
static bool is_build_id(const struct decoder *decoder, const uint8_t *bytes)
{
	uint8_t size = bytes[0];
	if (bytes[1] || bytes[2] || bytes[3] || !size || size > 20)
		return false;
	return decoder->has_build_ids || size == 16 || size == 20;
}

/* Decodes the fields of MMAP2 after file_offset. */
static bool decode_mmap2(const struct decoder *decoder, struct cursor *cursor,
			 struct sp_record *record)
{
	struct sp_mmap *mmap = &record->mmap;
	struct cursor behind = *cursor;
	const uint8_t *bytes;
	bool good = cursor_bytes(&behind, 24, &bytes);
	if (good && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && is_build_id(decoder, bytes)) {
		*cursor = behind;
		mmap->build_id_size = bytes[0];
		memcpy(mmap->build_id, bytes + 4, mmap->build_id_size);
	} else {
		good = cursor_u32(cursor, &mmap->maj) && cursor_u32(cursor, &mmap->min) &&
		       cursor_u64(cursor, &mmap->ino) && cursor_u64(cursor, &mmap->ino_generation);
	}
	if (good && cursor_left(cursor) && mmap2_is_old(*cursor->pos)) {
		mmap->prot = PROT_READ;
		if (!(record->misc & PERF_RECORD_MISC_MMAP_DATA))
			mmap->prot |= PROT_EXEC;
		return cursor_text(cursor, &mmap->filename);
	}
	return good && cursor_u32(cursor, &mmap->prot) && cursor_u32(cursor, &mmap->flags) &&
	       cursor_text(cursor, &mmap->filename);
}

static bool decode_text_poke(struct cursor *cursor, struct sp_text_poke *poke)
{
	uint16_t before, after;
	if (!cursor_u16(cursor, &before) || !cursor_u16(cursor, &after) ||
	    !cursor_bytes(cursor, before, &poke->before.bytes) ||
	    !cursor_bytes(cursor, after, &poke->after.bytes))
		return false;
	poke->before.size = before;
	poke->after.size = after;
	return true;
}

static bool decode_namespaces(struct decoder *decoder, struct cursor *cursor,
			      struct sp_namespaces *namespaces)
{
	_Static_assert(sizeof(struct sp_namespace) == 16, "two words, as in the record");
	uint64_t count;
	const uint64_t *words;
	if (!cursor_u64(cursor, &count) || count > cursor_left(cursor) / 16 ||
	    !read_words(decoder, cursor, count * 2, &words))
		return false;
	namespaces->namespaces = (const struct sp_namespace *)words;
	namespaces->count = count;
	return true;
}

static bool decode_deferred(struct decoder *decoder, struct cursor *cursor,
			    struct sp_deferred *deferred)
{
	uint64_t count;
	if (!cursor_u64(cursor, &count) || !read_words(decoder, cursor, count, &deferred->ips))
		return false;
	deferred->count = count;
	return true;
}

/*
 * Decodes the fields of a kernel record other than SAMPLE. Returns false, with the cursor at the
 * field that does not fit, if the record is too short.
 */
static bool decode_fields(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
			  struct sp_record *record)
{
	const uint8_t *tag;
	if (!decode_fixed_fields(cursor, record))
		return false;
	switch (record->type) {
	case PERF_RECORD_MMAP2:
		return decode_mmap2(decoder, cursor, record);
	case PERF_RECORD_READ:
		return read_counters(decoder, cursor, plan->read_format, &record->read.counters);
	case PERF_RECORD_NAMESPACES:
		return decode_namespaces(decoder, cursor, &record->namespaces);
	case PERF_RECORD_BPF_EVENT:
		if (!cursor_bytes(cursor, sizeof(record->bpf_event.tag), &tag))
			return false;
		memcpy(record->bpf_event.tag, tag, sizeof(record->bpf_event.tag));
		return true;
	case PERF_RECORD_TEXT_POKE:
		return decode_text_poke(cursor, &record->text_poke);
	case RECORD_CALLCHAIN_DEFERRED:
		return decode_deferred(decoder, cursor, &record->deferred);
	default:
		return true;
	}
}

#define HEADER_SIZE 8

/* Returns the number of words in `order` before the one of `bit`. */
static int8_t words_before(uint64_t sample_type, const uint64_t *order, uint64_t bit)
{
	int8_t words = 0;
	for (; *order != bit; order++)
		words = (int8_t)(words + !!(sample_type & *order));
	return words;
}

bool event_is_raw_wait(const struct sp_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
	       attr->sample_type & PERF_SAMPLE_RAW && event->name &&
	       !strcmp(event->name, "offcpu-time");
}

static struct plan plan_make(const struct sp_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	static const uint64_t sample_order[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
						PERF_SAMPLE_ADDR, PERF_SAMPLE_ID};
	/* Fields of a sample_id, from its end backwards. */
	static const uint64_t trailer_order[] = {PERF_SAMPLE_CPU, PERF_SAMPLE_STREAM_ID,
						 PERF_SAMPLE_ID};
	uint64_t type = attr->sample_type & RECORD_SAMPLE_KNOWN;
	struct plan plan = {
		.sample_type = type,
		.read_format = attr->read_format,
		.branch_type = attr->branch_sample_type,
		.user_mask = attr->sample_regs_user,
		.interrupt_mask = attr->sample_regs_intr,
		.sample_id_at = -1,
		.trailer_id_at = -1,
		.is_raw_wait = event_is_raw_wait(event),
	};
	if (plan.is_raw_wait)
		plan.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	if (attr->sample_id_all)
		plan.trailer_words = (uint8_t)__builtin_popcountll(type & RECORD_SAMPLE_ID_BITS);
	if (type & PERF_SAMPLE_IDENTIFIER) {
		plan.sample_id_at = 0;
		plan.trailer_id_at = 1;
	} else if (type & PERF_SAMPLE_ID) {
		plan.sample_id_at = words_before(type, sample_order, PERF_SAMPLE_ID);
		int8_t behind = words_before(type, trailer_order, PERF_SAMPLE_ID);
		plan.trailer_id_at = (int8_t)(behind + 1);
	}
	if (!attr->sample_id_all)
		plan.trailer_id_at = -1;
	return plan;
}

static void places_add(struct id_places *places, int8_t at)
{
	if (at < 0)
		return;
	for (size_t i = 0; i < places->count; i++)
		if (places->at[i] == at)
			return;
	/* The array has room for all places that can exist. */
	places->at[places->count++] = at;
}

static struct sp_error *decoder_fill(struct decoder *decoder)
{
	const struct record_layout *layout = &decoder->layout;
	decoder->plans = calloc(layout->event_count + 1, sizeof(*decoder->plans));
	decoder->scratch = aligned_alloc(64, SCRATCH_SIZE);
	NEED(decoder->plans && decoder->scratch);
	decoder->uniform = layout->event_count > 0;
	for (size_t i = 0; i < layout->event_count; i++) {
		const struct sp_event *event = &layout->events[i];
		decoder->plans[i] = plan_make(event);
		decoder->has_build_ids |= event->attr.build_id;
		places_add(&decoder->sample_places, decoder->plans[i].sample_id_at);
		places_add(&decoder->trailer_places, decoder->plans[i].trailer_id_at);
		if (memcmp(&decoder->plans[i], &decoder->plans[0], sizeof(decoder->plans[0])))
			decoder->uniform = false;
		/* With one event, ids are never searched. */
		for (size_t j = 0; layout->event_count > 1 && j < event->id_count; j++)
			NEED(u64map_put(&decoder->ids, event->ids[j], (uint32_t)i, NULL));
	}
	return NULL;
}

struct sp_error *decoder_new(const struct record_layout *layout, struct decoder **ret)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	NEED(decoder);
	assert(layout->event_count < SP_EVENT_NONE);
	decoder->layout = *layout;
	decoder->last_event = SP_EVENT_NONE;
	struct sp_error *error = decoder_fill(decoder);
	if (error) {
		decoder_free(decoder);
		return error;
	}
	*ret = decoder;
	return NULL;
}

void decoder_free(struct decoder *decoder)
{
	if (!decoder)
		return;
	u64map_deinit(&decoder->ids);
	free(decoder->plans);
	free(decoder->scratch);
	free(decoder);
}

static uint64_t word_at(const struct decoder *decoder, const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return decoder->layout.swap ? __builtin_bswap64(word) : word;
}

/* Returns the event of an id that was found at one of these places; SP_EVENT_NONE if there is none. */
static uint32_t event_of_id(struct decoder *decoder, uint64_t id)
{
	if (likely(id == decoder->last_id && decoder->last_event != SP_EVENT_NONE))
		return decoder->last_event;
	const uint32_t *event = u64map_find(&decoder->ids, id);
	if (!event)
		return SP_EVENT_NONE;
	decoder->last_id = id;
	decoder->last_event = *event;
	return *event;
}

static uint32_t sample_event(struct decoder *decoder, const struct raw_record *raw)
{
	if (decoder->layout.event_count == 1)
		return 0;
	for (size_t i = 0; i < decoder->sample_places.count; i++) {
		int8_t at = decoder->sample_places.at[i];
		size_t offset = HEADER_SIZE + (size_t)at * 8;
		if (offset + 8 > raw->size)
			continue;
		uint32_t event = event_of_id(decoder, word_at(decoder, raw->bytes + offset));
		if (event != SP_EVENT_NONE && decoder->plans[event].sample_id_at == at)
			return event;
	}
	return SP_EVENT_NONE;
}

static uint32_t trailer_event(struct decoder *decoder, const struct raw_record *raw)
{
	if (decoder->layout.event_count == 1)
		return 0;
	for (size_t i = 0; i < decoder->trailer_places.count; i++) {
		int8_t at = decoder->trailer_places.at[i];
		size_t back = (size_t)at * 8;
		if (back + HEADER_SIZE > raw->size)
			continue;
		uint64_t id = word_at(decoder, raw->bytes + raw->size - back);
		uint32_t event = event_of_id(decoder, id);
		if (event != SP_EVENT_NONE && decoder->plans[event].trailer_id_at == at)
			return event;
	}
	return SP_EVENT_NONE;
}

/* Returns the plan of an event; if the event is unknown, that of the first event, as in perf. */
static const struct plan *plan_of(const struct decoder *decoder, uint32_t event)
{
	return &decoder->plans[event == SP_EVENT_NONE ? 0 : event];
}

/*
 * Decodes the sample_id at the record's end, if there is room for it after the fields, where `cursor`
 * is.
 */
static void decode_trailer(const struct plan *plan, const struct cursor *cursor,
			   struct sp_sample_id *ret)
{
	size_t size = (size_t)plan->trailer_words * 8;
	uint64_t type = plan->sample_type;
	struct sp_sample_id id = {.present = type & RECORD_SAMPLE_ID_BITS};
	if (!size || cursor_left(cursor) < size)
		return;
	struct cursor at = *cursor;
	bool good = cursor_skip(&at, cursor_left(cursor) - size);
	if (type & PERF_SAMPLE_TID)
		good = good && cursor_u32(&at, &id.pid) && cursor_u32(&at, &id.tid);
	if (type & PERF_SAMPLE_TIME)
		good = good && cursor_u64(&at, &id.time_ns);
	if (type & PERF_SAMPLE_ID)
		good = good && cursor_u64(&at, &id.id);
	if (type & PERF_SAMPLE_STREAM_ID)
		good = good && cursor_u64(&at, &id.stream_id);
	if (type & PERF_SAMPLE_CPU)
		good = good && cursor_u32(&at, &id.cpu) && cursor_skip(&at, 4);
	if (type & PERF_SAMPLE_IDENTIFIER)
		good = good && cursor_u64(&at, &id.id);
	if (good)
		*ret = id;
}

/*
 * Returns the number of valid bytes of a record; the kernel may have set its size too large
 * (record/record_length.h). These are the fields, and a sample_id directly after them that belongs
 * to an event.
 */
static size_t true_size(struct decoder *decoder, const struct raw_record *raw,
			const struct cursor *cursor)
{
	struct sp_record record = {.type = raw->type};
	struct plan none = {0};
	struct cursor at = *cursor;
	if (!decode_fields(decoder, &none, &at, &record))
		return raw->size;
	size_t end = (HEADER_SIZE + (size_t)(at.pos - cursor->pos) + 7) & ~(size_t)7;
	for (uint32_t i = 0; i < decoder->layout.event_count; i++) {
		const struct plan *plan = &decoder->plans[i];
		size_t size = end + plan->trailer_words * (size_t)8;
		if (size > raw->size)
			continue;
		if (decoder->layout.event_count == 1)
			return size;
		size_t back = (size_t)plan->trailer_id_at * 8;
		if (plan->trailer_id_at > 0 &&
		    event_of_id(decoder, word_at(decoder, raw->bytes + size - back)) == i)
			return size;
	}
	return raw->size;
}

static struct sp_error *decode_kernel_record(struct decoder *decoder, const struct raw_record *raw,
					     struct cursor *cursor, struct sp_record *record)
{
	if (!decoder->layout.event_count) {
		/* Without an attr, the fields of a sample are unknown. */
		if (raw->type == PERF_RECORD_SAMPLE)
			return cursor_error(cursor, "a SAMPLE, but no event is described");
		struct plan none = {0};
		if (!decode_fields(decoder, &none, cursor, record))
			return cursor_error(cursor, "%s of %zu bytes is cut short",
					    sp_record_type_name(raw->type), raw->size);
		return NULL;
	}
	struct raw_record mended;
	if (unlikely(record_size_is_doubtful(raw->type))) {
		mended = *raw;
		mended.size = true_size(decoder, raw, cursor);
		cursor->end -= raw->size - mended.size;
		raw = &mended;
	}
	uint32_t event = trailer_event(decoder, raw);
	const struct plan *plan = plan_of(decoder, event);
	record->event = (uint16_t)event;
	if (event == SP_EVENT_NONE && raw->type == PERF_RECORD_READ && !decoder->uniform)
		return cursor_error(cursor,
				    "a READ with an unknown event id: its fields are unknown");
	if (!decode_fields(decoder, plan, cursor, record))
		return cursor_error(cursor, "%s of %zu bytes is cut short",
				    sp_record_type_name(raw->type), raw->size);
	decode_trailer(plan, cursor, &record->id);
	return NULL;
}

static struct sp_error *decode_sample_record(struct decoder *decoder, const struct raw_record *raw,
					     struct cursor *cursor, struct sp_record *record)
{
	uint32_t event = sample_event(decoder, raw);
	if (unlikely(event == SP_EVENT_NONE && !decoder->uniform))
		return cursor_error(cursor,
				    "a SAMPLE with an unknown event id: its fields are unknown");
	record->event = (uint16_t)event;
	const struct plan *plan = plan_of(decoder, event);
	const char *wrong = decode_sample(decoder, plan, cursor, &record->sample);
	/* The sample's mode is that of the thread that ran. */
	if (unlikely(plan->is_raw_wait))
		record->misc = PERF_RECORD_MISC_USER;
	if (unlikely(wrong))
		return cursor_error(cursor, "SAMPLE of %zu bytes: %s does not fit", raw->size,
				    wrong);
	decoder->excess = cursor_left(cursor);
	return NULL;
}

size_t decoder_excess(const struct decoder *decoder)
{
	return decoder->excess;
}

/* Returns the record's bytes, or a copy if they are not aligned to 8. */
static const uint8_t *aligned_bytes(struct decoder *decoder, const struct raw_record *raw)
{
	if (likely(!((uintptr_t)raw->bytes & 7)))
		return raw->bytes;
	uint8_t *copy = scratch_take(decoder, raw->size);
	memcpy(copy, raw->bytes, raw->size);
	return copy;
}

/* Adds the clock's step to a time; records without a time have 0. */
static void move_time(const struct record_layout *layout, uint64_t *time_ns)
{
	if (*time_ns && *time_ns < layout->began_ns)
		*time_ns += layout->set_back_ns;
}

static void move_times(const struct record_layout *layout, struct sp_record *record)
{
	if (record->type == PERF_RECORD_SAMPLE) {
		move_time(layout, &record->sample.time_ns);
		return;
	}
	move_time(layout, &record->id.time_ns);
	if (task_change_is_life(record->type))
		move_time(layout, &record->task.time_ns);
	else if (record->type == PERF_RECORD_THROTTLE || record->type == PERF_RECORD_UNTHROTTLE)
		move_time(layout, &record->throttle.time_ns);
}

struct sp_error *decoder_decode(struct decoder *decoder, const struct raw_record *raw,
				struct sp_record *ret)
{
	assert(raw->size >= HEADER_SIZE && raw->size <= UINT16_MAX);
	decoder->scratch_used = 0;
	decoder->excess = 0;
	const uint8_t *bytes = aligned_bytes(decoder, raw);
	struct cursor cursor = cursor_make(bytes + HEADER_SIZE, raw->size - HEADER_SIZE,
					   decoder->layout.swap, decoder->layout.path,
					   raw->offset + HEADER_SIZE);
	*ret = (struct sp_record){
		.type = raw->type,
		.misc = raw->misc,
		.event = SP_EVENT_NONE,
		.file_offset = raw->offset,
		.bytes = bytes,
		.size = raw->size,
	};
	struct sp_error *error;
	if (likely(raw->type == PERF_RECORD_SAMPLE && decoder->layout.event_count))
		error = decode_sample_record(decoder, raw, &cursor, ret);
	else if (raw->type < RECORD_USER_TYPES)
		error = decode_kernel_record(decoder, raw, &cursor, ret);
	else
		return decode_user_record(decoder, &cursor, ret);
	if (unlikely(decoder->layout.set_back_ns) && !error)
		move_times(&decoder->layout, ret);
	return error;
}
