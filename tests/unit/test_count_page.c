/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page that the kernel shares, made up, with a processor that is made up too. */
#include "count/count_page.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "test.h"

/* Counter values, and changes while they are read. */
struct machine {
	struct perf_event_mmap_page page;
	uint64_t counter, cycles;
	uint32_t index_asked;
	unsigned int reads;
	void (*meanwhile)(struct machine *machine);
};

static uint64_t counter(void *arg, uint32_t index)
{
	struct machine *machine = arg;
	machine->index_asked = index;
	machine->reads++;
	uint64_t value = machine->counter;
	if (machine->meanwhile)
		machine->meanwhile(machine);
	return value;
}

static uint64_t cycles(void *arg)
{
	return ((struct machine *)arg)->cycles;
}

static struct machine machine_make(void)
{
	struct machine machine = {.counter = 100};
	machine.page.lock = 2;
	machine.page.index = 4;
	machine.page.offset = 1000;
	machine.page.pmc_width = 48;
	machine.page.time_enabled = 700;
	machine.page.time_running = 500;
	machine.page.cap_bit0_is_deprecated = 1;
	machine.page.cap_user_rdpmc = 1;
	return machine;
}

static bool read_it(struct machine *machine, struct sp_count *ret)
{
	const struct page_cpu cpu = {.counter = counter, .cycles = cycles, .arg = machine};
	return page_read(&machine->page, &cpu, ret);
}

TEST(offset_and_counter_are_the_count)
{
	struct machine machine = machine_make();
	struct sp_count count;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.value, 1100);
	ck_assert_uint_eq(count.enabled_ns, 700);
	ck_assert_uint_eq(count.running_ns, 500);
	ck_assert_uint_eq(machine.index_asked, 3); /* the page counts from 1 */
}

TEST(counters_are_signed_and_narrow)
{
	struct machine machine = machine_make();
	struct sp_count count;
	/* Sampling counters begin below 0; what is above their width is noise. */
	machine.page.offset = 50;
	machine.counter = UINT64_C(0xabcd) << 48 | ((UINT64_C(1) << 48) - 20);
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.value, 30);
	machine.page.pmc_width = 32;
	machine.counter = 0xfffffff6;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.value, 40);
	machine.page.pmc_width = 64;
	machine.counter = 1;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.value, 51);
}

TEST(times_go_on_by_the_time_stamp)
{
	struct machine machine = machine_make();
	struct sp_count count;
	machine.page.cap_user_time = 1;
	machine.page.time_shift = 4;
	machine.page.time_mult = 24; /* 1.5 ns a cycle */
	machine.page.time_offset = 1000;
	machine.cycles = 101;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.enabled_ns, 700 + 1000 + 151);
	ck_assert_uint_eq(count.running_ns, 500 + 1000 + 151);
	/* A product of more than 64 bits loses no bit. */
	machine.cycles = UINT64_C(1) << 60;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.enabled_ns, 1700 + (UINT64_C(3) << 59));
	/* time_offset is -time_stamp of when it began: it wraps. */
	machine.page.time_offset = (uint64_t)0 - (UINT64_C(3) << 59) + 7;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.enabled_ns, 707);
}

TEST(short_time_stamps_wrap)
{
	struct machine machine = machine_make();
	struct sp_count count;
	machine.page.cap_user_time = machine.page.cap_user_time_short = 1;
	machine.page.time_mult = 1;
	machine.page.time_cycles = UINT64_C(0x7fffffff0);
	machine.page.time_mask = 0xffffffff;
	machine.page.time_offset = (uint64_t)0 - machine.page.time_cycles;
	machine.cycles = 0x10; /* 32 behind time_cycles, in 32 bits */
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.enabled_ns, 732);
}

TEST(forbidden_memory_is_not_read)
{
	struct sp_count count = {.value = 77};
	struct machine machine = machine_make();
	machine.page.cap_user_rdpmc = 0;
	ck_assert(!read_it(&machine, &count));
	machine = machine_make();
	machine.page.cap_bit0_is_deprecated = 0; /* Linux 3.4 to 3.11 */
	ck_assert(!read_it(&machine, &count));
	machine = machine_make();
	machine.page.index = 0; /* not on a counter */
	ck_assert(!read_it(&machine, &count));
	ck_assert_uint_eq(machine.reads, 0);
	ck_assert_uint_eq(count.value, 77);
}

/* The kernel moves the event to another counter while it is read, once. */
static void move_once(struct machine *machine)
{
	if (machine->reads > 1)
		return;
	machine->page.lock += 2;
	machine->page.index = 9;
	machine->page.offset = 5000;
	machine->counter = 1;
}

TEST(a_change_meanwhile_is_seen)
{
	struct machine machine = machine_make();
	struct sp_count count;
	machine.meanwhile = move_once;
	ck_assert(read_it(&machine, &count));
	ck_assert_uint_eq(count.value, 5001);
	ck_assert_uint_eq(machine.reads, 2);
	ck_assert_uint_eq(machine.index_asked, 8);
}

static void never_still(struct machine *machine)
{
	machine->page.lock++;
}

