/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"
#include "base/cursor.h"
#include "base/diagnosis.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/leb128.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "base/wide.h"
#include <errno.h>
#include <stdio.h>
#include "test.h"

TEST(arena_objects_are_zeroed_aligned_and_apart)
{
	struct arena arena = {0};
	unsigned char *last = NULL;
	for (size_t size = 1; size < 100000; size = size * 3 + 1) {
		unsigned char *object = arena_alloc(&arena, size);
		ck_assert_ptr_nonnull(object);
		ck_assert_uint_eq((uintptr_t)object % 16, 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(object[i], 0);
		memset(object, 0xff, size);
		ck_assert(object != last);
		last = object;
	}
	ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX));
	arena_deinit(&arena);
}

TEST(arenas_of_few_objects_are_small)
{
	struct arena arena = {0};
	ck_assert_ptr_nonnull(arena_alloc(&arena, 1));
	ck_assert_uint_eq(arena.total, 4096);
	/* Blocks of 4, 8, 16 and 32 KB, then of 64 KB. */
	for (size_t i = 0; i < 2048; i++)
		ck_assert_ptr_nonnull(arena_alloc(&arena, 128));
	ck_assert_uint_eq(arena.total, (60 + 4 * 64) << 10);
	arena_deinit(&arena);
}

TEST(vec_grows_and_keeps_items)
{
	VEC(int) numbers = {0};
	for (int i = 0; i < 1000; i++)
		*vec_push(&numbers) = i;
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(numbers.items[i], i);
	ck_assert(!vec_reserve(&numbers, SIZE_MAX / 2));
	ck_assert_uint_eq(numbers.count, 1000);
	vec_deinit(&numbers);
}

/* Sanitizers end a process that asks for more memory than there can be. */
#ifdef __has_feature
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

#if !HAS_SANITIZER
TEST(a_vec_without_memory_fails_and_returns_its_last_item)
{
	/* Eight of them are larger than any memory. */
	struct large {
		char bytes[PTRDIFF_MAX / 4];
	} *place = malloc(1);
	VEC(struct large) vec = {.items = place, .count = 1, .capacity = 1};
	bool failed = false;
	ck_assert_ptr_eq(vec_add(&vec, &failed), place);
	ck_assert(failed);
	ck_assert_uint_eq(vec.count, 1);
	vec_deinit(&vec);
}
#endif

TEST(sorted_items_are_found)
{
	static const uint64_t items[] = {3, 7, 7, UINT64_MAX};
	static const struct { char name; uint32_t at; } points[] = {{'a', 2}, {'b', 2}, {'c', 9}};
	ck_assert_uint_eq(sorted_up_to(items, 0, , 5), 0);
	ck_assert_uint_eq(sorted_up_to(items, 4, , 2), 0);
	ck_assert_uint_eq(sorted_up_to(items, 4, , 3), 1);
	ck_assert_uint_eq(sorted_up_to(items, 4, , 7), 3);
	ck_assert_uint_eq(sorted_up_to(items, 4, , UINT64_MAX - 1), 3);
	ck_assert_uint_eq(sorted_up_to(items, 4, , UINT64_MAX), 4);
	ck_assert_uint_eq(sorted_below(items, 4, , 7), 1);
	ck_assert_uint_eq(sorted_below(items, 4, , UINT64_MAX), 3);
	ck_assert_uint_eq(sorted_below(points, 3, .at, 2), 0);
	ck_assert_uint_eq(sorted_up_to(points, 3, .at, 2), 2);
	ck_assert_uint_eq(sorted_up_to(points, 3, .at, UINT64_MAX), 3);
}

TEST(u64map_keeps_its_keys_when_it_makes_room)
{
	struct u64map map = {0};
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_ptr_nonnull(u64map_put(&map, i << 20, i, NULL));
	ck_assert(u64map_reserve(&map, 10));
	ck_assert_uint_eq(map.capacity, 256);
	ck_assert(u64map_reserve(&map, 3000));
	ck_assert_uint_eq(map.capacity, 4096);
	ck_assert_uint_eq(map.count, 100);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(*u64map_find(&map, i << 20), i);
	u64map_deinit(&map);
}

TEST(u64map_finds_what_was_put_and_not_what_was_removed)
{
	struct u64map map = {0};
	bool added;
	ck_assert_ptr_null(u64map_find(&map, 0));
	for (uint64_t i = 0; i < 10000; i++)
		ck_assert_ptr_nonnull(u64map_put(&map, i * i, (uint32_t)i, NULL));
	ck_assert_uint_eq(*u64map_put(&map, 49, 99, &added), 7);
	ck_assert(!added);
	for (uint64_t i = 0; i < 10000; i += 2)
		ck_assert(u64map_remove(&map, i * i));
	ck_assert(!u64map_remove(&map, 3));
	ck_assert_uint_eq(map.count, 5000);
	for (uint64_t i = 0; i < 10000; i++) {
		const uint32_t *value = u64map_find(&map, i * i);
		if (i % 2)
			ck_assert(value && *value == i);
		else
			ck_assert_ptr_null(value);
	}
	u64map_deinit(&map);
}

