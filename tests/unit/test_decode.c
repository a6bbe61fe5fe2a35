/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/attr.h"
#include "record/decode.h"
#include "record/encode.h"
#include "record/record_length.h"
#include "record/types.h"
#include <sprof/private/describe.h>
#include <sprof/private/words.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "bytes.h"
#include "test.h"

#define FULL_TRAILER                                                          \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static struct sp_error *decode_as(struct decoder *decoder, const struct bytes *bytes,
				  struct sp_record *ret)
{
	struct raw_record raw = {.bytes = bytes->at, .size = bytes->size, .offset = 0x1000};
	memcpy(&raw.type, bytes->at, 4);
	memcpy(&raw.misc, bytes->at + 4, 2);
	if (bytes->swap) {
		raw.type = __builtin_bswap32(raw.type);
		raw.misc = __builtin_bswap16(raw.misc);
	}
	return decoder_decode(decoder, &raw, ret);
}

static struct decoder *decoder_of(const struct sp_event *events, size_t count, bool swap)
{
	struct record_layout layout = {events, count, swap, "made-up"};
	struct decoder *decoder;
	ok_or_fail(decoder_new(&layout, &decoder));
	return decoder;
}

static void put_trailer(struct bytes *bytes)
{
	put_u32(bytes, 71);
	put_u32(bytes, 72);
	put_u64(bytes, 73);
	put_u64(bytes, 74);
	put_u64(bytes, 75);
	put_u32(bytes, 76);
	put_u32(bytes, 0);
	put_u64(bytes, 74);
}

static void check_trailer(const struct sp_record *record)
{
	ck_assert_uint_eq(record->id.present, FULL_TRAILER);
	ck_assert_uint_eq(record->id.pid, 71);
	ck_assert_uint_eq(record->id.tid, 72);
	ck_assert_uint_eq(record->id.time_ns, 73);
	ck_assert_uint_eq(record->id.id, 74);
	ck_assert_uint_eq(record->id.stream_id, 75);
	ck_assert_uint_eq(record->id.cpu, 76);
}

static const struct sp_event full_event = {
	.name = "cycles",
	.attr = {.size = 128, .sample_id_all = 1, .sample_type = FULL_TRAILER | PERF_SAMPLE_IP,
		 .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				PERF_FORMAT_ID | RECORD_FORMAT_LOST},
};

/* A record's contents determine its length, whatever bytes follow. */
static void check_length(const struct bytes *bytes, uint32_t type)
{
	static struct bytes grown;
	const struct lengths lengths = lengths_of(&full_event, 1);
	const uint64_t none = 0, behind = UINT64_MAX;
	size_t got[LENGTHS_MAX], count = 0;
	struct raw_record raw = {.type = type, .bytes = grown.at, .size = bytes->size};
	memcpy(&grown, bytes, sizeof(grown));
	ck_assert_uint_eq(lengths_below(&lengths, &raw, bytes->swap, got), 0);
	if (type != PERF_RECORD_READ && type != PERF_RECORD_TEXT_POKE)
		ck_assert(lengths_fit(&lengths, &raw, bytes->swap));
	for (int i = 0; i < 10; i++) {
		put(&grown, i % 2 ? &behind : &none, 8);
		raw.size = grown.size;
		ck_assert(!lengths_fit(&lengths, &raw, bytes->swap));
		count = lengths_below(&lengths, &raw, bytes->swap, got);
		/* Without a sample_id, and with one. */
		ck_assert_uint_eq(count, 2);
		ck_assert_uint_eq(got[0], bytes->size - 6 * 8);
		ck_assert_uint_eq(got[1], bytes->size);
	}
	/* With more kinds of READs than the limit, none is measured; all other records are. */
	struct sp_event many[LENGTH_FORMATS + 1];
	for (size_t i = 0; i <= LENGTH_FORMATS; i++) {
		many[i] = full_event;
		many[i].attr.read_format = i;
	}
	const struct lengths most = lengths_of(many, LENGTH_FORMATS + 1);
	ck_assert_uint_eq(lengths_below(&most, &raw, bytes->swap, got),
			  type == PERF_RECORD_READ ? 0 : 2);
	/* Nothing is read beyond the end. */
	for (raw.size = 8; raw.size < bytes->size; raw.size++)
		ck_assert_uint_le(lengths_below(&lengths, &raw, bytes->swap, got), 1);
}

/* Begins a record, and ends it with a trailer; `decode` then has it. */
#define KERNEL_RECORD(record_, bytes_, decoder_, type_, misc_, ...)           \
	do {                                                                  \
		(bytes_)->size = 0;                                           \
		record_begin((bytes_), (type_), (misc_));                     \
		__VA_ARGS__;                                                  \
		put_trailer(bytes_);                                          \
		record_end(bytes_);                                           \
		ok_or_fail(decode_as((decoder_), (bytes_), (record_)));       \
		ck_assert_uint_eq((record_)->type, (type_));                  \
		check_trailer(record_);                                       \
		check_length((bytes_), (type_));                              \
	} while (0)

