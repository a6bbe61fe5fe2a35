/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/metadata/bpf.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/vec.h"

#define ARRAYS_MAX (UINT32_C(1) << 24)
#define TYPES_MAX (UINT32_C(1) << 26)

static int bpf_call(enum bpf_cmd command, union bpf_attr *attr)
{
	long status = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return status < 0 ? -errno : (int)status;
}

int bpf_next_program(uint32_t *id)
{
	union bpf_attr attr = {.start_id = *id};
	int status = bpf_call(BPF_PROG_GET_NEXT_ID, &attr);
	if (status >= 0)
		*id = attr.next_id;
	return status;
}

/* Gets the info of an object. Its pointers and counts request arrays. False if that is refused. */
static bool read_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = {0};
	attr.info.bpf_fd = fd;
	attr.info.info_len = size;
	attr.info.info = (uint64_t)(uintptr_t)info;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr) >= 0;
}

/* Arrays that perf requests, by their bit of enum perf_bpil_array_types. */
static const struct array {
	unsigned int bit;
	size_t pointer, count;
	int size; /* an item's size; negative: its offset in the info */
} arrays[] = {
#define FIELD(name) offsetof(struct bpf_prog_info, name)
	{0, FIELD(jited_prog_insns), FIELD(jited_prog_len), 1},
	{3, FIELD(jited_ksyms), FIELD(nr_jited_ksyms), 8},
	{4, FIELD(jited_func_lens), FIELD(nr_jited_func_lens), 4},
	{5, FIELD(func_info), FIELD(nr_func_info), -(int)FIELD(func_info_rec_size)},
	{6, FIELD(line_info), FIELD(nr_line_info), -(int)FIELD(line_info_rec_size)},
	{7, FIELD(jited_line_info), FIELD(nr_jited_line_info),
	 -(int)FIELD(jited_line_info_rec_size)},
	{8, FIELD(prog_tags), FIELD(nr_prog_tags), 8},
#undef FIELD
};

#define ARRAY_COUNT (count_of(arrays))

static uint32_t u32_at(const struct bpf_prog_info *info, size_t at)
{
	uint32_t value;
	memcpy(&value, (const uint8_t *)info + at, sizeof(value));
	return value;
}

static uint64_t size_of(const struct bpf_prog_info *info, const struct array *array)
{
	uint32_t item = array->size < 0 ? u32_at(info, (size_t)-array->size)
					: (uint32_t)array->size;
	return (uint64_t)item * u32_at(info, array->count);
}

/*
 * Allocates room for the wanted arrays, by the counts of the first query, and requests them. False
 * when out of memory, or if they are too large.
 */
static bool request_arrays(struct bpf_program *program, uint64_t wanted,
			   const struct bpf_prog_info *counts)
{
	uint64_t offsets[ARRAY_COUNT], size = 0;
	for (size_t i = 0; i < ARRAY_COUNT; i++) {
		offsets[i] = size;
		if (wanted >> arrays[i].bit & 1)
			size += (size_of(counts, &arrays[i]) + 7) & ~UINT64_C(7);
	}
	if (size > ARRAYS_MAX)
		return false;
	uint8_t *info = (uint8_t *)&program->info;
	const uint8_t *from = (const uint8_t *)counts;
	program->data = calloc(1, size + 1);
	program->data_size = size;
	for (size_t i = 0; program->data && i < ARRAY_COUNT; i++) {
		const struct array *array = &arrays[i];
		uint64_t pointer = (uint64_t)(uintptr_t)(program->data + offsets[i]);
		if (!(wanted >> array->bit & 1) || !size_of(counts, array))
			continue;
		memcpy(info + array->pointer, &pointer, sizeof(pointer));
		memcpy(info + array->count, from + array->count, sizeof(uint32_t));
		if (array->size < 0)
			memcpy(info - array->size, from - array->size, sizeof(uint32_t));
		program->have |= UINT64_C(1) << array->bit;
	}
	return program->data;
}

