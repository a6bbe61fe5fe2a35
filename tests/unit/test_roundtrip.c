/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode(encode(record)) is the record, and encode(decode(bytes)) the bytes: for
 * records made here of all types, and for those of real recordings, where perf
 * and kernels of fifteen years wrote the bytes.
 */
#include <sprof/reader.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "files.h"
#include "record/decode.h"
#include "record/record_length.h"
#include "record/note.h"
#include "record/types.h"
#include "recording.h"

/* The bytes of `record`, decoded and encoded again, are the same bytes. */
static void stays(const struct sp_record *record, const struct sp_event *event)
{
	struct record_buffer first = {0}, second = {0};
	struct record_layout layout = {event, 1, false, "made-up"};
	struct decoder *decoder;
	struct sp_record decoded;
	ok_or_fail(record_encode(&first, record, &event->attr));
	ok_or_fail(decoder_new(&layout, &decoder));
	struct raw_record raw = {record->type, record->misc, first.count, first.items, 0};
	/* The encoder may have set a bit of misc. */
	memcpy(&raw.misc, first.items + 4, sizeof(raw.misc));
	ok_or_fail(decoder_decode(decoder, &raw, &decoded));
	ok_or_fail(record_encode(&second, &decoded, &event->attr));
	ck_assert_msg(first.count == second.count &&
		      !memcmp(first.items, second.items, first.count), "type %u", record->type);
	decoder_free(decoder);
	vec_deinit(&first);
	vec_deinit(&second);
}

#define ID_TYPES                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

TEST(records_without_samples)
{
	const struct sp_event event = {
		.name = "x",
		.attr = {.size = 128, .sample_type = ID_TYPES, .sample_id_all = 1,
			 .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST},
	};
	const struct sp_sample_id id = {ID_TYPES, 1, 2, 3, 4, 5, 6};
	const struct sp_counter value = {1, 4, 3};
	const struct sp_namespace spaces[] = {{1, 2}, {3, 4}, {5, 6}};
	const uint64_t words[] = {7, 8, 9};
	const struct sp_bytes text = {(const uint8_t *)"some text", 9};
	const struct sp_record records[] = {
		{.type = PERF_RECORD_MMAP, .misc = 1, .id = id, .mmap = {1, 2, 3, 4, 5, "/some/file"}},
		{.type = PERF_RECORD_MMAP2, .misc = 2, .id = id,
		 .mmap = {1, 2, 3, 4, 5, "/exactly", 6, 7, 8, 9, 10, 11}},
		{.type = PERF_RECORD_MMAP2, .misc = 2, .id = id,
		 .mmap = {1, 2, 3, 4, 5, "/a", 6, 7, .build_id = "0123456789abcdef",
			  .build_id_size = 16}},
		{.type = PERF_RECORD_COMM, .misc = 0x2000, .id = id, .comm = {1, 2, "comm"}},
		{.type = PERF_RECORD_FORK, .id = id, .task = {1, 2, 3, 4, 5}},
		{.type = PERF_RECORD_EXIT, .id = id, .task = {1, 2, 3, 4, 5}},
		{.type = PERF_RECORD_LOST, .id = id, .lost = {4, 5}},
		{.type = PERF_RECORD_LOST_SAMPLES, .id = id, .lost = {4, 5}},
		{.type = PERF_RECORD_THROTTLE, .id = id, .throttle = {1, 2, 3}},
		{.type = PERF_RECORD_UNTHROTTLE, .id = id, .throttle = {1, 2, 3}},
		{.type = PERF_RECORD_READ, .id = id, .read = {1, 2, {.values = &value, .count = 1}}},
		{.type = PERF_RECORD_AUX, .id = id, .aux = {1, 2, 3}},
		{.type = PERF_RECORD_SWITCH, .misc = 0x2000, .id = id},
		{.type = PERF_RECORD_SWITCH_CPU_WIDE, .id = id, .context_switch = {1, 2}},
		{.type = PERF_RECORD_NAMESPACES, .id = id, .namespaces = {1, 2, spaces, 3}},
		{.type = PERF_RECORD_KSYMBOL, .id = id, .ksymbol = {1, 2, 3, 4, "bpf_prog_1"}},
		{.type = PERF_RECORD_BPF_EVENT, .id = id, .bpf_event = {1, 2, 3, "tagtagt"}},
		{.type = PERF_RECORD_CGROUP, .id = id, .cgroup = {1, "/user.slice"}},
		{.type = PERF_RECORD_TEXT_POKE, .id = id, .text_poke = {1, text, {text.bytes, 4}}},
		{.type = 22, .id = id, .deferred = {1, words, 3}},
		{.type = SP_RECORD_HEADER_ATTR, .attr = {{.size = 112, .config = 3}, words, 3}},
		{.type = SP_RECORD_HEADER_BUILD_ID, .misc = 0x8002,
		 .build_id = {1, "0123456789abcdef", 16, "/some/file"}},
		{.type = SP_RECORD_HEADER_FEATURE, .feature = {3, text}},
		{.type = SP_RECORD_EVENT_UPDATE, .event_update = {2, 4, text}},
		{.type = SP_RECORD_FINISHED_ROUND},
		{.type = SP_RECORD_FINISHED_INIT},
	};
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
		stays(&records[i], &event);
}

