/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encoded bytes against the layouts of perf_event_open(2), written down here as
 * words. What perf makes of them is in test_written.c.
 */
#include <stdio.h>
#include <string.h>
#include "record/encode.h"
#include "record/kept.h"
#include "record/note.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A header as the u64 that it is on this host. */
static uint64_t header(uint32_t type, uint16_t misc, uint16_t size)
{
	struct perf_event_header bytes = {.type = type, .misc = misc, .size = size};
	uint64_t word;
	memcpy(&word, &bytes, sizeof(word));
	return word;
}

/* Two u32, in the order they are written. */
static uint64_t pair(uint32_t first, uint32_t second)
{
	uint32_t bytes[] = {first, second};
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Two u16. */
static uint32_t halves(uint16_t first, uint16_t second)
{
	uint16_t bytes[] = {first, second};
	uint32_t word;
	memcpy(&word, bytes, sizeof(word));
	return word;
}

static uint64_t text(const char *bytes)
{
	uint64_t word = 0;
	memcpy(&word, bytes, strnlen(bytes, sizeof(word)));
	return word;
}

static void encodes_as(const struct sp_record *record, const struct perf_event_attr *attr,
		       const uint64_t *words, size_t count)
{
	struct record_buffer buffer = {0};
	/* Not at the start: sizes and padding are relative to the record. */
	const struct sp_record first = {.type = SP_RECORD_FINISHED_INIT};
	ok_or_fail(record_encode(&buffer, &first, NULL));
	ok_or_fail(record_encode(&buffer, record, attr));
	ck_assert_uint_eq(buffer.count, 8 + 8 * count);
	for (size_t i = 0; i < count; i++) {
		uint64_t word;
		memcpy(&word, buffer.items + 8 + 8 * i, sizeof(word));
		ck_assert_msg(word == words[i], "type %u, word %zu: 0x%llx, not 0x%llx",
			      record->type, i, (unsigned long long)word,
			      (unsigned long long)words[i]);
	}
	vec_deinit(&buffer);
}

#define ENCODES_AS(record, attr, ...)                                         \
	do {                                                                  \
		const uint64_t words_[] = {__VA_ARGS__};                      \
		encodes_as(record, attr, words_, COUNT(words_));              \
	} while (0)

static const struct perf_event_attr full = {
	.sample_id_all = 1,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
};
static const struct perf_event_attr bare = {.sample_type = PERF_SAMPLE_TID};
static const struct sp_sample_id id = {
	.pid = 1, .tid = 2, .time_ns = 3, .id = 4, .stream_id = 5, .cpu = 6,
};

#define FULL_ID pair(1, 2), 3, 4, 5, pair(6, 0), 4

TEST(sample_id_is_of_the_attr)
{
	struct sp_record record = {.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
				   .comm = {7, 8, "prog"}, .id = id};
	ENCODES_AS(&record, &full, header(3, 0x2000, 72), pair(7, 8), text("prog"), FULL_ID);
	ENCODES_AS(&record, &bare, header(3, 0x2000, 24), pair(7, 8), text("prog"));
	ENCODES_AS(&record, NULL, header(3, 0x2000, 24), pair(7, 8), text("prog"));
}

TEST(strings_end_in_nul_and_fill_words)
{
	struct sp_record record = {.type = PERF_RECORD_COMM, .comm = {7, 8, "exactly8"}};
	ENCODES_AS(&record, NULL, header(3, 0, 32), pair(7, 8), text("exactly8"), 0);
	record.comm.comm = "";
	ENCODES_AS(&record, NULL, header(3, 0, 24), pair(7, 8), 0);
}

TEST(mappings)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.mmap = {.pid = -1, .tid = 0, .start = 0x1000, .size = 0x2000, .file_offset = 0x3000,
			 .filename = "/a/b", .maj = 9, .prot = 5},
	};
	ENCODES_AS(&record, NULL, header(1, 1, 48), pair(UINT32_MAX, 0), 0x1000, 0x2000, 0x3000,
		   text("/a/b"));
	record.type = PERF_RECORD_MMAP2;
	record.mmap = (struct sp_mmap){.pid = 1, .tid = 2, .start = 0x1000, .size = 0x2000,
				       .file_offset = 0x3000, .filename = "/a/b", .prot = 5,
				       .flags = 2, .maj = 8, .min = 1, .ino = 77,
				       .ino_generation = 78};
	/* A bit that would say otherwise is cleared. */
	record.misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;
	ENCODES_AS(&record, NULL, header(10, 2, 80), pair(1, 2), 0x1000, 0x2000, 0x3000,
		   pair(8, 1), 77, 78, pair(5, 2), text("/a/b"));
	record.misc = PERF_RECORD_MISC_USER;
	record.mmap.build_id_size = 20;
	memcpy(record.mmap.build_id, "ABCDEFGHIJKLMNOPQRST", 20);
	uint64_t size_and_start = 0;
	memcpy(&size_and_start, "\x14\0\0\0ABCD", 8);
	ENCODES_AS(&record, NULL, header(10, 2 | PERF_RECORD_MISC_MMAP_BUILD_ID, 80), pair(1, 2),
		   0x1000, 0x2000, 0x3000, size_and_start, text("EFGHIJKL"), text("MNOPQRST"),
		   pair(5, 2), text("/a/b"));
}

