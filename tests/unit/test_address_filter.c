/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address filters, from perf's spelling to the kernel's. */
#include "event/address_filter.h"

#include <stdio.h>
#include <unistd.h>
#include "root.h"

int address_filter_target(int value);
__attribute__((noinline)) int address_filter_target(int value)
{
	return value * 3 + 1;
}

static void becomes(const char *text, const char *wanted)
{
	ROOT root;
	CLEANUP_FREE char *got = NULL;
	root_init(&root);
	root_put(&root, "/proc/kallsyms", "ffffffff81000000 T _stext\nffffffff81001000 T first_one\n"
					  "ffffffff81001040 T second_one\nffffffff81001100 T third\n");
	ok_or_fail(address_filter_translate(root.ctx, text, &got));
	ck_assert_str_eq(got, wanted);
}

TEST(filters_of_the_kernel_take_its_symbols)
{
	becomes("filter 0x1000/0x20", "filter 0x1000/0x20");
	becomes("start 4096", "start 0x1000");
	becomes("filter first_one", "filter 0xffffffff81001000/0x40");
	becomes("filter first_one / second_one", "filter 0xffffffff81001000/0x100");
	becomes(" start first_one,stop third", "start 0xffffffff81001000 stop 0xffffffff81001100");
	becomes("tracestop first_one / 8", "stop 0xffffffff81001000/0x8");
}

/* Returns the file offset of this function in this program. */
static uint64_t own_offset(char *path, size_t size)
{
	unsigned long begin, end, offset;
	char line[512];
	ssize_t used = readlink("/proc/self/exe", path, size - 1);
	ck_assert_int_gt(used, 0);
	path[used] = '\0';
	CLEANUP(cleanup_fclose) FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    (uintptr_t)address_filter_target >= begin &&
		    (uintptr_t)address_filter_target < end)
			return (uintptr_t)address_filter_target - begin + offset;
	ck_abort_msg("not mapped");
}

TEST(filters_of_files_take_their_offsets)
{
	char path[256], text[400], wanted[400];
	ck_assert_int_eq(address_filter_target(2), 7);
	unsigned long long offset = own_offset(path, sizeof(path));
	snprintf(text, sizeof(text), "start address_filter_target @ %s", path);
	snprintf(wanted, sizeof(wanted), "start 0x%llx@%s", offset, path);
	becomes(text, wanted);
	snprintf(text, sizeof(text), "filter address_filter_target/0x4@%s", path);
	snprintf(wanted, sizeof(wanted), "filter 0x%llx/0x4@%s", offset, path);
	becomes(text, wanted);
	struct stat stat_buffer;
	ck_assert_int_eq(stat(path, &stat_buffer), 0);
	snprintf(text, sizeof(text), "filter * @ %s", path);
	snprintf(wanted, sizeof(wanted), "filter 0x0/0x%llx@%s",
		 (unsigned long long)stat_buffer.st_size, path);
	becomes(text, wanted);
}

static void refuses(const char *text, enum sp_error_code code, const char *message)
{
	ROOT root;
	char *got = NULL;
	root_init(&root);
	root_put(&root, "/proc/kallsyms", "ffffffff81001000 T first_one\nffffffff81001040 T second\n");
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = address_filter_translate(root.ctx, text, &got);
	ck_assert_ptr_null(got);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_msg(strstr(sp_error_message(error), message) != NULL, "%s",
		      sp_error_message(error));
}

TEST(wrong_filters_name_the_character)
{
	refuses("", SP_ERROR_INVALID, "at character 1");
	refuses("prev_pid == 3", SP_ERROR_INVALID, "neither filter, start, stop nor tracestop");
	refuses("filter", SP_ERROR_INVALID, "no address or symbol at character 7");
	refuses("filter a/", SP_ERROR_INVALID, "no size or symbol at character 10");
	refuses("start a/4", SP_ERROR_INVALID, "only the place counts");
	refuses("filter a @", SP_ERROR_INVALID, "no file");
	refuses("filter a @ b c", SP_ERROR_INVALID, "unexpected text at character 14");
	refuses("filter first_one,", SP_ERROR_INVALID, "at character 18");
	refuses("filter nothing", SP_ERROR_NOT_FOUND, "no symbol nothing");
	refuses("filter 0x1000", SP_ERROR_INVALID, "unknown size of 0x1000");
	refuses("filter second / first_one / 3", SP_ERROR_INVALID, "unexpected text");
	refuses("filter main @ /no/such/file", SP_ERROR_NOT_FOUND, "/no/such/file");
}
