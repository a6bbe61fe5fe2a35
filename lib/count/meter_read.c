/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of a meter. What read(2) gives is, by the bits of the read format:
 *
 *	alone     value, [enabled,] [running,] [id,] [lost]
 *	of a group  how many, [enabled,] [running,] then for each: value, [id,] [lost]
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "count/estimate.h"
#include "count/meter.h"
#include "count/count_page.h"

/* Words of a read's result, consumed one by one. */
struct words {
	const uint64_t *at, *end;
	uint64_t format;
};

static uint64_t next_if(struct words *words, uint64_t bit)
{
	return (words->format & bit) && words->at < words->end ? *words->at++ : 0;
}

static uint64_t next(struct words *words)
{
	return words->at < words->end ? *words->at++ : 0;
}

static struct sp_error *read_words(struct sp_meter *meter, const struct metered *event,
				   struct words *ret)
{
	ssize_t size = read(event->fd, meter->buffer, meter_buffer_size(meter));
	if (size < 0)
		return error_os(errno, "cannot read %s", event->name);
	if (!size)
		return error_set_remedy(
			error_new(SP_ERROR_LIMIT, "%s is pinned, but no counter was free",
				  event->name),
			"use fewer events, or omit the modifier D");
	*ret = (struct words){meter->buffer, meter->buffer + (size_t)size / sizeof(uint64_t),
			      event->attr.read_format};
	return NULL;
}

/* A group may have members of other meters, after this meter's. */
static void take_group(struct words *words, struct sp_count *counts, size_t count)
{
	uint64_t there = next(words);
	uint64_t enabled_ns = next_if(words, PERF_FORMAT_TOTAL_TIME_ENABLED);
	uint64_t running_ns = next_if(words, PERF_FORMAT_TOTAL_TIME_RUNNING);
	for (uint64_t i = 0; i < there && i < count; i++) {
		counts[i] = (struct sp_count){.value = next(words), .enabled_ns = enabled_ns,
					      .running_ns = running_ns};
		counts[i].id = next_if(words, PERF_FORMAT_ID);
		counts[i].lost = next_if(words, EVENT_FORMAT_LOST);
	}
}

struct sp_error *sp_meter_read(struct sp_meter *meter, struct sp_count *counts)
{
	struct words words = {0};
	memset(counts, 0, meter->count * sizeof(*counts));
	for (size_t i = 0; i < meter->count; i++) {
		TRY(read_words(meter, &meter->events[i], &words));
		if (words.format & PERF_FORMAT_GROUP) {
			take_group(&words, &counts[i], meter->count - i);
			if (!meter->apart)
				break;
		} else {
			struct sp_count *ret = &counts[i];
			*ret = (struct sp_count){.value = next(&words)};
			ret->enabled_ns = next_if(&words, PERF_FORMAT_TOTAL_TIME_ENABLED);
			ret->running_ns = next_if(&words, PERF_FORMAT_TOTAL_TIME_RUNNING);
			ret->id = next_if(&words, PERF_FORMAT_ID);
			ret->lost = next_if(&words, EVENT_FORMAT_LOST);
		}
	}
	return NULL;
}

bool sp_meter_read_user(const struct sp_meter *meter, size_t index, struct sp_count *ret)
{
	const struct metered *event = meter_at(meter, index);
	const struct page_cpu *cpu = page_cpu_real();
	if (!event->page || meter->syscalls || !cpu || !page_read(event->page, cpu, ret))
		return false;
	ret->id = event->id;
	return true;
}

/* Reads all events in user space, or all by system call: so members are of nearly one moment. */
static struct sp_error *read_quickly(struct sp_meter *meter, struct sp_count *counts)
{
	for (size_t i = 0; i < meter->count; i++)
		if (!sp_meter_read_user(meter, i, &counts[i]))
			return sp_meter_read(meter, counts);
	return NULL;
}

struct sp_error *sp_meter_begin(struct sp_meter *meter)
{
	return read_quickly(meter, meter->before);
}

struct sp_error *sp_meter_end(struct sp_meter *meter, struct sp_count *counts)
{
	struct sp_error *error = read_quickly(meter, meter->scratch);
	for (size_t i = 0; i < meter->count && !error; i++) {
		const struct sp_count *before = &meter->before[i], *after = &meter->scratch[i];
		counts[i] = (struct sp_count){
			.value = after->value - before->value,
			.enabled_ns = after->enabled_ns - before->enabled_ns,
			.running_ns = after->running_ns - before->running_ns,
			.id = after->id,
			/*
			 * Reads in user space lack the count of lost samples. Without a ring, none
			 * are lost.
			 */
			.lost = after->lost > before->lost ? after->lost - before->lost : 0,
		};
	}
	return error;
}

double sp_count_scaled(const struct sp_count *count)
{
	double value = count->value;
	if (!count->running_ns || count->running_ns >= count->enabled_ns)
		return value;
	return value * ((double)count->enabled_ns / (double)count->running_ns);
}

