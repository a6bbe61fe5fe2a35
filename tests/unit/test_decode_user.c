/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of perf's own making, in both byte orders, whole and cut short. */
#include "record/decode.h"
#include "record/record_length.h"
#include "record/types.h"
#include "bytes.h"
#include "test.h"

static struct decoder *decoder_of(bool swap)
{
	static const struct sp_event event = {.name = "cycles", .attr = {.size = 64}};
	struct record_layout layout = {&event, 1, swap, "made-up"};
	struct decoder *decoder;
	ok_or_fail(decoder_new(&layout, &decoder));
	return decoder;
}

static struct sp_error *decode(struct decoder *decoder, const struct bytes *bytes, uint32_t type,
			       size_t size, struct sp_record *ret)
{
	struct raw_record raw = {.type = type, .bytes = bytes->at, .size = size, .offset = 0x1000};
	return decoder_decode(decoder, &raw, ret);
}

/* Whether anything but its header says how long it is. */
static bool has_length(uint32_t type)
{
	return type != SP_RECORD_AUXTRACE_INFO && type != SP_RECORD_AUXTRACE &&
	       type != SP_RECORD_AUXTRACE_ERROR && type != SP_RECORD_SCHEDSTAT_DOMAIN &&
	       type != PERF_RECORD_ITRACE_START && type != RECORD_AUX_OUTPUT_HW_ID;
}

/* A record's contents determine its length; a grown record may have more lengths. */
static void check_length(const struct bytes *bytes, uint32_t type)
{
	struct bytes grown = *bytes;
	const struct lengths lengths = lengths_of_any();
	struct raw_record raw = {.type = type, .bytes = grown.at};
	for (int i = 0; i < 3 && has_length(type); i++) {
		size_t got[LENGTHS_MAX], found = 0;
		put_u64(&grown, 0);
		raw.size = grown.size;
		size_t count = lengths_below(&lengths, &raw, bytes->swap, got);
		for (size_t j = 0; j < count; j++)
			found += got[j] == (bytes->size + 7) / 8 * 8;
		ck_assert_msg(found == 1, "%s of %zu bytes", sp_record_type_name(type), raw.size);
	}
}

/* `fill` puts the body, `look` finds it; cut below `least` bytes it is damage. */
static void both_orders(uint32_t type, void (*fill)(struct bytes *), size_t least,
			void (*look)(const struct sp_record *))
{
	for (int swap = 0; swap < 2; swap++) {
		struct decoder *decoder = decoder_of(swap);
		struct bytes bytes = {.swap = swap};
		struct sp_record record;
		record_begin(&bytes, type, 0);
		fill(&bytes);
		record_end(&bytes);
		ok_or_fail(decode(decoder, &bytes, type, bytes.size, &record));
		look(&record);
		check_length(&bytes, type);
		for (size_t size = 8; size < least; size++) {
			struct sp_error *error = decode(decoder, &bytes, type, size, &record);
			ck_assert_msg(error, "%s of %zu bytes", sp_record_type_name(type), size);
			ck_assert_int_eq(sp_error_code(error), SP_ERROR_FORMAT);
			sp_error_free(error);
		}
		decoder_free(decoder);
	}
}

static void put_words(struct bytes *bytes, unsigned int count)
{
	for (unsigned int i = 1; i <= count; i++)
		put_u64(bytes, UINT64_C(0x0102030400000000) + i);
}

#define WORD(i) (UINT64_C(0x0102030400000000) + (i))

static void fill_id_index(struct bytes *bytes)
{
	put_u64(bytes, 2);
	put_words(bytes, 12);
}

static void look_id_index(const struct sp_record *record)
{
	ck_assert_uint_eq(record->id_index.count, 2);
	ck_assert_uint_eq(record->id_index.entries[1].id, WORD(5));
	ck_assert_uint_eq(record->id_index.entries[1].tid, WORD(8));
	ck_assert_uint_eq(record->id_index.machines[1].vcpu, WORD(12));
}

static void fill_auxtrace_info(struct bytes *bytes)
{
	put_u32(bytes, 3);
	put_u32(bytes, 0);
	put_words(bytes, 2);
}