/* Numbers that are equal modulo 1000; many have one hash. */
TEST(index_set_knows_what_is_there)
{
	struct index_set set = {0};
	VEC(uint32_t) items = {0};
	for (uint32_t n = 0; n < 5000; n++) {
		uint32_t wanted = n * 7 % 5000, found = UINT32_MAX;
		ck_assert(index_set_reserve(&set));
		struct index_probe probe = index_set_probe(&set, hash_u64(wanted % 50));
		for (uint32_t i; found == UINT32_MAX && index_set_next(&set, &probe, &i);)
			if (items.items[i] % 1000 == wanted % 1000)
				found = i;
		bool is_known = false;
		for (size_t i = 0; i < items.count; i++)
			is_known |= items.items[i] % 1000 == wanted % 1000;
		ck_assert_int_eq(found != UINT32_MAX, is_known);
		if (is_known)
			continue;
		index_set_add(&set, &probe, (uint32_t)items.count);
		*vec_push(&items) = wanted;
	}
	ck_assert_uint_eq(items.count, 1000);
	ck_assert_uint_eq(set.count, 1000);
	ck_assert_uint_le(set.count * 4, set.capacity * 3);
	index_set_deinit(&set);
	vec_deinit(&items);
}

TEST(strtab_gives_one_pointer_for_equal_text)
{
	struct strtab table = {0};
	const char *first = strtab_add(&table, "main");
	char name[16];
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ck_assert_str_eq(strtab_add(&table, name), name);
	}
	ck_assert_ptr_eq(strtab_add_sized(&table, "mainly", 4), first);
	ck_assert_ptr_ne(strtab_add(&table, ""), first);
	strtab_deinit(&table);
}

TEST(an_error_says_what_without_where)
{
	uint64_t offset = 7;
	struct sp_error *error = error_format("a%%s: b", 0x10, "it %s", "ends");
	ck_assert_str_eq(error_what(error, &offset), "it ends");
	ck_assert_uint_eq(offset, 0x10);
	error = error_prefix(error, "%s", "while reading");
	ck_assert_str_eq(sp_error_message(error), "while reading: a%%s: b: offset 0x10: it ends");
	ck_assert_str_eq(error_what(error, &offset), "it ends");
	sp_error_free(error);
	error = error_new(SP_ERROR_OS, "no place");
	offset = 7;
	ck_assert_str_eq(error_what(error, &offset), "no place");
	ck_assert_uint_eq(offset, 7);
	sp_error_free(error);
	ck_assert_str_eq(error_what(error_no_memory(), &offset), "out of memory");
}

TEST(a_diagnosis_takes_errors_but_no_lack_of_memory)
{
	struct diagnosis diagnosis = {0};
	diagnosis_set(&diagnosis, 3, "do this", "%s is wrong", "it");
	ck_assert_uint_eq(diagnosis.problem, 3);
	ck_assert_str_eq(diagnosis.text, "it is wrong");
	ck_assert_str_eq(diagnosis.remedy, "do this");
	ck_assert_ptr_null(diagnosis_take(&diagnosis, 4, NULL));
	ck_assert_ptr_eq(diagnosis_take(&diagnosis, 4, error_no_memory()), error_no_memory());
	ck_assert_str_eq(diagnosis.text, "it is wrong");
	struct sp_error *error = error_new(SP_ERROR_INVALID, "worse");
	ck_assert_ptr_null(diagnosis_take(&diagnosis, 5, error));
	ck_assert_uint_eq(diagnosis.problem, 5);
	ck_assert_str_eq(diagnosis.text, "worse");
	ck_assert_ptr_null(diagnosis.remedy);
	error = error_set_remedy(error_new(SP_ERROR_INVALID, "worst"), "do that");
	ck_assert_ptr_null(diagnosis_take(&diagnosis, 6, error));
	ck_assert_str_eq(diagnosis.remedy, "do that");
	diagnosis_clear(&diagnosis);
	ck_assert_uint_eq(diagnosis.problem, 0);
	ck_assert_ptr_null(diagnosis.text);
}

TEST(cursor_never_passes_its_end)
{
	const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 'a', 0, 'b', '\n', 'c'};
	struct cursor cursor = cursor_make(bytes, sizeof(bytes), true, "file", 0x100);
	uint64_t word = 0;
	const char *text;
	size_t size;
	ck_assert(cursor_u64(&cursor, &word));
	ck_assert_uint_eq(word, __builtin_bswap64(*(const uint64_t *)(const void *)bytes));
	ck_assert(!cursor_u64(&cursor, &word));
	ck_assert_uint_eq(cursor_offset(&cursor), 0x108);
	ck_assert(!cursor_string(&cursor, 1, &text));
	ck_assert(cursor_string(&cursor, 2, &text));
	ck_assert_str_eq(text, "a");
	ck_assert(cursor_line(&cursor, &text, &size) && size == 1 && *text == 'b');
	ck_assert(cursor_line(&cursor, &text, &size) && size == 1 && *text == 'c');
	ck_assert(!cursor_line(&cursor, &text, &size));
	struct sp_error *error = cursor_error(&cursor, "the %s", "end");
	ck_assert_str_eq(sp_error_message(error), "file: offset 0x10d: the end (0 bytes are left)");
	sp_error_free(error);
}

