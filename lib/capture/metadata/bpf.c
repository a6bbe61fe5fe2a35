/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/metadata/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cursor.h"

static int call(enum bpf_cmd command, union bpf_attr *attr)
{
	long status = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return status < 0 ? -errno : (int)status;
}

int bpf_next_program(uint32_t *id)
{
	union bpf_attr attr = {.start_id = *id};
	int status = call(BPF_PROG_GET_NEXT_ID, &attr);
	if (status >= 0)
		*id = attr.next_id;
	return status;
}

int bpf_open_program(uint32_t id)
{
	union bpf_attr attr = {.prog_id = id};
	return call(BPF_PROG_GET_FD_BY_ID, &attr);
}

int bpf_open_types(uint32_t id)
{
	union bpf_attr attr = {.btf_id = id};
	return call(BPF_BTF_GET_FD_BY_ID, &attr);
}

int bpf_object_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = {0};
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = size;
	attr.info.info = (uint64_t)(uintptr_t)info;
	return call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/*
 * A blob is a header {u16 magic; u8 version, flags; u32 hdr_len, type_off,
 * type_len, str_off, str_len}, types one behind the other, numbered from 1, and
 * strings. A type is {u32 name_off, info, size_or_type} and what its kind adds.
 */

#define MAGIC 0xeb9f

/* Bytes of a kind after the common fields: once, and for each member. */
static const struct {
	uint8_t once, each;
	bool known;
} kinds[32] = {
	[1] = {4, 0, true},   /* INT */
	[2] = {0, 0, true},   /* PTR */
	[3] = {12, 0, true},  /* ARRAY */
	[4] = {0, 12, true},  /* STRUCT */
	[5] = {0, 12, true},  /* UNION */
	[6] = {0, 8, true},   /* ENUM */
	[7] = {0, 0, true},   /* FWD */
	[8] = {0, 0, true},   /* TYPEDEF */
	[9] = {0, 0, true},   /* VOLATILE */
	[10] = {0, 0, true},  /* CONST */
	[11] = {0, 0, true},  /* RESTRICT */
	[12] = {0, 0, true},  /* FUNC */
	[13] = {0, 8, true},  /* FUNC_PROTO */
	[14] = {4, 0, true},  /* VAR */
	[15] = {0, 12, true}, /* DATASEC */
	[16] = {0, 0, true},  /* FLOAT */
	[17] = {4, 0, true},  /* DECL_TAG */
	[18] = {0, 0, true},  /* TYPE_TAG */
	[19] = {0, 12, true}, /* ENUM64 */
};

/* The part [offset, offset + size) behind the header; false if it is not all there. */
static bool part(const struct cursor *whole, uint32_t header, uint32_t offset, uint32_t size,
		 struct cursor *ret)
{
	struct cursor cursor = *whole;
	const uint8_t *bytes;
	if (!cursor_skip(&cursor, header) || !cursor_skip(&cursor, offset) ||
	    !cursor_bytes(&cursor, size, &bytes))
		return false;
	*ret = cursor_make(bytes, size, false, NULL, 0);
	return true;
}

/* Reads the header, and sets cursors to the types and the strings. */
static bool parts(const void *blob, size_t size, struct cursor *types, struct cursor *strings)
{
	struct cursor whole = cursor_make(blob, size, false, NULL, 0), cursor = whole;
	uint16_t magic;
	uint32_t header, type_offset, type_size, string_offset, string_size;
	return cursor_u16(&cursor, &magic) && magic == MAGIC && cursor_skip(&cursor, 2) &&
	       cursor_u32(&cursor, &header) && cursor_u32(&cursor, &type_offset) &&
	       cursor_u32(&cursor, &type_size) && cursor_u32(&cursor, &string_offset) &&
	       cursor_u32(&cursor, &string_size) &&
	       part(&whole, header, type_offset, type_size, types) &&
	       part(&whole, header, string_offset, string_size, strings);
}

/* The next type; false at the end, or where the kind is not known. */
static bool next_type(struct cursor *types, uint32_t *name_ret)
{
	uint32_t info;
	if (!cursor_u32(types, name_ret) || !cursor_u32(types, &info) || !cursor_skip(types, 4))
		return false;
	uint32_t kind = info >> 24 & 0x1f, count = info & 0xffff;
	return kinds[kind].known &&
	       cursor_skip(types, kinds[kind].once + (size_t)kinds[kind].each * count);
}

const char *btf_type_name(const void *blob, size_t size, uint32_t id)
{
	struct cursor types, strings;
	uint32_t name = 0;
	const char *text;
	if (!id || !parts(blob, size, &types, &strings))
		return NULL;
	for (uint32_t i = 0; i < id; i++)
		if (!next_type(&types, &name))
			return NULL;
	if (!cursor_skip(&strings, name) ||
	    !cursor_string(&strings, cursor_left(&strings), &text) || !*text)
		return NULL;
	return text;
}
