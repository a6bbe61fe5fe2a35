/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces from areas in memory to the file, and the description of the PMU. */
#include "capture/output/auxtrace.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "base/io.h"
#include "file/file_format.h"
#include "files.h"
#include "reader/feature_payloads.h"
#include "recording.h"
#include "root.h"

#define PMUS "/sys/bus/event_source/devices"

static void put_pmu(struct root *root, const char *name, const char *type)
{
	char path[128];
	snprintf(path, sizeof(path), PMUS "/%s/type", name);
	root_put(root, path, type);
}

static struct auxtrace_pmu pmu_of(const struct root *root, uint32_t type, uint64_t config)
{
	const struct perf_event_attr attr = {.type = type, .config = config};
	return auxtrace_pmu_of(root->ctx, &attr);
}

TEST(tracepoint_formats_pmus_are_known_by_their_names)
{
	ROOT root;
	root_init(&root);
	ck_assert_ptr_null(auxtrace_pmus_here(root.ctx));
	put_pmu(&root, "software", "1\n");
	put_pmu(&root, "intel_ptx", "11\n");
	ck_assert_ptr_null(auxtrace_pmus_here(root.ctx));
	put_pmu(&root, "intel_pt", "8\n");
	put_pmu(&root, "arm_spe_0", "9\n");
	put_pmu(&root, "cpum_sf", "10\n");
	ck_assert_int_eq(pmu_of(&root, 8, 0).type, AUXTRACE_INTEL_PT);
	ck_assert_str_eq(pmu_of(&root, 9, 0).name, "arm_spe_0");
	ck_assert_int_eq(pmu_of(&root, 10, 0xb0000).type, AUXTRACE_NONE);
	ck_assert_int_eq(pmu_of(&root, 10, 0xbd000).type, AUXTRACE_S390_CPUMSF);
	ck_assert_int_eq(pmu_of(&root, 11, 0).type, AUXTRACE_NONE);
	ck_assert_int_eq(pmu_of(&root, 1, 8).type, AUXTRACE_NONE);
	char *list = auxtrace_pmus_here(root.ctx);
	ck_assert_ptr_nonnull(strstr(list, "intel_pt"));
	free(list);
}

static const struct perf_event_mmap_page clock_page = {
	.time_shift = 31, .time_mult = 1234, .time_zero = 5678, .cap_user_time_zero = 1,
};

/* The words behind type and padding; their number. */
static size_t words_of(struct root *root, enum auxtrace_type type, const char *name,
		       uint64_t *words)
{
	static const struct auxtrace_settings settings = {.snapshot = true, .switches = 3};
	struct record_buffer buffer = {0};
	struct auxtrace_pmu pmu = {.type = type, .number = 8};
	struct perf_event_header header;
	uint32_t said;
	snprintf(pmu.name, sizeof(pmu.name), "%s", name);
	ok_or_fail(auxtrace_put_info(root->ctx, &pmu, &clock_page, &settings, &buffer));
	memcpy(&header, buffer.items, sizeof(header));
	memcpy(&said, buffer.items + 8, sizeof(said));
	ck_assert_uint_eq(header.type, SP_RECORD_AUXTRACE_INFO);
	ck_assert_uint_eq(header.size, buffer.count);
	ck_assert_uint_eq(said, (uint32_t)type);
	memcpy(words, buffer.items + 16, buffer.count - 16);
	size_t count = (buffer.count - 16) / 8;
	vec_deinit(&buffer);
	return count;
}

/* Formats are intel_pt's of Linux 6.1; the order is that of perf's enum. */
TEST(intel_pts_words_are_in_perfs_order)
{
	ROOT root;
	uint64_t words[32];
	root_init(&root);
	put_pmu(&root, "intel_pt", "8\n");
	root_put(&root, PMUS "/intel_pt/format/tsc", "config:10\n");
	root_put(&root, PMUS "/intel_pt/format/noretcomp", "config:11\n");
	root_put(&root, PMUS "/intel_pt/format/mtc", "config:9\n");
	root_put(&root, PMUS "/intel_pt/format/mtc_period", "config:14-17\n");
	root_put(&root, PMUS "/intel_pt/format/cyc", "config:1\n");
	root_put(&root, PMUS "/intel_pt/max_nonturbo_ratio", "28\n");
	ck_assert_uint_eq(words_of(&root, AUXTRACE_INTEL_PT, "intel_pt", words), 17);
	const uint64_t wanted[] = {8, 31, 1234, 5678, 1, 0x400, 0x800, 3, 1, 1, 0x200, 0x3c000};
	for (size_t i = 0; i < 12; i++)
		ck_assert_uint_eq(words[i], wanted[i]);
	/* 12 and 13 are this processor's. */
	ck_assert_uint_eq(words[14], 2);
	ck_assert_uint_eq(words[15], 28);
	ck_assert_uint_eq(words[16], 0);
}