TEST(tasks_and_losses)
{
	struct sp_record record = {.type = PERF_RECORD_FORK, .task = {1, 2, 3, 4, 5}, .id = id};
	ENCODES_AS(&record, &full, header(7, 0, 80), pair(1, 2), pair(3, 4), 5, FULL_ID);
	record.type = PERF_RECORD_EXIT;
	ENCODES_AS(&record, NULL, header(4, 0, 32), pair(1, 2), pair(3, 4), 5);
	record = (struct sp_record){.type = PERF_RECORD_LOST, .lost = {11, 12}};
	ENCODES_AS(&record, NULL, header(2, 0, 24), 11, 12);
	record.type = PERF_RECORD_LOST_SAMPLES;
	ENCODES_AS(&record, NULL, header(13, 0, 16), 12);
	record = (struct sp_record){.type = PERF_RECORD_THROTTLE, .throttle = {1, 2, 3}};
	ENCODES_AS(&record, NULL, header(5, 0, 32), 1, 2, 3);
	record.type = PERF_RECORD_UNTHROTTLE;
	ENCODES_AS(&record, NULL, header(6, 0, 32), 1, 2, 3);
	record = (struct sp_record){.type = PERF_RECORD_SWITCH, .misc = 0x2000};
	ENCODES_AS(&record, NULL, header(14, 0x2000, 8));
	record = (struct sp_record){.type = PERF_RECORD_SWITCH_CPU_WIDE, .context_switch = {5, 6}};
	ENCODES_AS(&record, NULL, header(15, 0, 16), pair(5, 6));
}