static void look_auxtrace_info(const struct sp_record *record)
{
	ck_assert_uint_eq(record->auxtrace_info.type, 3);
	ck_assert_uint_eq(record->auxtrace_info.count, 2);
	ck_assert_uint_eq(record->auxtrace_info.priv[1], WORD(2));
}

static void fill_auxtrace(struct bytes *bytes)
{
	put_words(bytes, 3);
	for (uint32_t i = 7; i < 11; i++)
		put_u32(bytes, i);
}

static void look_auxtrace(const struct sp_record *record)
{
	ck_assert_uint_eq(record->auxtrace.size, WORD(1));
	ck_assert_uint_eq(record->auxtrace.reference, WORD(3));
	ck_assert_uint_eq(record->auxtrace.idx, 7);
	ck_assert_uint_eq(record->auxtrace.cpu, 9);
}

static void fill_auxtrace_error(struct bytes *bytes)
{
	char message[64] = "lost";
	for (uint32_t i = 1; i < 6; i++)
		put_u32(bytes, i);
	put_u32(bytes, 2);
	put_words(bytes, 2);
	put(bytes, message, sizeof(message));
	put_u32(bytes, 41);
	put_u32(bytes, 42);
}

static void look_auxtrace_error(const struct sp_record *record)
{
	const struct sp_auxtrace_error *error = &record->auxtrace_error;
	ck_assert_uint_eq(error->code, 2);
	ck_assert_uint_eq(error->tid, 5);
	ck_assert_uint_eq(error->time_ns, WORD(2));
	ck_assert_str_eq(error->msg, "lost");
	ck_assert_uint_eq(error->machine_pid, 41);
	ck_assert_uint_eq(error->vcpu, 42);
}