static void check_mappings(struct decoder *decoder, struct bytes *bytes)
{
	struct sp_record record;
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER,
		      put_u32(bytes, 1), put_u32(bytes, 2), put_u64(bytes, 0x400000),
		      put_u64(bytes, 0x1000), put_u64(bytes, 0x2000), put_text(bytes, "/bin/a"));
	ck_assert_uint_eq(record.mmap.pid, 1);
	ck_assert_uint_eq(record.mmap.tid, 2);
	ck_assert_uint_eq(record.mmap.start, 0x400000);
	ck_assert_uint_eq(record.mmap.size, 0x1000);
	ck_assert_uint_eq(record.mmap.file_offset, 0x2000);
	ck_assert_str_eq(record.mmap.filename, "/bin/a");
	ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_USER);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_MMAP2, 0,
		      put_u32(bytes, 1), put_u32(bytes, 2), put_u64(bytes, 3), put_u64(bytes, 4),
		      put_u64(bytes, 5), put_u32(bytes, 6), put_u32(bytes, 7), put_u64(bytes, 8),
		      put_u64(bytes, 9), put_u32(bytes, 10), put_u32(bytes, 11),
		      put_text(bytes, "/bin/exactly-8-"));
	ck_assert_uint_eq(record.mmap.maj, 6);
	ck_assert_uint_eq(record.mmap.min, 7);
	ck_assert_uint_eq(record.mmap.ino, 8);
	ck_assert_uint_eq(record.mmap.ino_generation, 9);
	ck_assert_uint_eq(record.mmap.prot, 10);
	ck_assert_uint_eq(record.mmap.flags, 11);
	ck_assert_uint_eq(record.mmap.build_id_size, 0);
	ck_assert_str_eq(record.mmap.filename, "/bin/exactly-8-");
	/* Linux 3.12 to 3.15: no prot and flags, so that a short name ends where these would. */
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_MMAP2, 0,
		      put_u32(bytes, 1), put_u32(bytes, 2), put_u64(bytes, 3), put_u64(bytes, 4),
		      put_u64(bytes, 5), put_u32(bytes, 6), put_u32(bytes, 7), put_u64(bytes, 8),
		      put_u64(bytes, 9), put_text(bytes, "//anon"));
	ck_assert_uint_eq(record.mmap.prot, PROT_READ | PROT_EXEC);
	ck_assert_str_eq(record.mmap.filename, "//anon");
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID,
		      put_u32(bytes, 1), put_u32(bytes, 2), put_u64(bytes, 3), put_u64(bytes, 4),
		      put_u64(bytes, 5), put_u8(bytes, 16), put(bytes, "\0\0", 3),
		      put(bytes, "abcdefghijklmnopqrst", 20), put_u32(bytes, 5), put_u32(bytes, 2),
		      put_text(bytes, "x"));
	ck_assert_uint_eq(record.mmap.build_id_size, 16);
	ck_assert_mem_eq(record.mmap.build_id, "abcdefghijklmnop\0\0\0", 20);
	ck_assert_uint_eq(record.mmap.prot, 5);
	ck_assert_str_eq(record.mmap.filename, "x");
}

static void check_tasks(struct decoder *decoder, struct bytes *bytes)
{
	struct sp_record record;
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
		      put_u32(bytes, 1), put_u32(bytes, 2), put_text(bytes, "sixteen-characte"));
	ck_assert_uint_eq(record.comm.tid, 2);
	ck_assert_str_eq(record.comm.comm, "sixteen-characte");
	for (uint32_t type = PERF_RECORD_EXIT; type <= PERF_RECORD_FORK; type += 3) {
		KERNEL_RECORD(&record, bytes, decoder, type, 0, put_u32(bytes, 1),
			      put_u32(bytes, 2), put_u32(bytes, 3), put_u32(bytes, 4),
			      put_u64(bytes, 5));
		ck_assert_uint_eq(record.task.pid, 1);
		ck_assert_uint_eq(record.task.ppid, 2);
		ck_assert_uint_eq(record.task.tid, 3);
		ck_assert_uint_eq(record.task.ptid, 4);
		ck_assert_uint_eq(record.task.time_ns, 5);
	}
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_NAMESPACES, 0, put_u32(bytes, 1),
		      put_u32(bytes, 2), put_u64(bytes, 2), put_u64(bytes, 3), put_u64(bytes, 4),
		      put_u64(bytes, 5), put_u64(bytes, 6));
	ck_assert_uint_eq(record.namespaces.count, 2);
	ck_assert_uint_eq(record.namespaces.namespaces[1].dev, 5);
	ck_assert_uint_eq(record.namespaces.namespaces[1].ino, 6);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_SWITCH_CPU_WIDE, 0, put_u32(bytes, 8),
		      put_u32(bytes, 9));
	ck_assert_uint_eq(record.context_switch.next_prev_pid, 8);
	ck_assert_uint_eq(record.context_switch.next_prev_tid, 9);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_SWITCH, 0, (void)0);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_CGROUP, 0, put_u64(bytes, 8),
		      put_text(bytes, "/a/b"));
	ck_assert_uint_eq(record.cgroup.id, 8);
	ck_assert_str_eq(record.cgroup.path, "/a/b");
}

static void check_counts(struct decoder *decoder, struct bytes *bytes)
{
	struct sp_record record;
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_LOST, 0, put_u64(bytes, 1),
		      put_u64(bytes, 2));
	ck_assert_uint_eq(record.lost.id, 1);
	ck_assert_uint_eq(record.lost.lost, 2);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_LOST_SAMPLES, 0, put_u64(bytes, 2));
	ck_assert_uint_eq(record.lost.id, 0);
	ck_assert_uint_eq(record.lost.lost, 2);
	for (uint32_t type = PERF_RECORD_THROTTLE; type <= PERF_RECORD_UNTHROTTLE; type++) {
		KERNEL_RECORD(&record, bytes, decoder, type, 0, put_u64(bytes, 1),
			      put_u64(bytes, 2), put_u64(bytes, 3));
		ck_assert_uint_eq(record.throttle.time_ns, 1);
		ck_assert_uint_eq(record.throttle.id, 2);
		ck_assert_uint_eq(record.throttle.stream_id, 3);
	}
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_READ, 0, put_u32(bytes, 1),
		      put_u32(bytes, 2), put_u64(bytes, 3), put_u64(bytes, 4), put_u64(bytes, 5),
		      put_u64(bytes, 6), put_u64(bytes, 7));
	ck_assert_uint_eq(record.read.tid, 2);
	ck_assert_uint_eq(record.read.counters.count, 1);
	ck_assert_uint_eq(record.read.counters.time_enabled_ns, 4);
	ck_assert_uint_eq(record.read.counters.time_running_ns, 5);
	ck_assert_uint_eq(record.read.counters.values[0].value, 3);
	ck_assert_uint_eq(record.read.counters.values[0].id, 6);
	ck_assert_uint_eq(record.read.counters.values[0].lost, 7);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_AUX, 0, put_u64(bytes, 1),
		      put_u64(bytes, 2), put_u64(bytes, 3));
	ck_assert_uint_eq(record.aux.offset, 1);
	ck_assert_uint_eq(record.aux.size, 2);
	ck_assert_uint_eq(record.aux.flags, 3);
}