TEST(the_rest_of_the_kernels_records)
{
	struct sp_namespace spaces[] = {{3, 100}, {3, 101}};
	struct sp_record record = {.type = PERF_RECORD_NAMESPACES, .namespaces = {1, 2, spaces, 2}};
	ENCODES_AS(&record, NULL, header(16, 0, 56), pair(1, 2), 2, 3, 100, 3, 101);
	record = (struct sp_record){.type = PERF_RECORD_KSYMBOL,
				    .ksymbol = {0xffff, 16, 1, 1, "bpf_prog"}};
	ENCODES_AS(&record, NULL, header(17, 0, 40), 0xffff, pair(16, 0x10001), text("bpf_prog"), 0);
	record = (struct sp_record){.type = PERF_RECORD_BPF_EVENT,
				    .bpf_event = {1, 0, 9, {1, 0, 0, 0, 0, 0, 0, 0}}};
	ENCODES_AS(&record, NULL, header(18, 0, 24), pair(halves(1, 0), 9),
		   text("\1"));
	record = (struct sp_record){.type = PERF_RECORD_CGROUP, .cgroup = {5, "/user"}};
	ENCODES_AS(&record, NULL, header(19, 0, 24), 5, text("/user"));
	record = (struct sp_record){.type = PERF_RECORD_AUX, .aux = {1, 2, 3}};
	ENCODES_AS(&record, NULL, header(11, 0, 32), 1, 2, 3);
	uint64_t ips[] = {10, 11};
	record = (struct sp_record){.type = 22, .deferred = {99, ips, 2}};
	ENCODES_AS(&record, NULL, header(22, 0, 40), 99, 2, 10, 11);
	record = (struct sp_record){
		.type = PERF_RECORD_TEXT_POKE,
		.text_poke = {0x100, {(const uint8_t *)"ab", 2}, {(const uint8_t *)"cdef", 4}},
	};
	uint64_t sizes_and_bytes[2] = {0};
	memcpy(sizes_and_bytes, (uint16_t[]){2, 4}, 4);
	memcpy((char *)sizes_and_bytes + 4, "abcdef", 6);
	ENCODES_AS(&record, NULL, header(20, 0, 32), 0x100, sizes_and_bytes[0], sizes_and_bytes[1]);
}

TEST(counters_alone_and_in_groups)
{
	struct sp_counter values[] = {{1, 2, 3}, {4, 5, 6}};
	struct perf_event_attr attr = {
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       PERF_FORMAT_ID | PERF_FORMAT_LOST,
	};
	struct sp_record record = {
		.type = PERF_RECORD_READ,
		.read = {7, 8, {.time_enabled_ns = 20, .time_running_ns = 10, .values = values,
				.count = 1}},
	};
	ENCODES_AS(&record, &attr, header(8, 0, 56), pair(7, 8), 1, 20, 10, 2, 3);
	attr.read_format |= PERF_FORMAT_GROUP;
	record.read.counters.count = 2;
	ENCODES_AS(&record, &attr, header(8, 0, 88), pair(7, 8), 2, 20, 10, 1, 2, 3, 4, 5, 6);
	attr.read_format = 0;
	record.read.counters.count = 1;
	ENCODES_AS(&record, &attr, header(8, 0, 24), pair(7, 8), 1);
}

TEST(a_plain_sample)
{
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.sample = {.ip = 0xabc, .pid = 1, .tid = 2, .time_ns = 3, .addr = 4, .id = 5,
			   .stream_id = 6, .cpu = 7, .period = 8},
	};
	struct perf_event_attr attr = {
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	};
	ENCODES_AS(&record, &attr, header(9, 2, 80), 5, 0xabc, pair(1, 2), 3, 4, 5, 6, pair(7, 0), 8);
	attr.sample_type = PERF_SAMPLE_IP;
	ENCODES_AS(&record, &attr, header(9, 2, 16), 0xabc);
}