TEST(samples_of_each_field_and_of_all)
{
	const uint64_t words[] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct sp_counter values[] = {{1, 2, 3}, {4, 5, 6}};
	const struct sp_branch branches[] = {{1, 2, 3}, {4, 5, 6}};
	const struct sp_bytes text = {(const uint8_t *)"16 bytes of text", 16};
	const struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.sample = {
			.ip = 1, .pid = 2, .tid = 3, .time_ns = 4, .addr = 5, .id = 6, .stream_id = 7,
			.cpu = 8, .period = 9, .ips = words, .ip_count = 8, .raw = text,
			.counters = {.time_enabled_ns = 1, .time_running_ns = 2, .values = values,
				     .count = 2},
			.branches = branches, .branch_count = 2, .branch_hw_index = 10,
			.branch_counters = words, .stack = text, .stack_dyn_size = 8,
			.user_registers = {PERF_SAMPLE_REGS_ABI_64, 0x81, words, 2},
			.interrupt_registers = {PERF_SAMPLE_REGS_ABI_32, 0x11, words, 2},
			.weight = 11, .data_src = 12, .transaction = 13, .phys_addr = 14,
			.cgroup = 15, .data_page_size = 16, .code_page_size = 17, .aux = text,
		},
	};
	/* Each bit of sample_type alone, the last time all. */
	for (unsigned int bit = 0; bit <= 25; bit++) {
		uint64_t types = bit == 25 ? (1U << 25) - 1 : 1U << bit;
		if (bit == 25)
			types &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
		struct sp_event event = {
			.name = "x",
			.attr = {.size = 128, .sample_type = types,
				 .read_format = bit % 2 ? PERF_FORMAT_ID : PERF_FORMAT_GROUP |
						PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
				 .branch_sample_type = bit % 2 ? 1U << 19 :
						       PERF_SAMPLE_BRANCH_HW_INDEX,
				 .sample_regs_user = 0x81, .sample_regs_intr = 0x11},
		};
		stays(&record, &event);
	}
}

static void topology_comes_back(const struct writer_info *info, size_t places, bool dies)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct writer *writer;
	const char *path = files_path("data");
	ok_or_fail(writer_open(path, recording_events, 2, info, &writer));
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	const struct sp_file_info *got = sp_reader_info(reader);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	ck_assert_uint_eq(got->topology.place_count, places);
	for (size_t i = 0; i < places; i++) {
		ck_assert_int_eq(got->topology.places[i].core, info->topology.places[i].core);
		ck_assert_int_eq(got->topology.places[i].package, info->topology.places[i].package);
		ck_assert_int_eq(got->topology.places[i].die,
				 dies ? info->topology.places[i].die : -1);
	}
	ck_assert(!got->topology.packages == !places && !got->topology.dies == !dies);
	if (places) {
		ck_assert_pstr_eq(got->topology.packages[0], "0-1");
		ck_assert_ptr_null(got->topology.packages[1]);
		ck_assert_pstr_eq(got->topology.cores[1], "1");
		ck_assert_ptr_null(got->topology.cores[2]);
	}
	ck_assert_uint_eq(got->numa_node_count, 1);
	ck_assert_uint_eq(sp_file_numa_node(got, 0)->node, 3);
	ck_assert_uint_eq(sp_file_numa_node(got, 0)->total_kb, 1000);
	ck_assert_uint_eq(sp_file_numa_node(got, 0)->free_kb, 10);
	ck_assert_pstr_eq(sp_file_numa_node(got, 0)->cpus, "0-1");
	sp_reader_free(reader);
	sp_ctx_free(ctx);
}

TEST(a_topology_comes_back)
{
	static const char *const packages[] = {"0-1", NULL}, *const cores[] = {"0", "1", NULL};
	static const struct sp_cpu_place places[] = {{0, 5, 1}, {-1, -1, -1}};
	static const struct sp_numa_node node = {3, 1000, 10, "0-1"};
	struct writer_info info = recording_info;
	info.cpus_available = info.cpus_online = 2;
	info.topology = (struct sp_cpu_topology){packages, cores, packages, places, 2};
	info.numa_nodes = &node;
	info.numa_node_count = 1;
	topology_comes_back(&info, 2, true);
	info.topology.dies = NULL;
	topology_comes_back(&info, 2, false);
	info.cpus_available = 3; /* readers would take three places */
	topology_comes_back(&info, 0, false);
}

