/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of any number of CPUs, for drain threads. Each CPU has a ring of plain memory and a
 * producer, a thread that obeys the kernel's rules. It numbers its records, drops and counts those
 * that do not fit, and notifies after a number of bytes.
 */
#ifndef UNIT_SIMULATED_CPUS_H
#define UNIT_SIMULATED_CPUS_H

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "capture/ring_bank/drain_threads.h"
#include "rings.h"

struct simulated_cpu {
	struct memory_ring memory;
	struct ring ring;
	pthread_t thread;
	int fd;
	const struct simulation *simulation;
	uint64_t made, dropped; /* by the producer */
	uint64_t seen, wrong;   /* by the reader: in order, and without a gap but what was dropped */
	uint64_t next;
};

struct simulation {
	size_t cpus, threads;
	size_t ring_bytes;
	uint16_t record_bytes;
	uint64_t records;     /* number of records of each CPU */
	uint32_t burst;       /* records in a burst, before a pause */
	uint32_t pause_us;
	struct simulated_cpu *cpu;
	struct drain_threads *drain_threads;
	uint64_t rounds, reader_ns; /* CPU time */
	int running;          /* producers, atomic */
};

static inline void *simulated_cpu_run(void *arg)
{
	struct simulated_cpu *cpu = arg;
	const struct simulation *simulation = cpu->simulation;
	uint64_t words[1100] = {0}, told = 0;
	const uint64_t one = 1;
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
					   .size = simulation->record_bytes};
	memcpy(words, &header, sizeof(header));
	for (uint64_t i = 0; i < simulation->records; i++) {
		words[1] = i;
		words[header.size / 8 - 1] = ~i;
		if (memory_ring_put(&cpu->memory, words, header.size))
			cpu->made++;
		else
			cpu->dropped++;
		if (cpu->memory.page.data_head - told >= simulation->ring_bytes / 4) {
			told = cpu->memory.page.data_head;
			(void)!write(cpu->fd, &one, sizeof(one));
		}
		if (simulation->burst && i % simulation->burst == simulation->burst - 1)
			usleep(simulation->pause_us);
	}
	__atomic_sub_fetch((int *)(uintptr_t)&simulation->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static inline void simulated_cpu_read(struct simulated_cpu *cpu, struct ring *ring)
{
	uint64_t head = ring_head(ring), at = ring->tail;
	struct perf_event_header header;
	for (; at < head && ring_record(ring, at, head, &header); at += header.size) {
		uint64_t number = ring_u64(ring, at + 8);
		cpu->wrong += number < cpu->next || ring_u64(ring, at + header.size - 8) != ~number;
		cpu->next = number + 1;
		cpu->seen++;
	}
	cpu->wrong += at != head;
	ring_release(ring, head);
}

/* Does the same as a round of the recorder: every 20 ms, or sooner if rings fill. */
static inline void simulation_round(struct simulation *simulation)
{
	drain_threads_move(simulation->drain_threads);
	for (size_t i = 0; i < simulation->cpus; i++)
		simulated_cpu_read(&simulation->cpu[i], drain_threads_ring(simulation->drain_threads, i));
	simulation->rounds++;
}

static inline uint64_t simulation_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Fails the case where it cannot be made; all is joined and counted when it returns. */
static inline struct drain_threads_counts simulation_run(struct simulation *simulation)
{
	size_t cpus = simulation->cpus;
	struct drain_place *places = calloc(cpus, sizeof(*places));
	simulation->cpu = calloc(cpus, sizeof(*simulation->cpu));
	ck_assert(places && simulation->cpu);
	for (size_t i = 0; i < cpus; i++) {
		struct simulated_cpu *cpu = &simulation->cpu[i];
		cpu->ring = memory_ring_init(&cpu->memory, simulation->ring_bytes, 0);
		cpu->simulation = simulation;
		cpu->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		ck_assert_int_ge(cpu->fd, 0);
		places[i] = (struct drain_place){
			.ring = &cpu->ring, .fd = cpu->fd, .cpu = 0,
			.group = (uint32_t)(i * simulation->threads / cpus),
		};
	}
	const struct drain_threads_options options = {
		.places = places, .count = cpus, .threads = simulation->threads,
		.relay_bytes = 4 * simulation->ring_bytes, .record_max = simulation->record_bytes,
		.notify_bytes = simulation->ring_bytes,
	};
	ok_or_fail(drain_threads_new(&options, &simulation->drain_threads));
	free(places);
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	simulation->running = (int)cpus;
	for (size_t i = 0; i < cpus; i++)
		ck_assert_int_eq(pthread_create(&simulation->cpu[i].thread, &attr,
						simulated_cpu_run, &simulation->cpu[i]), 0);
	pthread_attr_destroy(&attr);
	uint64_t begin_ns = simulation_cpu_ns();
	while (__atomic_load_n(&simulation->running, __ATOMIC_ACQUIRE)) {
		simulation_round(simulation);
		usleep(2000);
	}
	for (size_t i = 0; i < cpus; i++)
		pthread_join(simulation->cpu[i].thread, NULL);
	simulation_round(simulation);
	simulation_round(simulation);
	simulation->reader_ns = simulation_cpu_ns() - begin_ns;
	struct drain_threads_counts counts = drain_threads_counts(simulation->drain_threads);
	drain_threads_free(simulation->drain_threads);
	return counts;
}

static inline void simulation_deinit(struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->cpus; i++) {
		close(simulation->cpu[i].fd);
		memory_ring_deinit(&simulation->cpu[i].memory);
	}
	free(simulation->cpu);
}

#endif
