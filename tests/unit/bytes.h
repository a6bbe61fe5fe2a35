/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up records and files for the readers' tests, in either byte order: what
 * is put is what a kernel or perf on such a machine would have written.
 */
#ifndef UNIT_BYTES_H
#define UNIT_BYTES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Byte order of this machine, for records of the other order, or of both. */
#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

struct bytes {
	_Alignas(16) uint8_t at[1 << 18];
	size_t size;
	bool swap;
	size_t record; /* start of the open record */
};

static inline void put(struct bytes *bytes, const void *from, size_t size)
{
	if (size > sizeof(bytes->at) - bytes->size)
		abort();
	memcpy(bytes->at + bytes->size, from, size);
	bytes->size += size;
}

static inline void put_u8(struct bytes *bytes, uint8_t value)
{
	put(bytes, &value, 1);
}

static inline void put_u16(struct bytes *bytes, uint16_t value)
{
	value = bytes->swap ? __builtin_bswap16(value) : value;
	put(bytes, &value, 2);
}

static inline void put_u32(struct bytes *bytes, uint32_t value)
{
	value = bytes->swap ? __builtin_bswap32(value) : value;
	put(bytes, &value, 4);
}

static inline void put_u64(struct bytes *bytes, uint64_t value)
{
	value = bytes->swap ? __builtin_bswap64(value) : value;
	put(bytes, &value, 8);
}

/* The text, its NUL, and zeros up to a multiple of 8 from the record's start. */
static inline void put_text(struct bytes *bytes, const char *text)
{
	static const uint8_t zeros[8];
	put(bytes, text, strlen(text) + 1);
	put(bytes, zeros, -(bytes->size - bytes->record) & 7);
}

static inline void set_u64(struct bytes *bytes, size_t at, uint64_t value)
{
	size_t size = bytes->size;
	bytes->size = at;
	put_u64(bytes, value);
	bytes->size = size;
}

static inline void record_begin(struct bytes *bytes, uint32_t type, uint16_t misc)
{
	bytes->record = bytes->size;
	put_u32(bytes, type);
	put_u16(bytes, misc);
	put_u16(bytes, 0);
}

static inline void record_end(struct bytes *bytes)
{
	size_t size = bytes->size;
	bytes->size = bytes->record + 6;
	put_u16(bytes, (uint16_t)(size - bytes->record));
	bytes->size = size;
}

/* The flags; mirrored, as big-endian compilers lay bit-fields: from the high bit. */
static inline uint64_t bits_of_attr(const struct perf_event_attr *attr, bool mirrored)
{
	const unsigned int widths[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1,
				       1, 1, 1, 1, 1, 1};
	const uint64_t values[] = {
		attr->disabled, attr->inherit, attr->pinned, attr->exclusive, attr->exclude_user,
		attr->exclude_kernel, attr->exclude_hv, attr->exclude_idle, attr->mmap, attr->comm,
		attr->freq, attr->inherit_stat, attr->enable_on_exec, attr->task, attr->watermark,
		attr->precise_ip, attr->mmap_data, attr->sample_id_all, attr->exclude_host,
		attr->exclude_guest, attr->exclude_callchain_kernel, attr->exclude_callchain_user,
		attr->mmap2, attr->comm_exec, attr->use_clockid, attr->context_switch,
	};
	uint64_t bits = 0;
	unsigned int at = 0;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		bits |= values[i] << (mirrored ? 64 - at - widths[i] : at);
		at += widths[i];
	}
	return bits;
}

/* `size` bytes of an attr (64 to 128 of those this struct has, then zeros). */
static inline void put_attr(struct bytes *bytes, const struct perf_event_attr *attr, uint32_t size)
{
	size_t begin = bytes->size;
	put_u32(bytes, attr->type);
	put_u32(bytes, size);
	put_u64(bytes, attr->config);
	put_u64(bytes, attr->sample_period);
	put_u64(bytes, attr->sample_type);
	put_u64(bytes, attr->read_format);
	put_u64(bytes, bits_of_attr(attr, bytes->swap != HOST_IS_BIG));
	put_u32(bytes, attr->wakeup_events);
	put_u32(bytes, attr->bp_type);
	put_u64(bytes, attr->config1);
	put_u64(bytes, attr->config2);
	put_u64(bytes, attr->branch_sample_type);
	put_u64(bytes, attr->sample_regs_user);
	put_u32(bytes, attr->sample_stack_user);
	put_u32(bytes, (uint32_t)attr->clockid);
	put_u64(bytes, attr->sample_regs_intr);
	put_u32(bytes, attr->aux_watermark);
	put_u16(bytes, attr->sample_max_stack);
	put_u16(bytes, 0);
	put_u32(bytes, attr->aux_sample_size);
	put_u32(bytes, 0);
	put_u64(bytes, attr->sig_data);
	while (bytes->size - begin < size)
		put_u8(bytes, 0);
	bytes->size = begin + size;
}

/* The header of a file; where attrs and data lie is set afterwards. */
enum {
	FILE_ATTR_SIZE_AT = 16,
	FILE_ATTRS_AT = 24,
	FILE_DATA_AT = 40,
	FILE_FEATURES_AT = 72,
};

static inline void put_file_header(struct bytes *bytes)
{
	put_u64(bytes, UINT64_C(0x32454c4946524550));
	put_u64(bytes, 104);
	for (size_t i = 2; i < 13; i++)
		put_u64(bytes, 0);
}

#endif