TEST(a_note_comes_back)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct sp_record *record;
	struct record_buffer buffer = {0};
	const char *path = files_path("data");
	size_t notes = 0;
	struct sp_note note;
	struct writer *writer = recording_open(path);
	ok_or_fail(record_encode_note(&buffer, &(struct sp_note){.text = "rings were grown",
				.size = strlen("rings were grown"), .time_ns = 77}));
	ok_or_fail(recording_write(writer, &buffer));
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, path, &reader));
	for (;;) {
		ok_or_fail(sp_reader_next(reader, &record));
		if (!record)
			break;
		if (!sp_record_note(record, &note))
			continue;
		notes++;
		ck_assert_uint_eq(note.size, strlen("rings were grown"));
		ck_assert_mem_eq(note.text, "rings were grown", note.size);
		ck_assert_uint_eq(note.time_ns, 77);
	}
	ck_assert_uint_eq(notes, 1);
	ck_assert_uint_eq(sp_reader_damage_count(reader), 0);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	vec_deinit(&buffer);
}

/* -- Real recordings --------------------------------------------------------- */

struct tally {
	size_t files, samples, others;
};

/*
 * Returns whether the record is one that the writer supports, and has one encoding: some writers
 * pad strings of synthesized records with more zeros, or with stale memory.
 */
static bool is_comparable(const struct sp_reader *reader, const struct sp_record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		return false;
	case SP_RECORD_EVENT_UPDATE:
	case SP_RECORD_HEADER_ATTR:
	case SP_RECORD_HEADER_FEATURE:
	case SP_RECORD_FINISHED_ROUND:
	case SP_RECORD_FINISHED_INIT:
		/* Before 2020 perf did not pad features. */
		if (record->size % 8)
			return false;
		break;
	default:
		if (record->type >= SP_RECORD_HEADER_ATTR || record->event == SP_EVENT_NONE)
			return false;
	}
	return sp_reader_info(reader)->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Each is as long as it says, by what it holds: the writers of fifteen years agree. */
static void hold_length(const struct sp_reader *reader, const struct lengths *lengths,
			const struct sp_record *record, const char *path)
{
	const struct raw_record raw = {.type = record->type, .misc = record->misc,
				       .size = record->size, .bytes = record->bytes};
	bool swap = sp_reader_info(reader)->big_endian ==
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	size_t below[LENGTHS_MAX];
	if (record->type < RECORD_USER_TYPES && record->type != PERF_RECORD_SAMPLE &&
	    lengths_below(lengths, &raw, swap, below))
		ck_abort_msg("%s: offset 0x%llx: a record of type %u has %zu bytes, and not %zu",
			     path, (unsigned long long)record->file_offset, record->type,
			     record->size, below[0]);
}

static void compare(struct sp_reader *reader, const char *path, struct tally *tally)
{
	size_t events = sp_reader_event_count(reader);
	const struct lengths lengths = lengths_of(sp_reader_event(reader, 0), events);
	struct record_buffer buffer = {0};
	const struct sp_record *record;
	for (;;) {
		struct sp_error *damage = sp_reader_next(reader, &record);
		sp_error_free(damage);
		if (!damage && !record)
			break;
		if (!damage)
			hold_length(reader, &lengths, record, path);
		if (damage || !is_comparable(reader, record))
			continue;
		const struct sp_event *event =
			record->event == SP_EVENT_NONE ? NULL : sp_reader_event(reader, record->event);
		ok_quietly(record_encode(&buffer, record, event ? &event->attr : NULL));
		if (buffer.count != record->size ||
		    memcmp(buffer.items, record->bytes, record->size) != 0)
			ck_abort_msg("%s: offset 0x%llx: a record of type %u", path,
				     (unsigned long long)record->file_offset, record->type);
		tally->samples += record->type == PERF_RECORD_SAMPLE;
		tally->others += record->type != PERF_RECORD_SAMPLE;
		buffer.count = 0;
	}
	vec_deinit(&buffer);
}

static void compare_file(const char *path, struct tally *tally)
{
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	ok_quietly(sp_ctx_new(&ctx));
	struct sp_error *error = sp_reader_open(ctx, path, &reader);
	if (!error) {
		tally->files++;
		compare(reader, path, tally);
		sp_reader_free(reader);
	}
	sp_error_free(error);
	sp_ctx_free(ctx);
}

TEST(records_of_real_recordings)
{
	struct tally tally = {0};
	char path[4096];
	const char *corpus = getenv("SPROF_CORPUS"), *sources = getenv("top_srcdir");
	char found[4096], command[5000];
	snprintf(found, sizeof(found), "%s/../shared/corpus", sources ?: ".");
	if (access(corpus ?: found, F_OK) < 0)
		skip_test("needs the recordings of SPROF_CORPUS");
	/* Files that do not open belong to the reader's test; damaged ones are in `malformed`. */
	snprintf(command, sizeof(command),
		 "find '%s' -type f -not -path '*/malformed/*' -not -path '*.oracle/*' "
		 "-not -name '*.gz'", corpus ?: found);
	FILE *paths = popen(command, "r");
	ck_assert_ptr_nonnull(paths);
	while (fgets(path, sizeof(path), paths)) {
		path[strcspn(path, "\n")] = 0;
		compare_file(path, &tally);
	}
	pclose(paths);
	/* Hardly any are of a big-endian machine. */
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	ck_assert_uint_gt(tally.files, 50);
	ck_assert_uint_gt(tally.samples, little ? 40000 : 500);
	ck_assert_uint_gt(tally.others, little ? 1000 : 10);
}