static void check_code(struct decoder *decoder, struct bytes *bytes)
{
	struct sp_record record;
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_KSYMBOL, 0, put_u64(bytes, 1),
		      put_u32(bytes, 2), put_u16(bytes, 3), put_u16(bytes, 4),
		      put_text(bytes, "bpf_prog"));
	ck_assert_uint_eq(record.ksymbol.start, 1);
	ck_assert_uint_eq(record.ksymbol.size, 2);
	ck_assert_uint_eq(record.ksymbol.type, 3);
	ck_assert_uint_eq(record.ksymbol.flags, 4);
	ck_assert_str_eq(record.ksymbol.name, "bpf_prog");
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_BPF_EVENT, 0, put_u16(bytes, 1),
		      put_u16(bytes, 2), put_u32(bytes, 3), put(bytes, "tagtagta", 8));
	ck_assert_uint_eq(record.bpf_event.type, 1);
	ck_assert_uint_eq(record.bpf_event.flags, 2);
	ck_assert_uint_eq(record.bpf_event.id, 3);
	ck_assert_mem_eq(record.bpf_event.tag, "tagtagta", 8);
	KERNEL_RECORD(&record, bytes, decoder, PERF_RECORD_TEXT_POKE, 0, put_u64(bytes, 1),
		      put_u16(bytes, 2), put_u16(bytes, 3), put(bytes, "abcde\0\0\0\0\0\0", 12));
	ck_assert_uint_eq(record.text_poke.ip, 1);
	ck_assert_uint_eq(record.text_poke.before.size, 2);
	ck_assert_mem_eq(record.text_poke.before.bytes, "ab", 2);
	ck_assert_uint_eq(record.text_poke.after.size, 3);
	ck_assert_mem_eq(record.text_poke.after.bytes, "cde", 3);
	KERNEL_RECORD(&record, bytes, decoder, RECORD_CALLCHAIN_DEFERRED, 0, put_u64(bytes, 1),
		      put_u64(bytes, 2), put_u64(bytes, 3), put_u64(bytes, 4));
	ck_assert_uint_eq(record.deferred.cookie, 1);
	ck_assert_uint_eq(record.deferred.count, 2);
	ck_assert_uint_eq(record.deferred.ips[1], 4);
}

TEST(every_kernel_record_is_read_in_both_orders)
{
	static struct bytes bytes;
	for (int swap = 0; swap < 2; swap++) {
		bytes.swap = swap;
		struct decoder *decoder = decoder_of(&full_event, 1, swap);
		check_mappings(decoder, &bytes);
		check_tasks(decoder, &bytes);
		check_counts(decoder, &bytes);
		check_code(decoder, &bytes);
		decoder_free(decoder);
	}
}