TEST(a_page_that_never_holds_still_is_given_up)
{
	struct machine machine = machine_make();
	struct sp_count count;
	struct sp_meter_page copy;
	machine.meanwhile = never_still;
	ck_assert(!read_it(&machine, &count));
	/* Or that is in the midst of a change for ever. */
	machine = machine_make();
	machine.page.lock = 3;
	ck_assert(!read_it(&machine, &count));
	ck_assert(!page_copy(&machine.page, &copy));
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_RACES
#endif
#elif defined(__SANITIZE_THREAD__)
#define NO_RACES
#endif

/* ThreadSanitizer knows no sequence locks. */
#ifndef NO_RACES

/* A kernel on another processor, which keeps offset + counter at 1,000,000. */
struct racing {
	struct machine machine;
	atomic_bool done;
};

static void *change(void *arg)
{
	struct racing *racing = arg;
	volatile struct perf_event_mmap_page *page = &racing->machine.page;
	for (int64_t i = 0; !atomic_load(&racing->done); i = (i + 1) % 1000) {
		page->lock++;
		atomic_thread_fence(memory_order_seq_cst);
		page->offset = 1000000 - i;
		page->time_enabled = (uint64_t)i;
		page->time_running = (uint64_t)i;
		*(volatile uint64_t *)&racing->machine.counter = (uint64_t)i;
		atomic_thread_fence(memory_order_seq_cst);
		page->lock++;
	}
	return NULL;
}

static uint64_t racing_counter(void *arg, uint32_t index)
{
	(void)index;
	return *(volatile uint64_t *)&((struct machine *)arg)->counter;
}

TEST(readings_are_of_one_moment)
{
	struct racing racing = {.machine = machine_make()};
	racing.machine.page.offset = 1000000;
	racing.machine.counter = 0;
	racing.machine.page.time_enabled = racing.machine.page.time_running = 0;
	const struct page_cpu cpu = {racing_counter, cycles, &racing.machine};
	pthread_t thread;
	unsigned int good = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, change, &racing), 0);
	/* The thread may lose its CPU while it changes the page: then all fail for a while. */
	for (unsigned int i = 0; i < 20000 || !good; i++) {
		struct sp_count count;
		if (!page_read(&racing.machine.page, &cpu, &count))
			continue;
		good++;
		ck_assert_uint_eq(count.value, 1000000);
		ck_assert_uint_eq(count.enabled_ns, count.running_ns);
	}
	atomic_store(&racing.done, true);
	pthread_join(thread, NULL);
	ck_assert_uint_gt(good, 0);
}

#endif

TEST(all_fields_are_copied)
{
	struct machine machine = machine_make();
	struct sp_meter_page copy;
	struct perf_event_mmap_page *page = &machine.page;
	page->version = 1, page->compat_version = 2, page->time_offset = 3, page->time_zero = 4;
	page->size = 5, page->time_cycles = 6, page->time_mask = 7, page->data_head = 8;
	page->data_tail = 9, page->data_offset = 10, page->data_size = 11, page->aux_head = 12;
	page->aux_tail = 13, page->aux_offset = 14, page->aux_size = 15, page->time_mult = 16;
	page->time_shift = 17, page->cap_user_time_zero = 1;
	ck_assert(page_copy(page, &copy));
	ck_assert(copy.version == 1 && copy.compat_version == 2 && copy.time_offset == 3);
	ck_assert(copy.time_zero == 4 && copy.size == 5 && copy.time_cycles == 6 && copy.time_mask == 7);
	ck_assert(copy.data_head == 8 && copy.data_tail == 9 && copy.data_offset == 10);
	ck_assert(copy.data_size == 11 && copy.aux_head == 12 && copy.aux_tail == 13);
	ck_assert(copy.aux_offset == 14 && copy.aux_size == 15 && copy.time_mult == 16);
	ck_assert(copy.time_shift == 17 && copy.cap_user_time_zero && copy.cap_user_rdpmc);
	ck_assert(!copy.cap_user_time && !copy.cap_user_time_short && copy.cap_bit0_is_deprecated);
	ck_assert(copy.lock == 2 && copy.index == 4 && copy.offset == 1000 && copy.pmc_width == 48);
	ck_assert(copy.time_enabled == 700 && copy.time_running == 500);
}

TEST(clocks_go_both_ways)
{
	/* A TSC of 2.9 GHz, as the kernel writes it; and CNTVCT of 62.5 MHz. */
	const struct sp_clock clocks[] = {
		{.zero = 123456789, .mult = 370275, .shift = 30, .mask = ~UINT64_C(0)},
		{.zero = 123456789, .mult = 1480996, .shift = 32, .mask = ~UINT64_C(0)},
		{.zero = 0, .mult = 16 << 20, .shift = 20, .mask = ~UINT64_C(0)},
		{.zero = 5, .mult = 0xa7c5ac47, .shift = 31, .mask = ~UINT64_C(0)},
	};
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		for (uint64_t stamp = 1; stamp < UINT64_C(1) << 56; stamp = stamp * 7 + 3) {
			uint64_t ns = sp_clock_to_ns(&clocks[i], stamp);
			uint64_t back = sp_clock_to_cycles(&clocks[i], ns);
			/* No later, and the same ns. */
			ck_assert_uint_le(back, stamp);
			ck_assert_uint_eq(sp_clock_to_ns(&clocks[i], back), ns);
		}
	const struct sp_clock narrow = {.mult = 2, .shift = 1, .narrow = true,
					.cycles = UINT64_C(0x500000000), .mask = 0xffffffff};
	ck_assert_uint_eq(sp_clock_to_ns(&narrow, 0x10), UINT64_C(0x500000010));
}