TEST(other_pmus_have_fewer_words)
{
	ROOT root;
	uint64_t words[32];
	struct record_buffer buffer = {0};
	root_init(&root);
	ck_assert_uint_eq(words_of(&root, AUXTRACE_INTEL_BTS, "intel_bts", words), 6);
	ck_assert_uint_eq(words[5], 1);
	ck_assert_uint_eq(words_of(&root, AUXTRACE_ARM_SPE, "arm_spe_0", words), 2);
	ck_assert_uint_eq(words[1], 1);
	ck_assert_uint_eq(words_of(&root, AUXTRACE_HISI_PTT, "hisi_ptt0", words), 1);
	ck_assert_uint_eq(words[0], 8);
	ck_assert_uint_eq(words_of(&root, AUXTRACE_S390_CPUMSF, "cpum_sf", words), 0);
	const struct auxtrace_pmu etm = {.type = AUXTRACE_CS_ETM, .name = "cs_etm"};
	fails_with(SP_ERROR_UNSUPPORTED,
		   auxtrace_put_info(root.ctx, &etm, &clock_page, NULL, &buffer));
	ck_assert_uint_eq(buffer.count, 0);
	vec_deinit(&buffer);
}

/* -- From an area to the file ---------------------------------------------- */

#define SIZE ((size_t)16384)
#define TOTAL ((uint64_t)1 << 20)

static struct perf_event_mmap_page page;
static uint8_t memory[SIZE], produced[TOTAL];

