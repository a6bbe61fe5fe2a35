/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/output/dsos.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "binary/identity.h"
#include "files.h"
#include "test.h"

static void add_file_of(struct dsos *dsos, const struct stat *status, const char *name)
{
	const struct perf_event_attr attr = {.sample_id_all = 1};
	struct sp_record record = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct record_buffer buffer = {0};
	record.mmap = (struct sp_mmap){.pid = 7, .tid = 7, .start = 0x1000, .size = 0x1000,
				       .ino = status->st_ino, .maj = major(status->st_dev),
				       .min = minor(status->st_dev),
				       .prot = PROT_READ | PROT_EXEC, .filename = name};
	ok_or_fail(record_encode(&buffer, &record, &attr));
	ok_or_fail(dsos_add_records(dsos, buffer.items, buffer.count));
	vec_deinit(&buffer);
}

static void add_file(struct dsos *dsos, uint64_t ino, const char *name)
{
	const struct stat status = {.st_ino = (ino_t)ino};
	add_file_of(dsos, &status, name);
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

/* Maps `gone` files that are not there, then this program. Returns whether its file was read. */
static bool completes(uint32_t gone)
{
	struct dsos dsos = {0};
	struct stat status;
	char name[32], self[4096] = "";
	ck_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 && !stat(self, &status));
	for (uint32_t i = 0; i < gone; i++) {
		snprintf(name, sizeof(name), "/gone/%u", i);
		add_file(&dsos, i, name);
	}
	add_file_of(&dsos, &status, self);
	ok_or_fail(dsos_complete(&dsos, NULL));
	bool completed = dsos.known.count || dsos.contents.count;
	dsos_deinit(&dsos);
	return completed;
}

TEST(files_that_are_gone_do_not_hold_up_the_end)
{
	ck_assert(completes(4095));
	ck_assert(!completes(4096));
}

/* A file on btrfs or overlayfs has another device in its mappings; one on a disk has not. */
TEST(anonymous_devices_are_not_compared)
{
	static const char *const folders[] = {"/dev/shm", "/var/tmp", "/root", "/run"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		struct dsos dsos = {0};
		struct stat status;
		char path[64];
		snprintf(path, sizeof(path), "%s/sprof-dsos.%d", folders[i], getpid());
		files_run("cp /bin/sh %s 2>/dev/null || :", path);
		if (stat(path, &status))
			continue;
		bool anonymous = !major(status.st_dev);
		status.st_dev ^= 1;
		add_file_of(&dsos, &status, path);
		ok_or_fail(dsos_complete(&dsos, NULL));
		unlink(path);
		ck_assert_int_eq(dsos.known.count || dsos.contents.count, anonymous);
		dsos_deinit(&dsos);
	}
}

/* Its build-id is not that of the file that has its path now. */
TEST(a_replaced_file_is_stated)
{
	struct dsos dsos = {0};
	struct stat status;
	files_run("cp /bin/sh mapped");
	CLEANUP_CLOSE int fd = open(files_path("mapped"), O_RDONLY);
	ck_assert(!fstat(fd, &status));
	status.st_ino++;
	add_file_of(&dsos, &status, files_path("mapped"));
	ok_or_fail(dsos_complete(&dsos, NULL));
	ck_assert_uint_eq(dsos.known.count, 0);
	ck_assert_int_eq(dsos.contents.count > 0, !identity_inode_unreliable(fd));
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