TEST(a_sample_of_all_fields)
{
	const uint64_t ips[] = {PERF_CONTEXT_USER, 0x10, 0x20};
	const struct sp_branch branches[] = {{1, 2, 3}, {4, 5, 6}};
	const uint64_t branch_counters[] = {7, 8}, user[] = {30, 31}, interrupted[] = {40};
	const struct sp_counter value = {50, 0, 0};
	const struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.sample = {
			.counters = {.values = &value, .count = 1},
			.ips = ips, .ip_count = 3,
			.raw = {(const uint8_t *)"rawrawr", 7},
			.branches = branches, .branch_count = 2, .branch_hw_index = 9,
			.branch_counters = branch_counters,
			.user_registers = {PERF_SAMPLE_REGS_ABI_64, 3, user, 2},
			.stack = {(const uint8_t *)"stackstack", 10}, .stack_dyn_size = 5,
			.weight = 60, .data_src = 61, .transaction = 62,
			.interrupt_registers = {PERF_SAMPLE_REGS_ABI_64, 8, interrupted, 1},
			.phys_addr = 70, .cgroup = 71, .data_page_size = 72, .code_page_size = 73,
			.aux = {(const uint8_t *)"AUX", 3},
		},
	};
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
			       PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |
			       PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
			       PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |
			       PERF_SAMPLE_AUX,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | 1U << 19,
		.sample_regs_user = 3,
		.sample_regs_intr = 8,
	};
	uint64_t raw[2] = {0};
	memcpy(raw, (uint32_t[]){12}, 4);
	memcpy((char *)raw + 4, "rawrawr", 7);
	ENCODES_AS(&record, &attr, header(9, 0, 288), 50, 3, PERF_CONTEXT_USER, 0x10, 0x20, raw[0],
		   raw[1], 2, 9, 1, 2, 3, 4, 5, 6, 7, 8, PERF_SAMPLE_REGS_ABI_64, 30, 31, 16,
		   text("stacksta"), text("ck"), 5, 60, 61, 62, PERF_SAMPLE_REGS_ABI_64, 40, 70, 71,
		   72, 73, 8, text("AUX"));
}

TEST(empty_parts_of_a_sample)
{
	const struct sp_record record = {.type = PERF_RECORD_SAMPLE};
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX,
		.sample_regs_user = 3,
	};
	uint64_t raw = 0;
	memcpy(&raw, (uint32_t[]){4}, 4);
	/* No registers behind ABI_NONE, no dyn_size behind a stack of 0 bytes. */
	ENCODES_AS(&record, &attr, header(9, 0, 56), 0, raw, 0, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
}

TEST(records_of_perf_itself)
{
	uint64_t ids[] = {7, 8}, payload = 0;
	struct sp_record record = {
		.type = SP_RECORD_HEADER_ATTR,
		.attr = {.attr = {.type = 1, .size = 64, .config = 9}, .ids = ids, .id_count = 2},
	};
	/* Never a sample_id. */
	ENCODES_AS(&record, &full, header(64, 0, 88), pair(1, 64), 9, 0, 0, 0, 0, 0, 0, 7, 8);
	memcpy(&payload, "xyz", 3);
	record = (struct sp_record){.type = SP_RECORD_HEADER_FEATURE,
				    .feature = {3, {(const uint8_t *)"xyz", 3}}};
	ENCODES_AS(&record, &full, header(80, 0, 24), 3, payload);
	record = (struct sp_record){.type = SP_RECORD_FINISHED_ROUND};
	ENCODES_AS(&record, &full, header(68, 0, 8));
	record = (struct sp_record){.type = SP_RECORD_EVENT_UPDATE,
				    .event_update = {2, 7, {(const uint8_t *)"name", 5}}};
	ENCODES_AS(&record, &full, header(78, 0, 32), 2, 7, text("name"));
	record = (struct sp_record){
		.type = SP_RECORD_HEADER_BUILD_ID,
		.misc = 2,
		.build_id = {UINT32_MAX, "ABCDEFGHIJKLMNOPQRST", 20, "f"},
	};
	uint64_t first, last;
	memcpy(&first, "\xff\xff\xff\xff" "ABCD", 8);
	memcpy(&last, "\x14\0\0\0f\0\0\0", 8);
	ENCODES_AS(&record, &full, header(67, 2, 40), first, text("EFGHIJKL"), text("MNOPQRST"), last);
}