/* All fields of a sample at once, in the kernel's order; as many words as returned. */
static void put_full_sample(struct bytes *bytes)
{
	record_begin(bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put_u64(bytes, 100); /* identifier */
	put_u64(bytes, 101); /* ip */
	put_u32(bytes, 102);
	put_u32(bytes, 103);
	put_u64(bytes, 104); /* time */
	put_u64(bytes, 105); /* addr */
	put_u64(bytes, 100); /* id */
	put_u64(bytes, 106); /* stream */
	put_u32(bytes, 107); /* cpu */
	put_u32(bytes, 0);
	put_u64(bytes, 108); /* period */
	put_u64(bytes, 2);   /* READ, a group of 2 */
	put_u64(bytes, 109);
	put_u64(bytes, 110);
	for (uint64_t i = 0; i < 2; i++) {
		put_u64(bytes, 111 + i);
		put_u64(bytes, 113 + i);
		put_u64(bytes, 115 + i);
	}
	put_u64(bytes, 3); /* call chain */
	put_u64(bytes, PERF_CONTEXT_KERNEL);
	put_u64(bytes, 117);
	put_u64(bytes, 118);
	put_u32(bytes, 12); /* raw */
	put(bytes, "raw raw raw ", 12);
	put_u64(bytes, 2); /* branches, with hw_index and counters */
	put_u64(bytes, 119);
	for (uint64_t i = 0; i < 2; i++) {
		put_u64(bytes, 120 + i);
		put_u64(bytes, 122 + i);
		/* predicted, 5 cycles, type 3 */
		bool is_big = bytes->swap != HOST_IS_BIG;
		put_u64(bytes, is_big ? UINT64_C(1) << 62 | UINT64_C(5) << 44 | UINT64_C(3) << 40
				      : UINT64_C(2) | 5 << 4 | 3 << 20);
	}
	put_u64(bytes, 124);
	put_u64(bytes, 125);
	put_u64(bytes, PERF_SAMPLE_REGS_ABI_64); /* user registers */
	put_u64(bytes, 126);
	put_u64(bytes, 127);
	put_u64(bytes, 16); /* stack */
	put(bytes, "stack of 16 byte", 16);
	put_u64(bytes, 9);
	put_u64(bytes, UINT64_C(128) << 32 | 129); /* weight */
	put_u64(bytes, 130); /* data_src */
	put_u64(bytes, 131); /* transaction */
	put_u64(bytes, PERF_SAMPLE_REGS_ABI_32); /* interrupt registers */
	put_u64(bytes, 132);
	put_u64(bytes, 133); /* phys_addr */
	put_u64(bytes, 134); /* cgroup */
	put_u64(bytes, 4096);
	put_u64(bytes, 8192);
	put_u64(bytes, 8); /* aux */
	put(bytes, "aux data", 8);
	record_end(bytes);
}

static const struct perf_event_attr full_sample_attr = {
	.size = 128,
	.sample_id_all = 1,
	.sample_type = RECORD_SAMPLE_KNOWN,
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		       PERF_FORMAT_ID | PERF_FORMAT_GROUP | RECORD_FORMAT_LOST,
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | RECORD_BRANCH_COUNTERS,
	.sample_regs_user = 0x81,
	.sample_regs_intr = 0x10,
};

static void check_full_sample_head(const struct sp_sample *sample)
{
	ck_assert_uint_eq(sample->present, RECORD_SAMPLE_KNOWN);
	ck_assert_uint_eq(sample->id, 100);
	ck_assert_uint_eq(sample->ip, 101);
	ck_assert_uint_eq(sample->pid, 102);
	ck_assert_uint_eq(sample->tid, 103);
	ck_assert_uint_eq(sample->time_ns, 104);
	ck_assert_uint_eq(sample->addr, 105);
	ck_assert_uint_eq(sample->stream_id, 106);
	ck_assert_uint_eq(sample->cpu, 107);
	ck_assert_uint_eq(sample->period, 108);
	ck_assert_uint_eq(sample->counters.count, 2);
	ck_assert_uint_eq(sample->counters.time_enabled_ns, 109);
	ck_assert_uint_eq(sample->counters.time_running_ns, 110);
	ck_assert_uint_eq(sample->counters.values[1].value, 112);
	ck_assert_uint_eq(sample->counters.values[1].id, 114);
	ck_assert_uint_eq(sample->counters.values[1].lost, 116);
	ck_assert_uint_eq(sample->ip_count, 3);
	ck_assert_uint_eq(sample->ips[0], PERF_CONTEXT_KERNEL);
	ck_assert_uint_eq(sample->ips[2], 118);
	ck_assert_uint_eq(sample->raw.size, 12);
	ck_assert_mem_eq(sample->raw.bytes, "raw raw raw ", 12);
}

static void check_full_sample_tail(const struct sp_sample *sample)
{
	ck_assert_uint_eq(sample->branch_count, 2);
	ck_assert_uint_eq(sample->branch_hw_index, 119);
	ck_assert_uint_eq(sample->branches[1].from, 121);
	ck_assert_uint_eq(sample->branches[1].to, 123);
	struct perf_branch_entry entry;
	memcpy(&entry, &sample->branches[1], sizeof(entry));
	ck_assert(!entry.mispred && entry.predicted && !entry.abort);
	ck_assert_uint_eq(entry.cycles, 5);
	ck_assert_uint_eq(entry.type, 3);
	ck_assert_uint_eq(sample->branch_counters[1], 125);
	ck_assert_uint_eq(sample->user_registers.abi, PERF_SAMPLE_REGS_ABI_64);
	ck_assert_uint_eq(sample->user_registers.mask, 0x81);
	ck_assert_uint_eq(sample->user_registers.count, 2);
	ck_assert_uint_eq(sample->user_registers.values[1], 127);
	ck_assert_uint_eq(sample->stack.size, 16);
	ck_assert_mem_eq(sample->stack.bytes, "stack of 16 byte", 16);
	ck_assert_uint_eq(sample->stack_dyn_size, 9);
	ck_assert_uint_eq(sample->weight, UINT64_C(128) << 32 | 129);
	ck_assert_uint_eq(sample->data_src, 130);
	ck_assert_uint_eq(sample->transaction, 131);
	ck_assert_uint_eq(sample->interrupt_registers.count, 1);
	ck_assert_uint_eq(sample->interrupt_registers.values[0], 132);
	ck_assert_uint_eq(sample->phys_addr, 133);
	ck_assert_uint_eq(sample->cgroup, 134);
	ck_assert_uint_eq(sample->data_page_size, 4096);
	ck_assert_uint_eq(sample->code_page_size, 8192);
	ck_assert_uint_eq(sample->aux.size, 8);
	ck_assert_mem_eq(sample->aux.bytes, "aux data", 8);
}

static void mapped_by(struct bytes *bytes, uint8_t first, uint8_t second, bool asked,
		      struct sp_mmap *ret)
{
	struct sp_event event = {.name = "x", .attr = {.build_id = asked}};
	struct decoder *decoder = decoder_of(&event, 1, bytes->swap);
	struct sp_record record;
	bytes->size = 0;
	record_begin(bytes, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	put(bytes, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	put_u8(bytes, first);
	put_u8(bytes, second);
	put(bytes, "\0", 2);
	put(bytes, "abcdefghijklmnopqrst", 20);
	put_u32(bytes, 5);
	put_u32(bytes, 2);
	put_text(bytes, "/bin/a");
	record_end(bytes);
	ok_or_fail(decode_as(decoder, bytes, &record));
	ck_assert_str_eq(record.mmap.filename, "/bin/a");
	ck_assert_uint_eq(record.mmap.prot, 5);
	*ret = record.mmap;
	decoder_free(decoder);
}

TEST(a_build_id_is_not_believed_where_another_recorder_asked_for_it)
{
	struct bytes bytes = {.swap = HOST_IS_BIG}; /* byte order of a little-endian machine */
	struct sp_mmap mmap;
	mapped_by(&bytes, 254, 0, false, &mmap);
	ck_assert_uint_eq(mmap.build_id_size, 0);
	ck_assert_uint_eq(mmap.maj, 254);
	mapped_by(&bytes, 8, 0, false, &mmap);
	ck_assert_uint_eq(mmap.build_id_size, 0);
	ck_assert_uint_eq(mmap.maj, 8);
	mapped_by(&bytes, 20, 1, false, &mmap);
	ck_assert_uint_eq(mmap.build_id_size, 0);
	ck_assert_uint_eq(mmap.maj, 276);
	mapped_by(&bytes, 0, 0, true, &mmap);
	ck_assert_uint_eq(mmap.build_id_size, 0);
	mapped_by(&bytes, 20, 0, false, &mmap);
	ck_assert_uint_eq(mmap.build_id_size, 20);
	ck_assert_mem_eq(mmap.build_id, "abcdefghijklmnopqrst", 20);
	ck_assert_uint_eq(mmap.maj, 0);
	mapped_by(&bytes, 8, 0, true, &mmap);
	ck_assert_uint_eq(mmap.build_id_size, 8);
}

TEST(all_fields_of_a_sample_are_read_in_both_orders)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event event = {.name = "x", .attr = full_sample_attr};
	for (int swap = 0; swap < 2; swap++) {
		bytes.swap = swap;
		bytes.size = 0;
		struct decoder *decoder = decoder_of(&event, 1, swap);
		put_full_sample(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.event, 0);
		ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_KERNEL);
		check_full_sample_head(&record.sample);
		check_full_sample_tail(&record.sample);
		decoder_free(decoder);
	}
}

/* A KSYMBOL that says to be one trailer longer than it is, and ends in old bytes. */
static void put_inflated_ksymbol(struct bytes *bytes, const char *name)
{
	bytes->size = 0;
	record_begin(bytes, PERF_RECORD_KSYMBOL, 0);
	put_u64(bytes, 0x1000);
	put_u32(bytes, 16);
	put_u16(bytes, 1);
	put_u16(bytes, 0);
	put_text(bytes, name);
	put_trailer(bytes);
	for (int i = 0; i < 6; i++)
		put_u64(bytes, UINT64_MAX - 1);
	record_end(bytes);
}

TEST(a_sample_id_is_found_where_the_kernel_says_too_much)
{
	static struct bytes bytes;
	struct sp_record record;
	const uint64_t ids[] = {74, 75}, other_ids[] = {80};
	struct sp_event events[2] = {full_event, full_event};
	events[0].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_STREAM_ID;
	events[0].ids = other_ids;
	events[0].id_count = 1;
	events[1].ids = ids;
	events[1].id_count = 2;
	for (int swap = 0; swap < 2; swap++) {
		bytes.swap = swap;
		put_inflated_ksymbol(&bytes, "exactly8");
		struct decoder *decoder = decoder_of(events, 2, swap);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.event, 1);
		ck_assert_str_eq(record.ksymbol.name, "exactly8");
		check_trailer(&record);
		decoder_free(decoder);
		decoder = decoder_of(&full_event, 1, swap);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		check_trailer(&record);
		decoder_free(decoder);
	}
}