static void fill_thread_map(struct bytes *bytes)
{
	char comm[16] = "sixteen letters!";
	put_u64(bytes, 2);
	put_u64(bytes, 7);
	put(bytes, "wl\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	put_u64(bytes, 8);
	memset(comm, 'x', sizeof(comm));
	put(bytes, comm, sizeof(comm));
}

static void look_thread_map(const struct sp_record *record)
{
	ck_assert_uint_eq(record->thread_map.count, 2);
	ck_assert_uint_eq(record->thread_map.entries[0].pid, 7);
	ck_assert_str_eq(record->thread_map.entries[0].comm, "wl");
	ck_assert_str_eq(record->thread_map.entries[1].comm, "xxxxxxxxxxxxxxx");
}

static void fill_cpu_list(struct bytes *bytes)
{
	static const uint16_t words[] = {0, 3, 1, 0xffff, 5, 0};
	for (size_t i = 0; i < 6; i++)
		put_u16(bytes, words[i]);
	put_u32(bytes, 0);
}

static void look_cpus(const struct sp_cpu_map *map, bool any, size_t count, uint32_t first,
		      uint32_t last)
{
	ck_assert_int_eq(map->any, any);
	ck_assert_uint_eq(map->count, count);
	ck_assert_uint_eq(map->cpus[0], first);
	ck_assert_uint_eq(map->cpus[count - 1], last);
}

static void look_cpu_list(const struct sp_record *record)
{
	look_cpus(&record->cpu_map, true, 2, 1, 5);
}

static void fill_cpu_mask(struct bytes *bytes)
{
	put_u16(bytes, 1);
	put_u16(bytes, 2);
	put_u16(bytes, 8);
	put_u16(bytes, 0);
	put_u64(bytes, 0x11);
	put_u64(bytes, 1);
}

static void look_cpu_mask(const struct sp_record *record)
{
	look_cpus(&record->cpu_map, false, 3, 0, 64);
}

/* The format that perf wrote before 6.1. */
static void fill_old_mask(struct bytes *bytes)
{
	put_u16(bytes, 1);
	put_u16(bytes, 1);
	put_u16(bytes, 8);
	put_u32(bytes, 0);
	put_u64(bytes, 0x8000000000000001);
	put_u32(bytes, 0);
	put_u16(bytes, 0);
}

static void look_old_mask(const struct sp_record *record)
{
	look_cpus(&record->cpu_map, false, 2, 0, 63);
}

static void fill_narrow_mask(struct bytes *bytes)
{
	put_u16(bytes, 1);
	put_u16(bytes, 2);
	put_u16(bytes, 4);
	put_u32(bytes, 2);
	put_u32(bytes, 1);
	put_u16(bytes, 0);
}

static void look_narrow_mask(const struct sp_record *record)
{
	look_cpus(&record->cpu_map, false, 2, 1, 32);
}

static void fill_cpu_range(struct bytes *bytes)
{
	put_u64(bytes, SP_EVENT_UPDATE_CPUS);
	put_u64(bytes, 9);
	put_u16(bytes, 2);
	put_u8(bytes, 1);
	put_u8(bytes, 0);
	put_u16(bytes, 4);
	put_u16(bytes, 7);
}

static void look_cpu_range(const struct sp_record *record)
{
	ck_assert_uint_eq(record->event_update.id, 9);
	look_cpus(&record->event_update.cpus, true, 4, 4, 7);
}

static void fill_scale(struct bytes *bytes)
{
	double scale = 0.25;
	uint64_t bits;
	memcpy(&bits, &scale, sizeof(bits));
	put_u64(bytes, SP_EVENT_UPDATE_SCALE);
	put_u64(bytes, 9);
	put_u64(bytes, bits);
}

static void look_scale(const struct sp_record *record)
{
	ck_assert_double_eq(record->event_update.scale, 0.25);
}

static void fill_unit(struct bytes *bytes)
{
	put_u64(bytes, SP_EVENT_UPDATE_UNIT);
	put_u64(bytes, 9);
	put_text(bytes, "Joules");
}

static void look_unit(const struct sp_record *record)
{
	ck_assert_str_eq(record->event_update.text, "Joules");
}

static void fill_stat_config(struct bytes *bytes)
{
	put_u64(bytes, 2);
	put_words(bytes, 4);
}

static void look_stat_config(const struct sp_record *record)
{
	ck_assert_uint_eq(record->stat_config.count, 2);
	ck_assert_uint_eq(record->stat_config.entries[1].value, WORD(4));
}

static void fill_stat(struct bytes *bytes)
{
	put_u64(bytes, 5);
	put_u32(bytes, 6);
	put_u32(bytes, 7);
	put_words(bytes, 3);
}

static void look_stat(const struct sp_record *record)
{
	ck_assert_uint_eq(record->stat.id, 5);
	ck_assert_uint_eq(record->stat.thread, 7);
	ck_assert_uint_eq(record->stat.running_ns, WORD(3));
}

static void fill_time_conv(struct bytes *bytes)
{
	put_words(bytes, 5);
	put_u8(bytes, 1);
	put_u8(bytes, 0);
	put_u16(bytes, 0);
	put_u32(bytes, 0);
}

static void look_time_conv(const struct sp_record *record)
{
	ck_assert_uint_eq(record->time_conv.mask, WORD(5));
	ck_assert(record->time_conv.cap_user_time_zero);
	ck_assert(!record->time_conv.cap_user_time_short);
}

static void fill_bpf_metadata(struct bytes *bytes)
{
	char name[512] = "bpf_prog_a", key[64] = "version", value[256] = "7";
	put(bytes, name, sizeof(name));
	put_u64(bytes, 1);
	put(bytes, key, sizeof(key));
	put(bytes, value, sizeof(value));
}

static void look_bpf_metadata(const struct sp_record *record)
{
	ck_assert_str_eq(record->bpf_metadata.prog_name, "bpf_prog_a");
	ck_assert_uint_eq(record->bpf_metadata.count, 1);
	ck_assert_str_eq(record->bpf_metadata.entries[0].key, "version");
	ck_assert_str_eq(record->bpf_metadata.entries[0].value, "7");
}

static void fill_schedstat_cpu(struct bytes *bytes)
{
	put_u64(bytes, 99);
	put_u32(bytes, 3);
	put_u16(bytes, 17);
	put_u16(bytes, 0);
	for (uint32_t i = 0; i < 6; i++)
		put_u32(bytes, 10 + i);
	put_words(bytes, 3);
}

static void look_schedstat_cpu(const struct sp_record *record)
{
	ck_assert_uint_eq(record->schedstat_cpu.cpu, 3);
	ck_assert_uint_eq(record->schedstat_cpu.version, 17);
	ck_assert_uint_eq(record->schedstat_cpu.ttwu_local, 15);
	ck_assert_uint_eq(record->schedstat_cpu.pcount, WORD(3));
}

static void fill_schedstat_domain(struct bytes *bytes)
{
	put_u64(bytes, 99);
	put_u32(bytes, 3);
	put_u16(bytes, 15);
	put_u16(bytes, 1);
	for (uint32_t i = 0; i < 4; i++)
		put_u32(bytes, 20 + i);
}

static void look_schedstat_domain(const struct sp_record *record)
{
	ck_assert_uint_eq(record->schedstat_domain.domain, 1);
	ck_assert_uint_eq(record->schedstat_domain.count, 4);
	ck_assert_uint_eq(record->schedstat_domain.counts[3], 23);
}

TEST(all_user_records)
{
	both_orders(SP_RECORD_ID_INDEX, fill_id_index, 8 + 8 + 64, look_id_index);
	both_orders(SP_RECORD_AUXTRACE_INFO, fill_auxtrace_info, 16, look_auxtrace_info);
	both_orders(SP_RECORD_AUXTRACE, fill_auxtrace, 44, look_auxtrace);
	both_orders(SP_RECORD_AUXTRACE_ERROR, fill_auxtrace_error, 120, look_auxtrace_error);
	both_orders(SP_RECORD_THREAD_MAP, fill_thread_map, 64, look_thread_map);
	both_orders(SP_RECORD_CPU_MAP, fill_cpu_list, 18, look_cpu_list);
	both_orders(SP_RECORD_CPU_MAP, fill_cpu_mask, 32, look_cpu_mask);
	both_orders(SP_RECORD_CPU_MAP, fill_old_mask, 24, look_old_mask);
	both_orders(SP_RECORD_CPU_MAP, fill_narrow_mask, 22, look_narrow_mask);
	both_orders(SP_RECORD_EVENT_UPDATE, fill_cpu_range, 32, look_cpu_range);
	both_orders(SP_RECORD_EVENT_UPDATE, fill_scale, 32, look_scale);
	both_orders(SP_RECORD_EVENT_UPDATE, fill_unit, 31, look_unit);
	both_orders(SP_RECORD_STAT_CONFIG, fill_stat_config, 48, look_stat_config);
	both_orders(SP_RECORD_STAT, fill_stat, 48, look_stat);
	both_orders(SP_RECORD_TIME_CONV, fill_time_conv, 32, look_time_conv);
	both_orders(SP_RECORD_BPF_METADATA, fill_bpf_metadata, 848, look_bpf_metadata);
	both_orders(SP_RECORD_SCHEDSTAT_CPU, fill_schedstat_cpu, 72, look_schedstat_cpu);
	both_orders(SP_RECORD_SCHEDSTAT_DOMAIN, fill_schedstat_domain, 24, look_schedstat_domain);
}

static void fill_itrace_start(struct bytes *bytes)
{
	put_u32(bytes, 5);
	put_u32(bytes, 6);
}

static void look_itrace_start(const struct sp_record *record)
{
	ck_assert_uint_eq(record->itrace_start.pid, 5);
	ck_assert_uint_eq(record->itrace_start.tid, 6);
}

static void fill_hw_id(struct bytes *bytes)
{
	put_u64(bytes, WORD(1));
}

static void look_hw_id(const struct sp_record *record)
{
	ck_assert_uint_eq(record->aux_output_hw_id.hw_id, WORD(1));
}

TEST(kernel_records_of_traces)
{
	both_orders(PERF_RECORD_ITRACE_START, fill_itrace_start, 16, look_itrace_start);
	both_orders(21, fill_hw_id, 16, look_hw_id);
}

TEST(a_mask_of_too_many_is_damage)
{
	struct decoder *decoder = decoder_of(false);
	struct bytes bytes = {.swap = false};
	struct sp_record record;
	record_begin(&bytes, SP_RECORD_CPU_MAP, 0);
	put_u16(&bytes, 0);
	put_u16(&bytes, 65535);
	put_u32(&bytes, 0);
	record_end(&bytes);
	struct sp_error *error = decode(decoder, &bytes, SP_RECORD_CPU_MAP, bytes.size, &record);
	ck_assert_ptr_nonnull(error);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), "CPU_MAP of 16 bytes"));
	sp_error_free(error);
	decoder_free(decoder);
}
