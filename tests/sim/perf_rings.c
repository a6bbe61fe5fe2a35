/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_rings.h"

#include <stdlib.h>
#include <time.h>

static uint64_t event_time(const struct sim_event *event)
{
	uint64_t ns = sim_stamp();
	return event->attr.use_clockid && event->attr.clockid == CLOCK_REALTIME
		       ? ns + SIM_REALTIME_NS : ns;
}

void sim_begin(struct composed *record, struct sim_event *event, uint32_t type, uint16_t misc, uint32_t pid,
	       uint32_t tid, unsigned int cpu)
{
	const struct perf_event_header header = {.type = type, .misc = misc};
	record->event = event;
	record->size = 0;
	record->truth = (struct sim_truth){
		.time_ns = event_time(event), .id = event->id, .type = type, .pid = pid, .tid = tid,
		.cpu = cpu, .misc = misc, .whole_cpu = event->pid < 0,
	};
	put(record, &header, sizeof(header));
}

void put_sample_id(struct composed *record)
{
	const struct sim_event *event = record->event;
	const struct sim_truth *truth = &record->truth;
	uint64_t type = event->attr.sample_id_all ? event->attr.sample_type : 0;
	if (type & PERF_SAMPLE_TID)
		put32s(record, truth->pid, truth->tid);
	if (type & PERF_SAMPLE_TIME)
		put64(record, truth->time_ns);
	if (type & PERF_SAMPLE_ID)
		put64(record, event->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put64(record, event->id);
	if (type & PERF_SAMPLE_CPU)
		put32s(record, truth->cpu, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put64(record, event->id);
}

/* -- Rings ----------------------------------------------------------------- */

static struct sim_ring *ring_of(const struct sim_event *event)
{
	return event->output ? event->output->ring : event->ring;
}

/* Bytes of a span from that position on that are before the end of the ring's memory. */
static size_t size_before_end(const struct sim_ring *ring, uint64_t position, size_t size)
{
	size_t at = position & (ring->size - 1);
	return size < ring->size - at ? size : ring->size - at;
}

void sim_ring_check(struct sim_ring *ring)
{
	uint64_t tail = __atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE);
	if (ring->overwrite || ring->head > UINT64_MAX / 2)
		return;
	if (tail > ring->head)
		sim_violation("ring %u: data_tail is beyond data_head", ring->number);
	if (tail < ring->tail_seen)
		sim_violation("ring %u: data_tail went back", ring->number);
	if (tail % 8)
		sim_violation("ring %u: data_tail is not aligned", ring->number);
	/* A reader that still uses what it released finds garbage. */
	uint64_t released = tail > ring->tail_seen ? tail - ring->tail_seen : 0;
	size_t size = released < ring->size ? (size_t)released : ring->size;
	size_t first = size_before_end(ring, ring->tail_seen, size);
	memset(ring->data + (ring->tail_seen & (ring->size - 1)), 0xa5, first);
	memset(ring->data, 0xa5, size - first);
	ring->tail_seen = tail;
}

static void copy_in(struct sim_ring *ring, uint64_t position, const void *bytes, size_t size)
{
	size_t at = position & (ring->size - 1);
	size_t first = size_before_end(ring, position, size);
	memcpy(ring->data + at, bytes, first);
	memcpy(ring->data, (const uint8_t *)bytes + first, size - first);
}

static void publish(struct sim_ring *ring, uint64_t head)
{
	ring->head = head;
	__atomic_store_n(&ring->page->data_head, head, __ATOMIC_RELEASE);
}

static void wake(struct sim_event *event, struct sim_ring *ring)
{
	ring->pollable = true;
	sim_event_changed(event->output ? event->output : event);
}

/* The loss of earlier records, in front of the first one that finds room. */
static size_t compose_lost(struct composed *lost, struct sim_event *event, uint64_t count,
			   const struct sim_truth *like)
{
	sim_begin(lost, event, PERF_RECORD_LOST, 0, like->pid, like->tid, like->cpu);
	put64(lost, event->id);
	put64(lost, count);
	put_sample_id(lost);
	uint16_t size = (uint16_t)lost->size;
	memcpy(lost->bytes + 6, &size, sizeof(size));
	return lost->size;
}

static bool put_in_ring(struct sim_ring *ring, struct composed *record)
{
	static struct composed lost;
	struct sim_event *event = record->event;
	if (ring->paused)
		return false;
	sim_ring_check(ring);
	if (event->attr.write_backward) {
		publish(ring, ring->head - record->size);
		copy_in(ring, ring->head, record->bytes, record->size);
		return true;
	}
	uint64_t used = ring->overwrite ? 0 : ring->head - ring->tail_seen, head = ring->head;
	size_t lost_size = 0;
	if (ring->lost)
		lost_size = compose_lost(&lost, event, ring->lost, &record->truth);
	if (ring->size - 1 - used < record->size + lost_size)
		return false;
	if (lost_size) {
		copy_in(ring, head, lost.bytes, lost_size);
		head += lost_size;
		sim_perf.lost_records += ring->lost;
		ring->lost = 0;
	}
	copy_in(ring, head, record->bytes, record->size);
	publish(ring, head + record->size);
	if (ring->head - ring->wakeup > ring->watermark) {
		ring->wakeup += ring->watermark;
		wake(event, ring);
	}
	return true;
}

static void add_truth(const struct sim_truth *truth)
{
	if (sim_perf.truth_count == sim_perf.truth_room) {
		sim_perf.truth_room = sim_perf.truth_room ? 2 * sim_perf.truth_room : 4096;
		sim_perf.truth = realloc(sim_perf.truth, sim_perf.truth_room * sizeof(*truth));
		if (!sim_perf.truth)
			abort();
	}
	sim_perf.truth[sim_perf.truth_count++] = *truth;
}

void sim_end(struct composed *record)
{
	struct sim_event *event = record->event;
	struct sim_ring *ring = ring_of(event);
	uint16_t size = (uint16_t)record->size;
	memcpy(record->bytes + 6, &size, sizeof(size));
	if (!ring)
		return;
	record->truth.ring = ring->number;
	bool done = put_in_ring(ring, record);
	record->truth.fate = done ? SIM_PUT : SIM_LOST;
	if (!done) {
		ring->lost++;
		event->lost++;
	}
	add_truth(&record->truth);
	if (sim.verbose > 2)
		printf("# record: type %u, time %llu, thread %u, CPU %u, %llx%s\n", record->truth.type,
		       (unsigned long long)record->truth.time_ns, record->truth.tid, record->truth.cpu,
		       (unsigned long long)record->truth.ip, done ? "" : ", lost");
	if (done && record->truth.type == PERF_RECORD_SAMPLE && !event->attr.watermark &&
	    event->attr.wakeup_events && ++event->wakeups >= event->attr.wakeup_events) {
		event->wakeups = 0;
		wake(event, ring);
	}
}