/* Wherever a sample is cut, it is an error, and none reads past the end. */
TEST(a_sample_cut_anywhere_is_refused)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event event = {.name = "x", .attr = full_sample_attr};
	struct decoder *decoder = decoder_of(&event, 1, false);
	put_full_sample(&bytes);
	size_t whole = bytes.size;
	for (size_t size = 8; size < whole; size += 8) {
		/* Exactly as long as it is, so that a sanitizer sees what is read behind. */
		CLEANUP_FREE uint8_t *copy = malloc(size);
		memcpy(copy, bytes.at, size);
		struct raw_record raw = {.type = PERF_RECORD_SAMPLE, .size = size, .bytes = copy,
					 .offset = 0x1000};
		struct sp_error *error = decoder_decode(decoder, &raw, &record);
		ck_assert(error && sp_error_code(error) == SP_ERROR_FORMAT);
		ck_assert_ptr_nonnull(strstr(sp_error_message(error), "made-up: offset 0x1"));
		sp_error_free(error);
	}
	decoder_free(decoder);
}

TEST(counts_too_large_are_refused)
{
	static struct bytes bytes;
	struct sp_record record;
	static const struct {
		uint64_t sample_type, count;
	} cases[] = {
		{PERF_SAMPLE_CALLCHAIN, 3},
		{PERF_SAMPLE_CALLCHAIN, UINT64_MAX},
		{PERF_SAMPLE_CALLCHAIN, UINT64_C(1) << 61},
		{PERF_SAMPLE_BRANCH_STACK, UINT64_MAX / 24 + 2},
		{PERF_SAMPLE_STACK_USER, UINT64_MAX - 7},
		{PERF_SAMPLE_AUX, UINT64_MAX},
		{PERF_SAMPLE_RAW, UINT64_MAX},
		{PERF_SAMPLE_READ, UINT64_C(1) << 61},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sp_event event = {.name = "x", .attr = {.sample_type = cases[i].sample_type,
							       .read_format = PERF_FORMAT_GROUP}};
		struct decoder *decoder = decoder_of(&event, 1, false);
		bytes.size = 0;
		record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
		put_u64(&bytes, cases[i].count);
		put_u64(&bytes, 1);
		put_u64(&bytes, 2);
		record_end(&bytes);
		fails_with(SP_ERROR_FORMAT, decode_as(decoder, &bytes, &record));
		decoder_free(decoder);
	}
}

TEST(call_chains_are_not_copied)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event event = {.name = "x", .attr = {.sample_type = PERF_SAMPLE_CALLCHAIN}};
	struct decoder *decoder = decoder_of(&event, 1, false);
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 1);
	put_u64(&bytes, 0x1234);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_ptr_eq(record.sample.ips, bytes.at + 16);
	/* Not on a multiple of 8: copied, and right. */
	memmove(bytes.at + 4, bytes.at, bytes.size);
	struct raw_record raw = {.type = PERF_RECORD_SAMPLE, .bytes = bytes.at + 4, .size = bytes.size};
	ok_or_fail(decoder_decode(decoder, &raw, &record));
	ck_assert_uint_eq((uintptr_t)record.sample.ips % 8, 0);
	ck_assert_uint_eq(record.sample.ips[0], 0x1234);
	decoder_free(decoder);
}