TEST(records_that_do_not_fit_are_rejected)
{
	struct record_buffer buffer = {0};
	const struct perf_event_attr chain = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	static uint64_t ips[8200];
	struct sp_record record = {.type = PERF_RECORD_SAMPLE, .sample = {.ips = ips}};
	ok_or_fail(record_encode(&buffer, &(struct sp_record){.type = PERF_RECORD_SWITCH}, NULL));

	record.sample.ip_count = (RECORD_SIZE_MAX - 16) / 8;
	ok_or_fail(record_encode(&buffer, &record, &chain));
	ck_assert_uint_eq(buffer.count, 8 + RECORD_SIZE_MAX);
	record.sample.ip_count++;
	fails_with(SP_ERROR_LIMIT, record_encode(&buffer, &record, &chain));
	ck_assert_uint_eq(buffer.count, 8 + RECORD_SIZE_MAX);

	const struct perf_event_attr registers = {.sample_type = PERF_SAMPLE_REGS_USER,
						  .sample_regs_user = 7};
	record.sample.user_registers = (struct sp_registers){PERF_SAMPLE_REGS_ABI_64, 7, ips, 2};
	fails_with(SP_ERROR_INVALID, record_encode(&buffer, &record, &registers));
	const struct perf_event_attr unknown = {.sample_type = UINT64_C(1) << 40};
	fails_with(SP_ERROR_UNSUPPORTED, record_encode(&buffer, &record, &unknown));
	record.type = SP_RECORD_COMPRESSED;
	fails_with(SP_ERROR_UNSUPPORTED, record_encode(&buffer, &record, NULL));
	record.type = 63;
	fails_with(SP_ERROR_UNSUPPORTED, record_encode(&buffer, &record, NULL));
	ck_assert_uint_eq(buffer.count, 8 + RECORD_SIZE_MAX);
	vec_deinit(&buffer);
}

TEST(attrs_are_no_larger_than_they_need)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = 1};
	const struct sp_attr_tail none = {0};
	ck_assert_uint_eq(attr_size_needed(&attr, &none), PERF_ATTR_SIZE_VER5);
	attr.aux_sample_size = 1;
	ck_assert_uint_eq(attr_size_needed(&attr, &none), PERF_ATTR_SIZE_VER6);
	attr.sig_data = UINT64_C(1) << 63;
	ck_assert_uint_eq(attr_size_needed(&attr, &none), PERF_ATTR_SIZE_VER7);
}

TEST(kept_files_are_records_that_others_pass_over)
{
	struct record_buffer buffer = {0};
	char name[KEPT_NAME_SIZE];
	struct sp_bytes bytes;
	ok_or_fail(record_encode_kept(&buffer, "[vdso]", "\177ELF!", 5));
	struct perf_event_header head;
	memcpy(&head, buffer.items, sizeof(head));
	ck_assert_uint_eq(head.type, SP_RECORD_EVENT_UPDATE);
	ck_assert_uint_eq(head.size, 56);
	ck_assert_uint_eq(buffer.count, 56);
	struct sp_record record = {.type = SP_RECORD_EVENT_UPDATE};
	memcpy(&record.event_update.kind, buffer.items + 8, 8);
	record.event_update.data = (struct sp_bytes){buffer.items + 24, buffer.count - 24};
	ck_assert(record_kept(&record, name, &bytes));
	ck_assert_str_eq(name, "[vdso]");
	ck_assert_uint_eq(bytes.size, 5);
	ck_assert_mem_eq(bytes.bytes, "\177ELF!", 5);

	/* Whatever the sizes say, nothing is read past the record. */
	for (size_t size = 0; size < 29; size++) {
		record.event_update.data.size = size;
		ck_assert(!record_kept(&record, name, &bytes));
	}
	record.event_update.data.size = 29;
	ck_assert(record_kept(&record, name, &bytes));
	buffer.items[24 + 7] = 0xff;
	ck_assert(!record_kept(&record, name, &bytes));
	buffer.items[24 + 7] = 0;
	memset(buffer.items + 24 + 8, 'x', KEPT_NAME_SIZE);
	ck_assert(!record_kept(&record, name, &bytes));
	record.event_update.kind = NOTE_KIND;
	ck_assert(!record_kept(&record, name, &bytes));
	static char large[70000];
	fails_with(SP_ERROR_LIMIT, record_encode_kept(&buffer, "[vdso]", large, sizeof(large)));
	ck_assert_uint_eq(buffer.count, 56);
	vec_deinit(&buffer);
}