/* The bytes of a text literal, without its NUL; all of them must be taken. */
#define LEB(text) text, sizeof(text) - 1

static void check_uleb(const char *bytes, size_t size, uint64_t wanted)
{
	/* Something that goes on, which must be left alone. */
	char more[LEB128_SIZE_MAX + 2];
	uint64_t value = ~wanted;
	memset(more, 0x80, sizeof(more));
	memcpy(more, bytes, size);
	struct cursor cursor = cursor_make(more, sizeof(more), false, NULL, 0);
	ck_assert(cursor_uleb(&cursor, &value));
	ck_assert_uint_eq(value, wanted);
	ck_assert_uint_eq((size_t)(cursor.pos - cursor.begin), size);
	cursor.pos = cursor.begin;
	ck_assert(cursor_skip_leb(&cursor));
	ck_assert_uint_eq((size_t)(cursor.pos - cursor.begin), size);
}

static void check_sleb(const char *bytes, size_t size, int64_t wanted)
{
	int64_t value = ~wanted;
	struct cursor cursor = cursor_make(bytes, size, false, NULL, 0);
	ck_assert(cursor_sleb(&cursor, &value));
	ck_assert_int_eq(value, wanted);
	ck_assert_uint_eq(cursor_left(&cursor), 0);
}

TEST(leb128_has_64_bits_however_it_is_padded)
{
	check_uleb(LEB("\x00"), 0);
	check_uleb(LEB("\x7f"), 127);
	check_uleb(LEB("\x80\x01"), 128);
	check_uleb(LEB("\xe5\x8e\x26"), 624485);
	check_uleb(LEB("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), UINT64_MAX >> 1);
	check_uleb(LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX);
	check_uleb(LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), UINT64_C(1) << 63);
	/* The 65th bit and those above are dropped. */
	check_uleb(LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"), 0);
	check_uleb(LEB("\x85\x80\x80\x80\x80\x80\x80\x80\x80\xfe\xff\x7f"), 5);
	check_uleb(LEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
		       "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), 1);

	check_sleb(LEB("\x00"), 0);
	check_sleb(LEB("\x3f"), 63);
	check_sleb(LEB("\x40"), -64);
	check_sleb(LEB("\x7f"), -1);
	check_sleb(LEB("\xc0\x00"), 64);
	check_sleb(LEB("\xff\x7f"), -1);
	check_sleb(LEB("\x80\x7f"), -128);
	check_sleb(LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"), INT64_MAX);
	check_sleb(LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"), INT64_MIN);
	check_sleb(LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x40"), -(INT64_C(1) << 62));
	check_sleb(LEB("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), -2);
}

TEST(leb128_ends_with_its_bytes_and_before_it_gets_absurd)
{
	uint8_t bytes[LEB128_SIZE_MAX + 1];
	uint64_t value = 7;
	int64_t signed_value = 7;
	memset(bytes, 0x80, sizeof(bytes));
	bytes[LEB128_SIZE_MAX] = 0;
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		struct cursor cursor = cursor_make(bytes, size, false, NULL, 0);
		ck_assert(!cursor_uleb(&cursor, &value));
		ck_assert(!cursor_sleb(&cursor, &signed_value));
		ck_assert(!cursor_skip_leb(&cursor));
		ck_assert_uint_eq(cursor_left(&cursor), size);
		ck_assert(value == 7 && signed_value == 7);
	}
}

TEST(wide_numbers_are_exact_and_saturate)
{
	struct wide most = wide_product(UINT64_MAX, UINT64_MAX);
	ck_assert(most.high == UINT64_MAX - 1 && most.low == 1);
	struct wide wide = wide_product(0x123456789abcdef0, 0xfedcba9876543210);
	ck_assert(wide.high == 0x121fa00ad77d7422 && wide.low == 0x236d88fe5618cf00);
	wide = wide_add((struct wide){1, UINT64_MAX}, (struct wide){2, 1});
	ck_assert(wide.high == 4 && wide.low == 0);
	wide = wide_add(most, most);
	ck_assert(wide.high == UINT64_MAX && wide.low == UINT64_MAX);
	wide = wide_add((struct wide){UINT64_MAX, UINT64_MAX}, (struct wide){0, 1});
	ck_assert(wide.high == UINT64_MAX && wide.low == UINT64_MAX);
	ck_assert(wide_double((struct wide){1, 0}) == 0x1p64);
}