/* Without a branch stack the kernel writes its count alone, without hw_index. */
TEST(an_empty_branch_stack_is_read_with_and_without_its_index)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event event = {
		.name = "x",
		.attr = {.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC,
			 .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX},
	};
	struct decoder *decoder = decoder_of(&event, 1, false);
	for (int with_index = 0; with_index < 2; with_index++) {
		bytes.size = 0;
		record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
		put_u64(&bytes, 0);
		if (with_index)
			put_u64(&bytes, 5);
		put_u64(&bytes, 77);
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.sample.branch_count, 0);
		ck_assert_uint_eq(record.sample.branch_hw_index, with_index ? 5 : 0);
		ck_assert_uint_eq(record.sample.data_src, 77);
	}
	decoder_free(decoder);
}

/* perf record --off-cpu since Linux 6.16, which exchanges pid and tid of single waits. */
TEST(a_wait_is_read_from_its_raw_data)
{
	static struct bytes bytes;
	struct sp_record record;
	const struct sp_event event = {
		.name = "offcpu-time",
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT,
			 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD |
					PERF_SAMPLE_RAW},
	};
	for (int i = 0; i < 4; i++) {
		bool summed = i & 1;
		bytes = (struct bytes){.swap = i & 2};
		struct decoder *decoder = decoder_of(&event, 1, bytes.swap);
		record_begin(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
		put_u64(&bytes, 1);
		put_u32(&bytes, 2);
		put_u32(&bytes, 3);
		put_u64(&bytes, summed ? RECORD_SUMMED_NS : 100);
		put_u64(&bytes, 1);
		put_u32(&bytes, 52);
		put_u64(&bytes, summed ? UINT64_C(5) << 32 | 4 : UINT64_C(4) << 32 | 5);
		put_u64(&bytes, 1000000);
		put_u64(&bytes, 2);
		put_u64(&bytes, PERF_CONTEXT_USER);
		put_u64(&bytes, 0x1234);
		put_u64(&bytes, 9);
		put_u32(&bytes, 0);
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.sample.pid, 4);
		ck_assert_uint_eq(record.sample.tid, 5);
		ck_assert_uint_eq(record.sample.period, 1000000);
		ck_assert_uint_eq(record.sample.ip, 0x1234);
		ck_assert_uint_eq(record.sample.ip_count, 2);
		ck_assert_uint_eq(record.sample.ips[1], 0x1234);
		ck_assert_uint_eq(record.sample.cgroup, 9);
		ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_USER);
		ck_assert(record.sample.present & PERF_SAMPLE_CALLCHAIN);
		/* A call chain that is longer than the raw data */
		set_u64(&bytes, 60, 4);
		fails_with(SP_ERROR_FORMAT, decode_as(decoder, &bytes, &record));
		decoder_free(decoder);
	}
}

TEST(registers_of_no_task_are_none)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event event = {
		.name = "x",
		.attr = {.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
			 .sample_regs_user = 0xff},
	};
	struct decoder *decoder = decoder_of(&event, 1, false);
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, PERF_SAMPLE_REGS_ABI_NONE);
	put_u64(&bytes, 0);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.sample.user_registers.count, 0);
	ck_assert_uint_eq(record.sample.user_registers.mask, 0);
	ck_assert_uint_eq(record.sample.stack.size, 0);
	ck_assert_uint_eq(record.sample.stack_dyn_size, 0);
	decoder_free(decoder);
}

static const uint64_t ids_a[] = {1, 2}, ids_b[] = {3}, ids_c[] = {4};

TEST(the_event_is_found_by_identifier)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event events[] = {
		{.name = "a", .ids = ids_a, .id_count = 2,
		 .attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP,
			  .sample_id_all = 1}},
		{.name = "b", .ids = ids_b, .id_count = 1,
		 .attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR,
			  .sample_id_all = 1}},
	};
	struct decoder *decoder = decoder_of(events, 2, false);
	for (uint64_t id = 1; id <= 3; id++) {
		bytes.size = 0;
		record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
		put_u64(&bytes, id);
		put_u64(&bytes, 10);
		if (id == 3)
			put_u64(&bytes, 11);
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.event, id == 3);
		ck_assert_uint_eq(record.sample.addr, id == 3 ? 11 : 0);
		bytes.size = 0;
		record_begin(&bytes, PERF_RECORD_LOST, 0);
		put_u64(&bytes, 5);
		put_u64(&bytes, 6);
		put_u64(&bytes, id);
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.event, id == 3);
		ck_assert_uint_eq(record.id.id, id);
	}
	/* An id of none of them: the layouts differ, so it cannot be read. */
	bytes.size = 0;
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 99);
	put_u64(&bytes, 10);
	record_end(&bytes);
	fails_with(SP_ERROR_FORMAT, decode_as(decoder, &bytes, &record));
	decoder_free(decoder);
}

/* ID lies where the bits before it put it: each event at a place of its own. */
TEST(the_event_is_found_where_the_layouts_differ)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event events[] = {
		{.name = "a", .ids = ids_a, .id_count = 2,
		 .attr = {.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_IP, .sample_id_all = 1}},
		{.name = "b", .ids = ids_b, .id_count = 1,
		 .attr = {.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_CPU,
			  .sample_id_all = 1}},
		{.name = "c", .ids = ids_c, .id_count = 1,
		 .attr = {.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
					 PERF_SAMPLE_TID | PERF_SAMPLE_STREAM_ID}},
	};
	struct decoder *decoder = decoder_of(events, 3, false);
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 10);
	put_u64(&bytes, 2);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.event, 0);
	ck_assert_uint_eq(record.sample.ip, 10);
	bytes.size = 0;
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 10);
	put_u64(&bytes, 11);
	put_u64(&bytes, 3);
	put_u64(&bytes, 12);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.event, 1);
	ck_assert_uint_eq(record.sample.time_ns, 11);
	bytes.size = 0;
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	for (uint64_t word = 20; word < 23; word++)
		put_u64(&bytes, word);
	put_u64(&bytes, 4);
	put_u64(&bytes, 23);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.event, 2);
	ck_assert_uint_eq(record.sample.stream_id, 23);
	/* In trailers too: that of b has its id before the last word. */
	bytes.size = 0;
	record_begin(&bytes, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&bytes, 7);
	put_u64(&bytes, 30);
	put_u64(&bytes, 3);
	put_u64(&bytes, 31);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.event, 1);
	ck_assert_uint_eq(record.id.time_ns, 30);
	decoder_free(decoder);
}

