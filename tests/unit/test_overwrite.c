/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/overwrite/overwrite.h"
#include "record/note.h"
#include "test.h"

enum { SIZE = 4096, CPUS = 2, RECORD = 64, WHOLE_RING = SIZE / RECORD };

#define SECOND UINT64_C(1000000000)

/* Rings in overwrite mode, filled by a producer that keeps the kernel's rules, and a clock. */
struct fixture {
	struct perf_event_mmap_page pages[CPUS];
	uint8_t data[CPUS][SIZE];
	struct ring rings[CPUS];
	bool paused[CPUS];
	int pauses;
	uint64_t now_ns;
	struct overwrite overwrite;
	struct record_buffer notes;
};

static void pause_ring(void *arg, size_t cpu_index, bool pause)
{
	struct fixture *f = arg;
	ck_assert(f->paused[cpu_index] != pause);
	f->paused[cpu_index] = pause;
	f->pauses += pause;
}

static uint64_t now_of(void *arg)
{
	return ((struct fixture *)arg)->now_ns;
}

static void set_up(struct fixture *f, uint64_t shift_ns)
{
	*f = (struct fixture){.overwrite = {.on = true}, .now_ns = shift_ns};
	struct overwrite_options options = {.rings = f->rings, .count = CPUS, .shift_ns = shift_ns,
					    .pause = pause_ring, .now = now_of, .arg = f};
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED, &options.fields));
	for (size_t i = 0; i < CPUS; i++)
		ring_init_memory(&f->rings[i], &f->pages[i], f->data[i], SIZE);
	ok_or_fail(overwrite_start(&f->overwrite, &options));
}

static void tear_down(struct fixture *f)
{
	overwrite_deinit(&f->overwrite);
	vec_deinit(&f->notes);
}

/* Samples of a CPU, one in a second. */
static void produce(struct fixture *f, size_t cpu, uint64_t first_s, uint64_t last_s)
{
	const struct record_fields *fields = &f->overwrite.options.fields;
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = RECORD};
	for (uint64_t second = first_s; second <= last_s; second++) {
		uint64_t words[RECORD / 8] = {0}, head = f->pages[cpu].data_head - RECORD;
		memcpy(words, &header, sizeof(header));
		words[fields->sample_time / 8] = second * SECOND;
		memcpy(f->data[cpu] + (head & (SIZE - 1)), words, RECORD);
		f->pages[cpu].data_head = head;
	}
}

/* Dumps a CPU's samples since `from_ns`: these, and no others, in order. */
static void dump_has(struct fixture *f, size_t cpu, uint64_t from_ns, uint64_t first_s, uint64_t last_s)
{
	struct overwrite_records records;
	struct record_values values;
	overwrite_read(&f->overwrite, cpu, from_ns, &records);
	ck_assert_uint_eq(records.damaged, 0);
	ck_assert_uint_eq(records.end - records.ring.tail, (last_s + 1 - first_s) * RECORD);
	for (uint64_t at = records.ring.tail; at < records.end; at += RECORD) {
		ck_assert(record_values_read(&records.ring, at, records.end, &f->overwrite.options.fields,
					     &values));
		ck_assert_uint_eq(values.time_ns, first_s++ * SECOND);
	}
}

/* The note has these spans, and this number of bytes that are lacking. */
static void has_note(struct fixture *f, uint64_t least_s, uint64_t most_s, uint64_t lacking)
{
	const struct note_records to = {&f->notes, f->now_ns};
	const struct sp_note note = NOTE_OF(NOTE_OVERWRITTEN, NULL, least_s * SECOND, most_s * SECOND, CPUS,
					    lacking / 1000);
	struct record_buffer wanted = {0};
	f->notes.count = 0;
	ck_assert_uint_eq(f->overwrite.overwritten, lacking);
	ok_or_fail(overwrite_note(&f->overwrite, &to));
	ok_or_fail(notes_write_once(&(struct note_records){&wanted, f->now_ns}, note));
	ck_assert_uint_eq(f->notes.count, wanted.count);
	ck_assert(!memcmp(f->notes.items, wanted.items, wanted.count));
	vec_deinit(&wanted);
}