void sp_scaling_add(struct sp_scaling *scaling, const struct sp_count *difference)
{
	struct observations observations = {
		scaling->observations, scaling->last_value, scaling->last_running,
		scaling->squares[0], scaling->squares[1], scaling->squares[2]};
	observations_add(&observations, difference->value, difference->running_ns);
	scaling->sum.value += difference->value;
	scaling->sum.enabled_ns += difference->enabled_ns;
	scaling->sum.running_ns += difference->running_ns;
	scaling->sum.lost += difference->lost;
	scaling->sum.id = difference->id;
	scaling->observations = observations.count;
	scaling->last_value = observations.last_n;
	scaling->last_running = observations.last_run;
	scaling->squares[0] = observations.nn;
	scaling->squares[1] = observations.nr;
	scaling->squares[2] = observations.rr;
}

bool sp_scaling_interval(const struct sp_scaling *scaling, double *value_ret, double *low_ret,
			 double *high_ret)
{
	const struct sp_count *sum = &scaling->sum;
	const struct observations observations = {
		scaling->observations, scaling->last_value, scaling->last_running,
		scaling->squares[0], scaling->squares[1], scaling->squares[2]};
	double value = sp_count_scaled(sum), variance = 0;
	if (sum->running_ns < sum->enabled_ns &&
	    !observations_variance(&observations, sum->value, sum->enabled_ns, sum->running_ns,
				   &variance))
		return false;
	double half = interval_half(observations.count, variance);
	*value_ret = value;
	*low_ret = value - half < (double)sum->value ? (double)sum->value : value - half;
	*high_ret = value + half;
	return true;
}

/* Input of a meter: records of its ring, its page, and signals of traps. */

/* <asm-generic/siginfo.h>, Linux 5.13. */
#define CODE_TRAP_PERF 6
#define TRAP_PERF_ASYNC 1u

/* Layout after si_addr in a siginfo_t of CODE_TRAP_PERF. */
struct trap_tail {
	unsigned long data;
	uint32_t type, flags;
};

bool sp_trap_decode(const void *siginfo, struct sp_trap *ret)
{
	const siginfo_t *info = siginfo;
	struct trap_tail tail;
	if (info->si_signo != SIGTRAP || info->si_code != CODE_TRAP_PERF)
		return false;
	const char *behind = (const char *)&info->si_addr + sizeof(info->si_addr);
	memcpy(&tail, behind, sizeof(tail));
	ret->address = (uint64_t)(uintptr_t)info->si_addr;
	ret->data = tail.data;
	ret->type = tail.type;
	ret->async = tail.flags & TRAP_PERF_ASYNC;
	return true;
}

/* Returns the record's bytes in the ring, or a copy if it wraps. */
static const uint8_t *bytes_of(struct sp_meter *meter, size_t size)
{
	size_t at = meter->position & (meter->ring.size - 1);
	if (at + size <= meter->ring.size)
		return meter->ring.data + at;
	ring_copy(&meter->ring, meter->position, size, meter->bounce);
	return meter->bounce;
}

struct sp_error *sp_meter_next(struct sp_meter *meter, const struct sp_record **ret)
{
	struct perf_event_header header;
	*ret = NULL;
	if (!meter->ring.page)
		return NULL;
	/* Releases the record that was returned last. */
	ring_release(&meter->ring, meter->position);
	uint64_t head = ring_head(&meter->ring);
	if (head == meter->position)
		return NULL;
	if (!ring_record(&meter->ring, meter->position, head, &header)) {
		struct sp_error *error = error_format("ring", meter->position, "incomplete record");
		meter->position = head;
		return error;
	}
	const struct raw_record raw = {
		.type = header.type, .misc = header.misc, .size = header.size,
		.bytes = bytes_of(meter, header.size), .offset = meter->position};
	meter->position += header.size;
	struct sp_error *error = decoder_decode(meter->decoder, &raw, &meter->record);
	if (!error)
		*ret = &meter->record;
	return error;
}

bool sp_meter_read_page(const struct sp_meter *meter, size_t index, struct sp_meter_page *ret)
{
	const struct metered *event = meter_at(meter, index);
	return event->page && page_copy(event->page, ret);
}

bool sp_meter_clock(const struct sp_meter *meter, struct sp_clock *ret)
{
	struct sp_meter_page page;
	if (!sp_meter_read_page(meter, 0, &page) || !page.cap_user_time_zero || !page.time_mult)
		return false;
	*ret = (struct sp_clock){.zero = page.time_zero, .mult = page.time_mult,
				 .shift = page.time_shift,
				 .narrow = page.cap_user_time_short,
				 .cycles = page.cap_user_time_short ? page.time_cycles : 0,
				 .mask = page.cap_user_time_short ? page.time_mask : ~UINT64_C(0)};
	return true;
}