/* The note of a buffer that holds only it, with the record's data cut to `size` (0: all). */
static bool read_note(const struct record_buffer *buffer, size_t size, struct sp_note *ret)
{
	struct sp_record record = {.type = SP_RECORD_EVENT_UPDATE};
	memcpy(&record.event_update.kind, buffer->items + 8, 8);
	record.event_update.data = (struct sp_bytes){buffer->items + 24, size ?: buffer->count - 24};
	return sp_record_note(&record, ret);
}

static void sentence_is(const struct sp_note *note, const char *wanted)
{
	char text[512], small[8];
	size_t length = sp_note_text(note, text, sizeof(text));
	ck_assert_str_eq(text, wanted);
	ck_assert_uint_eq(length, strlen(wanted));
	ck_assert_uint_eq(sp_note_text(note, small, sizeof(small)), length);
	ck_assert_int_eq(strncmp(small, wanted, sizeof(small) - 1), 0);
	ck_assert_uint_eq(sp_note_text(note, NULL, 0), length);
}

TEST(notes_have_kinds_values_and_objects)
{
	struct record_buffer buffer = {0};
	struct sp_note note = {.kind = NOTE_RATE_LOWERED, .time_ns = 5, .value_count = 3,
			       .values = {124, 249, 997}};
	ok_or_fail(record_encode_note(&buffer, &note));
	sentence_is(&note, "12 % of samples were lost: now sampling at 249 Hz instead of 997 Hz (to keep "
			   "the rate: larger -m, or --no-adapt)");
	size_t all = buffer.count - 24;
	ck_assert_uint_eq((note_data_size(buffer.items + 24, all) + 7) & ~7u, all);
	ck_assert(read_note(&buffer, 0, &note));
	ck_assert_uint_eq(note.kind, NOTE_RATE_LOWERED);
	ck_assert_uint_eq(note.value_count, 3);
	ck_assert_uint_eq(note.values[2], 997);
	ck_assert_uint_eq(note.object_size, 0);

	/* Too few values, and an unknown kind: the text is there. */
	note.text = "old";
	note.size = 3;
	note.value_count = 2;
	sentence_is(&note, "old");
	note.value_count = 3;
	note.kind = 4711;
	sentence_is(&note, "old");

	buffer.count = 0;
	note = (struct sp_note){.kind = NOTE_SAMPLING_OFF, .object = "cycles", .object_size = 6};
	ok_or_fail(record_encode_note(&buffer, &note));
	ck_assert(read_note(&buffer, 0, &note));
	ck_assert_uint_eq(note.object_size, 6);
	sentence_is(&note, "sampling of cycles was disabled");
	vec_deinit(&buffer);
}

TEST(missing_waits_have_a_remedy_for_each_cause)
{
	struct sp_note note = {.kind = NOTE_WAITS_LOST, .value_count = 4, .values = {5, 1000, 0, 64}};
	sentence_is(&note, "5 of 1,000 waits have no known duration: SWITCH records were lost "
			   "(record with larger ring buffers: -m)");
	note.values[0] = 0;
	note.values[2] = 7;
	sentence_is(&note, "7 waits have no stack: 64 MiB of samples were held until waits ended (smaller "
			   "samples: --call-graph fp)");
	note.values[0] = 5;
	note.values[2] = 1;
	sentence_is(&note, "5 of 1,000 waits have no known duration: SWITCH records were lost "
			   "(record with larger ring buffers: -m); 1 wait has no stack: 64 MiB "
			   "of samples were held until waits ended (smaller samples: "
			   "--call-graph fp)");
}