/* With many CPUs, the first ring is older than the window when the last one has been copied. */
TEST(a_dump_keeps_the_window_of_its_beginning)
{
	struct fixture f;
	struct live_state live_state = {0};
	set_up(&f, 0);
	f.overwrite.window_ns = SECOND;
	f.now_ns = 5 * SECOND;
	overwrite_begin_dump(&f.overwrite, UINT64_MAX);
	f.now_ns = 8 * SECOND;
	ok_or_fail(overwrite_expire(&f.overwrite, &live_state));
	ck_assert_uint_eq(live_state.base_ns, 4 * SECOND);
	/* After it, the window moves on. */
	overwrite_end_dump(&f.overwrite);
	ok_or_fail(overwrite_expire(&f.overwrite, &live_state));
	ck_assert_uint_eq(live_state.base_ns, 7 * SECOND);
	live_state_deinit(&live_state);
	tear_down(&f);
}

TEST(each_dump_has_the_samples_since_the_last_one)
{
	struct fixture f;
	set_up(&f, 0);
	produce(&f, 0, 1, 9);
	produce(&f, 1, 1, 5);
	f.now_ns = 10 * SECOND;
	overwrite_begin_dump(&f.overwrite, UINT64_MAX);
	ck_assert_int_eq(f.pauses, CPUS);
	dump_has(&f, 0, 0, 1, 9);
	dump_has(&f, 1, 0, 1, 5);
	overwrite_end_dump(&f.overwrite);
	has_note(&f, 10, 10, 0);
	produce(&f, 0, 10, 12);
	f.now_ns = 13 * SECOND;
	overwrite_begin_dump(&f.overwrite, UINT64_MAX);
	dump_has(&f, 0, 0, 10, 12);
	dump_has(&f, 1, 0, 6, 5);
	overwrite_end_dump(&f.overwrite);
	has_note(&f, 3, 3, 0);
	tear_down(&f);
}

TEST(samples_older_than_the_live_state_are_left_out)
{
	struct fixture f;
	set_up(&f, 100 * SECOND);
	produce(&f, 0, 1, 9);
	f.now_ns = 110 * SECOND;
	overwrite_begin_dump(&f.overwrite, UINT64_MAX);
	/* Records are not yet shifted to the time that the live state has. */
	dump_has(&f, 0, 104 * SECOND, 4, 9);
	dump_has(&f, 1, 104 * SECOND, 1, 0);
	overwrite_end_dump(&f.overwrite);
	has_note(&f, 6, 6, 3 * RECORD);
	tear_down(&f);
}

TEST(a_ring_that_was_overwritten_covers_the_time_since_its_first_sample)
{
	struct fixture f;
	set_up(&f, 0);
	produce(&f, 0, 1, 50 + WHOLE_RING);
	produce(&f, 1, 1, 1);
	f.now_ns = (50 + WHOLE_RING) * SECOND;
	overwrite_begin_dump(&f.overwrite, UINT64_MAX);
	dump_has(&f, 0, 0, 51, 50 + WHOLE_RING);
	dump_has(&f, 1, 0, 1, 1);
	overwrite_end_dump(&f.overwrite);
	has_note(&f, WHOLE_RING - 1, WHOLE_RING + 50, 50 * RECORD);
	produce(&f, 0, 51 + WHOLE_RING, 52 + WHOLE_RING);
	f.now_ns += 2 * SECOND;
	overwrite_begin_dump(&f.overwrite, UINT64_MAX);
	dump_has(&f, 0, 0, 51 + WHOLE_RING, 52 + WHOLE_RING);
	dump_has(&f, 1, 0, 2, 1);
	overwrite_end_dump(&f.overwrite);
	has_note(&f, 2, 2, 0);
	tear_down(&f);
}

/* A ring without memory for its copy stays paused until it is read, or until the dump ends. */
TEST(rings_without_a_copy_are_paused_until_the_dump_ends)
{
	struct fixture f;
	set_up(&f, 0);
	produce(&f, 0, 1, 3);
	overwrite_begin_dump(&f.overwrite, 0);
	ck_assert(f.paused[0] && f.paused[1]);
	dump_has(&f, 0, 0, 1, 3);
	ck_assert(!f.paused[0] && f.paused[1]);
	overwrite_end_dump(&f.overwrite);
	ck_assert(!f.paused[1]);
	tear_down(&f);
}