TEST(an_unknown_id_is_no_event_but_is_read_where_all_agree)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event events[] = {
		{.name = "a", .ids = ids_a, .id_count = 2,
		 .attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP}},
		{.name = "b", .ids = ids_b, .id_count = 1,
		 .attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP}},
	};
	struct decoder *decoder = decoder_of(events, 2, false);
	record_begin(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 99);
	put_u64(&bytes, 10);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.event, SP_EVENT_NONE);
	ck_assert_uint_eq(record.sample.ip, 10);
	decoder_free(decoder);
}

/* perf has left the sample_id out of records it made up itself. */
TEST(a_record_may_lack_its_sample_id)
{
	static struct bytes bytes;
	struct sp_record record;
	struct decoder *decoder = decoder_of(&full_event, 1, false);
	record_begin(&bytes, PERF_RECORD_COMM, 0);
	put_u32(&bytes, 1);
	put_u32(&bytes, 2);
	put_text(&bytes, "a-name-as-long-as-it-takes-to-reach-the-trailers-place");
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_str_eq(record.comm.comm, "a-name-as-long-as-it-takes-to-reach-the-trailers-place");
	ck_assert_uint_eq(record.id.present, 0);
	decoder_free(decoder);
}

TEST(a_name_without_an_end_is_refused)
{
	static struct bytes bytes;
	struct sp_record record;
	struct sp_event event = {.name = "x", .attr = {.sample_type = PERF_SAMPLE_IP}};
	struct decoder *decoder = decoder_of(&event, 1, false);
	record_begin(&bytes, PERF_RECORD_COMM, 0);
	put_u32(&bytes, 1);
	put_u32(&bytes, 2);
	put(&bytes, "12345678", 8);
	record_end(&bytes);
	fails_with(SP_ERROR_FORMAT, decode_as(decoder, &bytes, &record));
	decoder_free(decoder);
}

/* A char[64] may be filled to its end. */
TEST(the_name_of_an_event_type_needs_no_end)
{
	static struct bytes bytes;
	struct sp_record record;
	char name[65];
	struct decoder *decoder = decoder_of(NULL, 0, false);
	memset(name, 'n', 64);
	name[64] = '\0';
	record_begin(&bytes, SP_RECORD_HEADER_EVENT_TYPE, 0);
	put_u64(&bytes, 47);
	put(&bytes, name, 64);
	record_end(&bytes);
	ok_or_fail(decode_as(decoder, &bytes, &record));
	ck_assert_uint_eq(record.event_type.id, 47);
	ck_assert_str_eq(record.event_type.name, name);
	decoder_free(decoder);
}

TEST(perfs_own_records_are_read_in_both_orders)
{
	static struct bytes bytes;
	struct sp_record record;
	struct perf_event_attr attr = {.type = 1, .sample_type = 0x107, .precise_ip = 2};
	for (int swap = 0; swap < 2; swap++) {
		bytes.swap = swap;
		struct decoder *decoder = decoder_of(NULL, 0, swap);
		bytes.size = 0;
		record_begin(&bytes, SP_RECORD_HEADER_ATTR, 0);
		put_attr(&bytes, &attr, 120);
		put_u64(&bytes, 11);
		put_u64(&bytes, 12);
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.attr.attr.sample_type, 0x107);
		ck_assert_uint_eq(record.attr.attr.precise_ip, 2);
		ck_assert_uint_eq(record.attr.id_count, 2);
		ck_assert_uint_eq(record.attr.ids[1], 12);
		ck_assert_uint_eq(record.event, SP_EVENT_NONE);
		bytes.size = 0;
		record_begin(&bytes, SP_RECORD_HEADER_BUILD_ID, RECORD_MISC_BUILD_ID_SIZE);
		put_u32(&bytes, UINT32_MAX);
		put(&bytes, "abcdefghijklmnopqrst", 20);
		put_u8(&bytes, 8);
		put(&bytes, "\0\0", 3);
		put_text(&bytes, "[kernel.kallsyms]");
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.build_id.pid, UINT32_MAX);
		ck_assert_uint_eq(record.build_id.build_id_size, 8);
		ck_assert_mem_eq(record.build_id.build_id, "abcdefgh\0\0\0\0", 12);
		ck_assert_str_eq(record.build_id.filename, "[kernel.kallsyms]");
		bytes.size = 0;
		record_begin(&bytes, SP_RECORD_HEADER_FEATURE, 0);
		put_u64(&bytes, 3);
		put(&bytes, "payload", 8);
		record_end(&bytes);
		ok_or_fail(decode_as(decoder, &bytes, &record));
		ck_assert_uint_eq(record.feature.feature, 3);
		ck_assert_uint_eq(record.feature.payload.size, 8);
		ck_assert_mem_eq(record.feature.payload.bytes, "payload", 8);
		decoder_free(decoder);
	}
}