static void *produce(void *arg)
{
	uint64_t head = 0;
	unsigned int seed = 7;
	(void)arg;
	while (head < TOTAL) {
		uint64_t tail = __atomic_load_n(&page.aux_tail, __ATOMIC_ACQUIRE);
		uint64_t room = SIZE - (head - tail), size = (uint64_t)rand_r(&seed) % 5000 + 1;
		size = size > room ? room : size;
		size = size > TOTAL - head ? TOTAL - head : size;
		if (!size)
			sched_yield();
		for (uint64_t i = 0; i < size; i++)
			memory[(head + i) % SIZE] = produced[head + i];
		head += size;
		__atomic_store_n(&page.aux_head, head, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The traces in the file, one behind the other, are what was produced. */
static void check_file(const char *path, size_t samples)
{
	struct file_header header;
	char *bytes;
	size_t size, found = 0;
	ck_assert_int_eq(io_read_file(path, &bytes, &size), 0);
	memcpy(&header, bytes, sizeof(header));
	struct sp_reader *reader;
	const struct sp_record *record;
	ok_or_fail(sp_reader_open(NULL, path, &reader));
	struct sp_bytes index = reader_feature(reader, FEATURE_AUXTRACE);
	uint64_t count, position = 0, place[2];
	ck_assert_uint_ge(index.size, 8);
	memcpy(&count, index.bytes, 8);
	ck_assert_uint_eq(index.size, 8 + 16 * count);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t words[3];
		memcpy(place, index.bytes + 8 + 16 * i, sizeof(place));
		struct perf_event_header at;
		memcpy(&at, bytes + place[0], sizeof(at));
		if (at.type != SP_RECORD_AUXTRACE || at.size != place[1] || place[0] % 8)
			ck_abort_msg("no AUXTRACE where the index says");
		memcpy(words, bytes + place[0] + 8, sizeof(words));
		ck_assert_uint_eq(words[0] % 8, 0);
		ck_assert_uint_eq(words[1], position);
		uint64_t left = TOTAL - position < words[0] ? TOTAL - position : words[0];
		/* Up to 7 bytes are padding: the next offset says how many. */
		if (i + 1 < count) {
			memcpy(place, index.bytes + 8 + 16 * (i + 1), sizeof(place));
			memcpy(&left, bytes + place[0] + 16, sizeof(left));
			left -= position;
			ck_assert_uint_le(words[0] - left, 7);
		}
		memcpy(place, index.bytes + 8 + 16 * i, sizeof(place));
		if (memcmp(bytes + place[0] + 48, produced + position, left) != 0)
			ck_abort_msg("the trace from %llu on is another", (unsigned long long)position);
		position += left;
	}
	ck_assert_uint_eq(position, TOTAL);
	for (;;) {
		ok_quietly(sp_reader_next(reader, &record));
		if (!record)
			break;
		found += record->type == PERF_RECORD_SAMPLE;
	}
	ck_assert_uint_eq(found, samples);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
	free(bytes);
}

static void through_an_area(const char *path, int level)
{
	const struct write_queue_options options = {.memory_bytes = 64 << 20, .sample_id_at = 8,
						    .sample_cpu_at = 40};
	const struct writer_end end = {0};
	struct writer_info info = recording_info;
	struct auxtrace_area area = {.index = 0, .cpu = 0, .tid = -1};
	struct record_buffer buffer = {0};
	struct write_queue *write_queue;
	struct writer *writer;
	pthread_t thread;
	size_t samples = 0;
	page = (struct perf_event_mmap_page){0};
	for (uint64_t i = 0; i < TOTAL; i++)
		produced[i] = (uint8_t)(i * 131 + (i >> 9));
	aux_init_memory(&area.aux, &page, memory, SIZE, false);
	info.compression_level = level;
	ok_or_fail(write_queue_new(&options, &write_queue));
	ok_or_fail(writer_open(path, recording_events, 2, &info, &writer));
	write_queue_begin(write_queue, writer);
	ck_assert_int_eq(pthread_create(&thread, NULL, produce, NULL), 0);
	while (area.aux.tail < TOTAL) {
		uint64_t taken;
		recording_put_sample(&buffer, RECORDING_START + samples, 1000 + samples);
		samples++;
		struct iovec span = {buffer.items, buffer.count};
		ok_quietly(write_queue_write(write_queue, &span, 1));
		buffer.count = 0;
		ok_quietly(auxtrace_drain(&area, write_queue, &taken));
		ok_quietly(write_queue_commit(write_queue));
	}
	pthread_join(thread, NULL);
	ok_or_fail(write_queue_end(write_queue));
	/* A disk that takes its time makes the queue full of parts that hold one sample each. */
	samples -= write_queue_counts(write_queue).dropped;
	write_queue_free(write_queue);
	ok_or_fail(writer_close(writer, &end));
	check_file(path, samples);
	vec_deinit(&buffer);
}

TEST(all_that_is_traced_is_in_the_file)
{
	through_an_area(files_path("data"), 0);
}

#ifdef HAVE_ZSTD
TEST(traces_are_not_compressed)
{
	through_an_area(files_path("data"), 1);
}
#endif

/* The kernel then stops tracing, and says so. */
TEST(a_full_queue_accepts_nothing)
{
	const struct write_queue_options options = {.memory_bytes = 1 << 20};
	static uint8_t area_memory[1 << 20];
	struct auxtrace_area area = {.tid = -1};
	struct write_queue *write_queue;
	uint64_t taken;
	aux_init_memory(&area.aux, &page, area_memory, sizeof(area_memory), false);
	ok_or_fail(write_queue_new(&options, &write_queue));
	/* No writer: what is queued stays there. */
	page.aux_head = 700000;
	ok_or_fail(auxtrace_drain(&area, write_queue, &taken));
	ck_assert_uint_eq(taken, 700000);
	ck_assert_uint_eq(page.aux_tail, 700000);
	page.aux_head = 1400000;
	ok_or_fail(auxtrace_drain(&area, write_queue, &taken));
	ck_assert_uint_eq(taken, 0);
	ck_assert_uint_eq(page.aux_tail, 700000);
	write_queue_free(write_queue);
}
