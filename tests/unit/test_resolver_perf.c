/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf as the oracle for which name an address has: a recording with a sample at
 * each of many random addresses, and what perf script calls them. Left out are PLT
 * entries, which perf 6.1 counts along the relocations.
 */
#include "test.h"

#include "recording.h"
#include "resolving.h"

#define BASE 0x7f0000000000
#define SAMPLES 3000
#define PAGE ((uint64_t)4096)


static void put_mappings(struct record_buffer *buffer, const struct image *image, const char *path)
{
	for (size_t i = 0; i < image->loads.count; i++) {
		const struct image_load *load = &image->loads.items[i];
		uint64_t begin = load->file_offset & ~(PAGE - 1);
		if (!load->executable)
			continue;
		struct sp_record record = {
			.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .id = {.id = 21},
			.mmap = {.pid = RECORDING_PID, .tid = RECORDING_PID, .start = BASE + begin,
				 .size = load->file_offset + load->file_size - begin,
				 .file_offset = begin, .filename = path, .prot = 5, .flags = 2,
				 .ino = image->inode, .maj = major(image->device),
				 .min = minor(image->device)},
		};
		ok_or_fail(record_encode(buffer, &record, &recording_events[1].attr));
	}
}

/* One sample at each offset. */
static void record(const char *to, const char *path, const struct image *image,
		   const uint64_t *offsets)
{
	struct writer *writer = recording_open(to);
	struct record_buffer buffer = {0};
	recording_put_process(&buffer);
	put_mappings(&buffer, image, path);
	for (uint64_t i = 0; i < SAMPLES; i++)
		recording_put_sample(&buffer, BASE + offsets[i], 1000 + i);
	ok_or_fail(recording_write(writer, &buffer));
	ok_or_fail(writer_close(writer, &(struct writer_end){0}));
	vec_deinit(&buffer);
}

static bool is_plt(const char *name)
{
	return strstr(name, "plt") != NULL;
}

/* A line of perf script: address, and name with distance, or [unknown]. */
static void check_line(struct resolving *r, const char *line, uint64_t offset)
{
	char theirs[512] = "", ours[512] = "[unknown]";
	unsigned long long ip;
	ck_assert_msg(sscanf(line, "%llx %511[^\n]", &ip, theirs) == 2, "%s", line);
	ck_assert_uint_eq(ip, BASE + offset);
	const struct symbol *symbol = resolving_find(r, offset);
	/* perf has no functions but those of symbols. */
	if (symbol_is_named(symbol))
		snprintf(ours, sizeof(ours), "%s+0x%llx", symbol->name,
			 (unsigned long long)(offset - symbol->start));
	if (!is_plt(ours) && !is_plt(theirs))
		ck_assert_msg(!strcmp(ours, theirs), "0x%llx: %s, perf has %s",
			      (unsigned long long)offset, ours, theirs);
}

static void check_program(const char *path)
{
	RESOLVING r = {0};
	struct image *image;
	static uint64_t offsets[SAMPLES];
	ok_or_fail(image_open(path, &image));
	resolving_use(&r, path);
	resolving_start(&r);
	srand(11);
	for (size_t i = 0; i < SAMPLES; i++)
		offsets[i] = resolving_random_offset(image);
	record(files_path("samples.data"), path, image, offsets);
	image_free(image);
	char *text = files_output("perf script -i samples.data -F ip,sym,symoff 2>/dev/null || :");
	size_t count = 0;
	char *save;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		check_line(&r, line, offsets[count++]);
	ck_assert_uint_eq(count, SAMPLES);
}

/* Compares C functions that perf has: versions of perf show C++ differently. */
TEST(resolver_agrees_with_perf)
{
	if (!files_have("perf"))
		skip_test("needs perf");
	char *programs = files_output(
		"for p in \"$(command -v bash)\" /usr/bin/python3 \"$(command -v perf)\" "
		"\"$($CC -print-file-name=libc.so.6)\" \"$($CC -print-file-name=libelf.so)\"; do "
		"[ \"$(head -c 4 \"$p\" 2>/dev/null | tail -c 3)\" != ELF ] || readlink -f \"$p\"; done");
	char *save;
	for (char *path = strtok_r(programs, "\n", &save); path; path = strtok_r(NULL, "\n", &save))
		check_program(path);
}