/* Each flag by itself: a bit mirrored into the wrong place shows. */
TEST(an_attrs_bits_are_right_in_both_orders)
{
	static struct bytes bytes;
	struct perf_event_attr got, wanted;
	struct sp_attr_tail tail;
	for (unsigned int bit = 0; bit < 27; bit++) {
		/* Bits 15 and 16 are precise_ip, a number of two bits. */
		uint64_t flags = UINT64_C(1) << (HOST_IS_BIG ? 63 - bit : bit);
		memset(&wanted, 0, sizeof(wanted));
		memcpy((uint8_t *)&wanted + 40, &flags, sizeof(flags));
		wanted.config = 0x0102030405060708;
		wanted.clockid = -3;
		wanted.sample_max_stack = 0x1234;
		for (int swap = 0; swap < 2; swap++) {
			bytes = (struct bytes){.swap = swap};
			put_attr(&bytes, &wanted, 128);
			struct cursor cursor = cursor_make(bytes.at, bytes.size, swap, "x", 0);
			ok_or_fail(attr_decode(&cursor, 128, &got, &tail));
			ck_assert_uint_eq(got.size, 128);
			got.size = 0;
			ck_assert_mem_eq(&got, &wanted, sizeof(got));
		}
	}
}

TEST(an_attr_of_any_age_is_read)
{
	static struct bytes bytes;
	struct perf_event_attr attr, wanted = {.type = 1, .config2 = 5, .sig_data = 6};
	struct sp_attr_tail tail;
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		bytes = (struct bytes){0};
		put_attr(&bytes, &wanted, sizes[i]);
		put_u64(&bytes, 0xdead);
		struct cursor cursor = cursor_make(bytes.at, bytes.size, false, "x", 0);
		ok_or_fail(attr_decode(&cursor, sizes[i], &attr, &tail));
		ck_assert_uint_eq(cursor_offset(&cursor), sizes[i]);
		ck_assert_uint_eq(attr.size, sizes[i]);
		ck_assert_uint_eq(attr.config2, sizes[i] > 64 ? 5 : 0);
		ck_assert_uint_eq(attr.sig_data, sizes[i] > 120 ? 6 : 0);
	}
	/* Size 0 is the first published struct's. */
	bytes = (struct bytes){0};
	put_attr(&bytes, &wanted, 64);
	memset(bytes.at + 4, 0, 4);
	struct cursor cursor = cursor_make(bytes.at, bytes.size, false, "x", 0);
	ok_or_fail(attr_decode(&cursor, 64, &attr, &tail));
	ck_assert_uint_eq(attr.size, 64);
	/* Larger than its room, or smaller than any: refused, the cursor unmoved. */
	static const uint32_t bad[] = {1, 63, 65, UINT32_MAX};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memcpy(bytes.at + 4, &bad[i], 4);
		cursor = cursor_make(bytes.at, bytes.size, false, "x", 0);
		fails_with(SP_ERROR_FORMAT, attr_decode(&cursor, 64, &attr, &tail));
		ck_assert_uint_eq(cursor_offset(&cursor), 0);
	}
}

/* Whatever header this is built with: config3 and config4 are read, and written again. */
TEST(the_tail_of_an_attr_is_kept)
{
	static struct bytes bytes;
	const struct perf_event_attr attr = {.type = 1};
	const struct sp_attr_tail wanted = {UINT64_C(0x0102030405060708), 9};
	for (int swap = 0; swap < 2; swap++) {
		bytes = (struct bytes){.swap = swap};
		put_u32(&bytes, 1);
		put_u32(&bytes, 144);
		while (bytes.size < 128)
			put_u64(&bytes, 0);
		put_u64(&bytes, wanted.config3);
		put_u64(&bytes, wanted.config4);
		struct cursor cursor = cursor_make(bytes.at, bytes.size, swap, "x", 0);
		struct perf_event_attr got;
		struct sp_attr_tail tail;
		ok_or_fail(attr_decode(&cursor, 144, &got, &tail));
		ck_assert_mem_eq(&tail, &wanted, sizeof(tail));
		ck_assert_uint_eq(got.type, 1);
	}
	struct long_attr whole = attr_whole(&attr, &wanted);
	struct sp_attr_tail again = attr_tail_of(&whole);
	ck_assert_mem_eq(&again, &wanted, sizeof(again));
	ck_assert_uint_eq(attr_size_needed(&attr, &wanted), 144);
	ck_assert_uint_eq(attr_size_needed(&attr, &(struct sp_attr_tail){.config3 = 1}), 136);
	unsigned int at = 0;
	char value[SP_WORDS_SIZE];
	const char *name;
	ck_assert(sp_attr_next(&attr, &wanted, &at, &name, value)); /* type */
	ck_assert(sp_attr_next(&attr, &wanted, &at, &name, value));
	ck_assert_str_eq(name, "config3");
	ck_assert_str_eq(value, "0x102030405060708");
	ck_assert(sp_attr_next(&attr, &wanted, &at, &name, value));
	ck_assert_str_eq(name, "config4");
	ck_assert(!sp_attr_next(&attr, &wanted, &at, &name, value));
}

TEST(record_types_have_perfs_names)
{
	ck_assert_str_eq(sp_record_type_name(PERF_RECORD_SAMPLE), "SAMPLE");
	ck_assert_str_eq(sp_record_type_name(RECORD_CALLCHAIN_DEFERRED), "CALLCHAIN_DEFERRED");
	ck_assert_str_eq(sp_record_type_name(SP_RECORD_HEADER_ATTR), "HEADER_ATTR");
	ck_assert_str_eq(sp_record_type_name(SP_RECORD_SCHEDSTAT_DOMAIN), "SCHEDSTAT_DOMAIN");
	ck_assert_ptr_null(sp_record_type_name(0));
	ck_assert_ptr_null(sp_record_type_name(23));
	ck_assert_ptr_null(sp_record_type_name(63));
	ck_assert_ptr_null(sp_record_type_name(SP_RECORD_SCHEDSTAT_DOMAIN + 1));
	ck_assert_ptr_null(sp_record_type_name(UINT32_MAX));
}