TEST(denied_snapshots_name_the_right_that_is_missing)
{
	struct sp_note note = {.kind = NOTE_SNAPSHOTS_DENIED, .value_count = 4,
			       .values = {20, 25, 1234, DENIED_YAMA}};
	sentence_is(&note, "20 of 25 snapshots of waiting threads were denied: no permission to trace "
			   "process 1234 (sudo sysctl kernel.yama.ptrace_scope=0)");
	note.values[3] = DENIED_USER;
	sentence_is(&note, "20 of 25 snapshots of waiting threads were denied: no permission to trace "
			   "process 1234 (record as root)");
}

TEST(reads_without_an_answer_name_the_process)
{
	struct sp_note note = {.kind = NOTE_READS_LEFT, .value_count = 3, .values = {1, 70, 1234}};
	sentence_is(&note, "1 read of process 1234 or its files got no answer from a file system, "
			   "and 70 more were left out: stacks and symbols may be missing (end "
			   "process 1234, or umount -l the file system)");
	note = (struct sp_note){.kind = NOTE_READS_LEFT, .value_count = 3, .values = {2, 1, 0}};
	sentence_is(&note, "2 reads of mapped files got no answer from a file system, and 1 more "
			   "was left out: stacks and symbols may be missing (umount -l the file "
			   "system)");
}

TEST(hidden_kernel_addresses_name_the_settings_to_change)
{
	struct sp_note note = {.kind = NOTE_KERNEL_HIDDEN, .value_count = 1,
			       .values = {HIDDEN_BY_PARANOID}};
	sentence_is(&note, "kernel.perf_event_paranoid hides kernel addresses: kernel samples will "
			   "have no symbols (sudo sysctl kernel.perf_event_paranoid=1)");
	note.values[0] |= HIDDEN_BY_KPTR;
	sentence_is(&note, "kernel.kptr_restrict and kernel.perf_event_paranoid hide kernel "
			   "addresses: kernel samples will have no symbols (sudo sysctl "
			   "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1)");
	note.values[0] = HIDDEN_BY_KPTR;
	sentence_is(&note, "kernel.kptr_restrict hides kernel addresses: kernel samples will have "
			   "no symbols (sudo sysctl kernel.kptr_restrict=0)");
	note = (struct sp_note){.kind = NOTE_UNCOVERED_TASKS, .value_count = 3,
				.values = {2000000000, 2}};
	sentence_is(&note, "up to 2.00 s CPU time of 2 new threads and processes are not sampled "
			   "(use --switch-events)");
	note.values[2] = 1;
	sentence_is(&note, "up to 2.00 s CPU time of 2 new threads and processes are not sampled "
			   "(use --scope cpu, or --switch-events)");
	note = (struct sp_note){.kind = NOTE_KERNEL_HIDDEN, .text = "old", .size = 3};
	sentence_is(&note, "old");
}

TEST(notes_of_any_kind_and_length_are_read)
{
	for (uint32_t kind = 0; kind <= NOTE_KINDS; kind++) {
		struct record_buffer buffer = {0};
		struct sp_note note = {.kind = kind, .object = "thing", .object_size = 5,
				       .value_count = SP_NOTE_VALUES};
		char text[512];
		for (size_t i = 0; i < SP_NOTE_VALUES; i++)
			note.values[i] = i % 2 ? UINT64_MAX - i : i;
		bool composed = sp_note_text(&note, text, sizeof(text)) > 0;
		ck_assert(!strpbrk(text, "{}"));
		ck_assert(composed || kind == NOTE_TEXT || kind == NOTE_EVENT || kind == NOTE_CALL_GRAPH ||
			  kind == NOTE_KINDS);
		ck_assert_uint_le(note_value_count(kind), SP_NOTE_VALUES);
		note.text = "text";
		note.size = 4;
		ok_or_fail(record_encode_note(&buffer, &note));
		for (size_t size = 8; size <= buffer.count - 24; size++) {
			/* Has the exact size, so that a read beyond it is found. */
			struct record_buffer cut = {0};
			ck_assert(vec_reserve(&cut, 24 + size));
			memcpy(cut.items, buffer.items, 24 + size);
			cut.count = 24 + size;
			ck_assert(read_note(&cut, size, &note));
			ck_assert_uint_le(note.size, 4);
			sp_note_text(&note, text, sizeof(text));
			ck_assert_uint_le(note_data_size(cut.items + 24, size), size);
			vec_deinit(&cut);
		}
		vec_deinit(&buffer);
	}
}

