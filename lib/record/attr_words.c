/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describes the fields of perf_event_attr by their offsets, so that fields newer than this build's
 * header are named, too. Order and names are perf's (perf evlist -v).
 */
#include <sprof/private/describe.h>
#include <sprof/private/words.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "record/types.h"

enum kind { UNSIGNED, SIGNED, HEX, SAMPLE_BITS, READ_BITS, BRANCH_BITS, BIT, TWO_BITS };

static const struct field {
	const char *name;
	uint8_t kind;
	uint8_t at;   /* offset in bytes; of a flag, the number of its bit */
	uint8_t size;
} fields[] = {
	{"type", UNSIGNED, 0, 4},
	{"size", UNSIGNED, 4, 4},
	{"config", HEX, 8, 8},
	{"{ sample_period, sample_freq }", UNSIGNED, 16, 8},
	{"sample_type", SAMPLE_BITS, 24, 8},
	{"read_format", READ_BITS, 32, 8},
	{"disabled", BIT, 0, 0},
	{"inherit", BIT, 1, 0},
	{"pinned", BIT, 2, 0},
	{"exclusive", BIT, 3, 0},
	{"exclude_user", BIT, 4, 0},
	{"exclude_kernel", BIT, 5, 0},
	{"exclude_hv", BIT, 6, 0},
	{"exclude_idle", BIT, 7, 0},
	{"mmap", BIT, 8, 0},
	{"comm", BIT, 9, 0},
	{"freq", BIT, 10, 0},
	{"inherit_stat", BIT, 11, 0},
	{"enable_on_exec", BIT, 12, 0},
	{"task", BIT, 13, 0},
	{"watermark", BIT, 14, 0},
	{"precise_ip", TWO_BITS, 15, 0},
	{"mmap_data", BIT, 17, 0},
	{"sample_id_all", BIT, 18, 0},
	{"exclude_host", BIT, 19, 0},
	{"exclude_guest", BIT, 20, 0},
	{"exclude_callchain_kernel", BIT, 21, 0},
	{"exclude_callchain_user", BIT, 22, 0},
	{"mmap2", BIT, 23, 0},
	{"comm_exec", BIT, 24, 0},
	{"use_clockid", BIT, 25, 0},
	{"context_switch", BIT, 26, 0},
	{"write_backward", BIT, 27, 0},
	{"namespaces", BIT, 28, 0},
	{"ksymbol", BIT, 29, 0},
	{"bpf_event", BIT, 30, 0},
	{"aux_output", BIT, 31, 0},
	{"cgroup", BIT, 32, 0},
	{"text_poke", BIT, 33, 0},
	{"build_id", BIT, 34, 0},
	{"inherit_thread", BIT, 35, 0},
	{"remove_on_exec", BIT, 36, 0},
	{"sigtrap", BIT, 37, 0},
	{"defer_callchain", BIT, 38, 0},
	{"defer_output", BIT, 39, 0},
	{"{ wakeup_events, wakeup_watermark }", UNSIGNED, 48, 4},
	{"bp_type", UNSIGNED, 52, 4},
	{"{ bp_addr, config1 }", HEX, 56, 8},
	{"{ bp_len, config2 }", HEX, 64, 8},
	{"branch_sample_type", BRANCH_BITS, 72, 8},
	{"sample_regs_user", HEX, 80, 8},
	{"sample_stack_user", UNSIGNED, 88, 4},
	{"clockid", SIGNED, 92, 4},
	{"sample_regs_intr", HEX, 96, 8},
	{"aux_watermark", UNSIGNED, 104, 4},
	{"sample_max_stack", UNSIGNED, 108, 2},
	{"aux_sample_size", UNSIGNED, 112, 4},
	{"aux_action", HEX, 116, 4},
	{"sig_data", HEX, 120, 8},
	{"config3", HEX, 128, 8},
	{"config4", HEX, 136, 8},
};

/* Returns the bit-fields as a number with `disabled` as bit 0. */
static uint64_t flags_of(const struct perf_event_attr *attr)
{
	uint64_t word;
	memcpy(&word, (const uint8_t *)attr + 40, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	uint64_t mirrored = 0;
	for (unsigned int i = 0; i < 64; i++)
		mirrored |= (word >> i & 1) << (63 - i);
	word = mirrored;
#endif
	return word;
}

static uint64_t number_of(const struct perf_event_attr *attr, const struct sp_attr_tail *tail,
			  const struct field *field)
{
	const uint8_t *bytes = (const uint8_t *)attr + field->at;
	uint64_t word = 0;
	uint32_t half = 0;
	uint16_t quarter = 0;
	switch (field->kind) {
	case BIT:
		return flags_of(attr) >> field->at & 1;
	case TWO_BITS:
		return attr->precise_ip;
	default:
		break;
	}
	if (field->at >= PERF_ATTR_SIZE_VER7)
		return field->at == PERF_ATTR_SIZE_VER7 ? tail->config3 : tail->config4;
	switch (field->size) {
	case 2:
		memcpy(&quarter, bytes, sizeof(quarter));
		return quarter;
	case 4:
		memcpy(&half, bytes, sizeof(half));
		return half;
	default:
		memcpy(&word, bytes, sizeof(word));
		return word;
	}
}

/* Writes names of bits; `kind`: SAMPLE_BITS to BRANCH_BITS. */
static void put_bits(uint64_t bits, enum kind kind, char *value)
{
	static const char *const names[][64] = {
		{
			"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD",
			"STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT",
			"DATA_SRC", "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX",
			"CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
		},
		[READ_BITS - SAMPLE_BITS] = {
			"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
		},
		[BRANCH_BITS - SAMPLE_BITS] = {
			"USER", "KERNEL", "HV", "ANY", "ANY_CALL", "ANY_RETURN", "IND_CALL",
			"ABORT_TX", "IN_TX", "NO_TX", "COND", "CALL_STACK", "IND_JUMP", "CALL",
			"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE", "COUNTERS",
		},
	};
	size_t used = 0;
	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *text = names[kind - SAMPLE_BITS][bit];
		if (!(bits >> bit & 1))
			continue;
		size_t room = SP_WORDS_SIZE - used;
		int length = text ? snprintf(value + used, room, "%s%s", used ? "|" : "", text) :
				    snprintf(value + used, room, "%s0x%" PRIx64, used ? "|" : "",
					     UINT64_C(1) << bit);
		if (length < 0 || (size_t)length >= room)
			return;
		used += (size_t)length;
	}
}

bool sp_attr_next(const struct perf_event_attr *attr, const struct sp_attr_tail *tail,
		  unsigned int *at, const char **name_ret, char *value)
{
	for (; *at < sizeof(fields) / sizeof(*fields); ++*at) {
		const struct field *field = &fields[*at];
		uint64_t number = number_of(attr, tail, field);
		if (!number)
			continue;
		if (field->kind == HEX)
			snprintf(value, SP_WORDS_SIZE, "%#" PRIx64, number);
		else if (field->kind == SIGNED)
			snprintf(value, SP_WORDS_SIZE, "%d", (int)(int32_t)number);
		else if (field->kind >= SAMPLE_BITS && field->kind <= BRANCH_BITS)
			put_bits(number, field->kind, value);
		else
			snprintf(value, SP_WORDS_SIZE, "%" PRIu64, number);
		*name_ret = field->name;
		++*at;
		return true;
	}
	return false;
}
