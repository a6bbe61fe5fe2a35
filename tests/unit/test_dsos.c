/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/output/dsos.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "test.h"

static void add_file(struct dsos *dsos, uint64_t ino, const char *name)
{
	const struct perf_event_attr attr = {.sample_id_all = 1};
	struct sp_record record = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct record_buffer buffer = {0};
	record.mmap = (struct sp_mmap){.pid = 7, .tid = 7, .start = 0x1000, .size = 0x1000,
				       .ino = ino, .prot = PROT_READ | PROT_EXEC, .filename = name};
	ok_or_fail(record_encode(&buffer, &record, &attr));
	ok_or_fail(dsos_add_records(dsos, buffer.items, buffer.count));
	vec_deinit(&buffer);
}

/* Any user can map files under ever new names. */
TEST(the_table_has_a_limit_of_bytes)
{
	struct dsos dsos = {0};
	char name[4001];
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "/%03999u", i);
		add_file(&dsos, i, name);
	}
	ck_assert(dsos.full);
	ck_assert_uint_le(dsos.table_bytes, DSOS_BYTES_MAX + 5000);
	ck_assert_uint_le(strtab_bytes(&dsos.names), DSOS_BYTES_MAX + ((uint64_t)2 << 20));
	dsos_deinit(&dsos);
}

TEST(the_table_has_a_limit_of_files)
{
	struct dsos dsos = {0};
	char name[32];
	for (uint32_t i = 0; i <= DSOS_MAX; i++) {
		ck_assert(!dsos.full);
		snprintf(name, sizeof(name), "/lib/%u.so", i);
		add_file(&dsos, i, name);
	}
	ck_assert(dsos.full);
	ck_assert_uint_eq(dsos.unknown.count, DSOS_MAX);
	dsos_deinit(&dsos);
}