/* Names of damaged records are longer than they say, and there are more values than are read. */
TEST(more_values_than_are_known_are_ignored)
{
	uint8_t data[8 + 8 + 8 + 8 * 20 + 8] = {0};
	struct sp_record record = {.type = SP_RECORD_EVENT_UPDATE, .event_update.kind = NOTE_KIND,
				   .event_update.data = {data, sizeof(data)}};
	struct sp_note note;
	memcpy(data + 8, "text", 5);
	data[16] = NOTE_CPU_NEW;
	data[20] = 20;
	data[24] = 3;
	ck_assert(sp_record_note(&record, &note));
	ck_assert_uint_eq(note.value_count, SP_NOTE_VALUES);
	sentence_is(&note, "CPU 3 came online during the recording: it was not recorded");
	/* More than there are: no kind, as of what follows a text. */
	data[20] = 22;
	ck_assert(sp_record_note(&record, &note));
	ck_assert_uint_eq(note.kind, 0);
	data[20] = 20;
	data[22] = 8;
	ck_assert(sp_record_note(&record, &note));
	ck_assert_uint_eq(note.kind, 0);
	sentence_is(&note, "text");
}

TEST(notes_are_records_that_others_pass_over)
{
	struct record_buffer buffer = {0};
	ok_or_fail(record_encode_note(&buffer, &(struct sp_note){.text = "rate lowered",
				.size = strlen("rate lowered"), .time_ns = 0x1122}));
	ck_assert_uint_eq(buffer.count, 48);
	struct perf_event_header head;
	memcpy(&head, buffer.items, sizeof(head));
	ck_assert_uint_eq(head.type, SP_RECORD_EVENT_UPDATE);
	ck_assert_uint_eq(head.size, 48);

	/* A record as the decoder returns it. */
	struct sp_record record = {.type = SP_RECORD_EVENT_UPDATE};
	memcpy(&record.event_update.kind, buffer.items + 8, 8);
	memcpy(&record.event_update.id, buffer.items + 16, 8);
	record.event_update.data = (struct sp_bytes){buffer.items + 24, buffer.count - 24};
	struct sp_note note;
	ck_assert(sp_record_note(&record, &note));
	ck_assert_uint_eq(note.time_ns, 0x1122);
	ck_assert_uint_eq(note.size, strlen("rate lowered"));
	ck_assert_int_eq(memcmp(note.text, "rate lowered", note.size), 0);

	/* A text that fills its record to the last byte has no NUL: none is read past it. */
	record.event_update.data.size = 8 + 4;
	ck_assert(sp_record_note(&record, &note));
	ck_assert_uint_eq(note.size, 4);
	record.event_update.data.size = 7;
	ck_assert(!sp_record_note(&record, &note));
	record.event_update.kind = 2;
	ck_assert(!sp_record_note(&record, &note));

	static char long_text[70000];
	memset(long_text, 'x', sizeof(long_text) - 1);
	fails_with(SP_ERROR_LIMIT, record_encode_note(&buffer, &(struct sp_note){.text = long_text,
				.size = strlen(long_text), .time_ns = 0}));
	ck_assert_uint_eq(buffer.count, 48);
	vec_deinit(&buffer);
}