bool bpf_read_program(uint32_t id, uint64_t wanted, struct bpf_program *ret)
{
	union bpf_attr attr = {.prog_id = id};
	CLEANUP_CLOSE int fd = bpf_call(BPF_PROG_GET_FD_BY_ID, &attr);
	struct bpf_prog_info counts = {0};
	*ret = (struct bpf_program){0};
	if (fd < 0 || !read_info(fd, &counts, sizeof(counts)) || !counts.nr_jited_ksyms ||
	    !request_arrays(ret, wanted, &counts) || !read_info(fd, &ret->info, sizeof(ret->info)))
		return false;
	for (size_t i = 0; i < ARRAY_COUNT; i++) {
		uint64_t pointer = 0;
		if (ret->have >> arrays[i].bit & 1) {
			if (size_of(&ret->info, &arrays[i]) > size_of(&counts, &arrays[i]))
				return false;
			memcpy(&pointer, (uint8_t *)&ret->info + arrays[i].pointer,
			       sizeof(pointer));
			/* The kernel sets it to 0 if kptr_restrict hides addresses. */
			if (pointer)
				pointer -= (uintptr_t)ret->data;
			else
				ret->have &= ~(UINT64_C(1) << arrays[i].bit);
		}
		memcpy((uint8_t *)&ret->info + arrays[i].pointer, &pointer, sizeof(pointer));
	}
	return true;
}

void bpf_program_deinit(struct bpf_program *program)
{
	free(program->data);
}

uint8_t *bpf_read_types(uint32_t id, uint32_t *size_ret)
{
	union bpf_attr attr = {.btf_id = id};
	CLEANUP_CLOSE int fd = bpf_call(BPF_BTF_GET_FD_BY_ID, &attr);
	struct bpf_btf_info info = {0};
	if (fd < 0 || !read_info(fd, &info, sizeof(info)) || !info.btf_size ||
	    info.btf_size > TYPES_MAX)
		return NULL;
	uint32_t size = *size_ret = info.btf_size;
	CLEANUP_FREE uint8_t *types = malloc(size);
	info = (struct bpf_btf_info){.btf = (uint64_t)(uintptr_t)types, .btf_size = size};
	if (!types || !read_info(fd, &info, sizeof(info)) || info.btf_size != size)
		return NULL;
	return take_ptr(types);
}

/*
 * A BTF blob has a header {u16 magic; u8 version, flags; u32 hdr_len, type_off, type_len, str_off,
 * str_len}, consecutive types, numbered from 1, and strings. A type has {u32 name_off, info,
 * size_or_type} and the data of its kind.
 */

#define BTF_MAGIC 0xeb9f

/* Bytes of a kind after the common fields: once, and for each member. */
static const struct {
	uint8_t once, each;
	bool known;
} btf_kinds[32] = {
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

/*
 * Sets a cursor to the part [offset, offset + size) after the header. Returns false if the blob is
 * shorter.
 */
static bool btf_part(const struct cursor *whole, uint32_t header, uint32_t offset, uint32_t size,
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
static bool btf_parts(const void *blob, size_t size, struct cursor *types, struct cursor *strings)
{
	struct cursor whole = cursor_make(blob, size, false, NULL, 0), cursor = whole;
	uint16_t magic;
	uint32_t header, type_offset, type_size, string_offset, string_size;
	return cursor_u16(&cursor, &magic) && magic == BTF_MAGIC && cursor_skip(&cursor, 2) &&
	       cursor_u32(&cursor, &header) && cursor_u32(&cursor, &type_offset) &&
	       cursor_u32(&cursor, &type_size) && cursor_u32(&cursor, &string_offset) &&
	       cursor_u32(&cursor, &string_size) &&
	       btf_part(&whole, header, type_offset, type_size, types) &&
	       btf_part(&whole, header, string_offset, string_size, strings);
}

/* Reads the next type. Returns false at the end, and if its kind is unknown. */
static bool btf_next_type(struct cursor *types, uint32_t *name_ret)
{
	uint32_t info;
	if (!cursor_u32(types, name_ret) || !cursor_u32(types, &info) || !cursor_skip(types, 4))
		return false;
	uint32_t kind = info >> 24 & 0x1f, count = info & 0xffff;
	return btf_kinds[kind].known &&
	       cursor_skip(types, btf_kinds[kind].once + (size_t)btf_kinds[kind].each * count);
}

const char *btf_type_name(const void *blob, size_t size, uint32_t id)
{
	struct cursor types, strings;
	uint32_t name = 0;
	const char *text;
	if (!id || !btf_parts(blob, size, &types, &strings))
		return NULL;
	for (uint32_t i = 0; i < id; i++)
		if (!btf_next_type(&types, &name))
			return NULL;
	if (!cursor_skip(&strings, name) ||
	    !cursor_string(&strings, cursor_left(&strings), &text) || !*text)
		return NULL;
	return text;
}
