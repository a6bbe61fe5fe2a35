/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/guarded_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "test.h"

static bool always(void *arg, uint64_t key)
{
	*(uint64_t *)arg = key;
	return true;
}

TEST(local_files_are_opened_themselves)
{
	struct proxies *proxies = proxies_new();
	struct guarded_file file;
	struct stat status;
	ok_or_fail(proxies_begin(proxies));
	ok_or_fail(guarded_file_open(proxies, NULL, "/etc/passwd", &file));
	ck_assert_int_eq(stat("/etc/passwd", &status), 0);
	ck_assert_uint_eq(file.status.st_ino, status.st_ino);
	if (!file.is_copy) {
		ck_assert_int_eq(fstat(file.fd, &status), 0);
		ck_assert_uint_eq(file.status.st_ino, status.st_ino);
	}
	close(file.fd);
	/* A root directory holds links and "..". */
	ok_or_fail(guarded_file_open(proxies, "/etc", "/../../passwd", &file));
	ck_assert_uint_ne(file.status.st_size, 0);
	close(file.fd);
	proxies_end(proxies);
	proxies_free(proxies);
}

TEST(errors_are_those_of_the_proxy)
{
	struct proxies *proxies = proxies_new();
	struct guarded_file file;
	char *long_path = calloc(1, 9000);
	memset(long_path, 'a', 8999);
	ok_or_fail(proxies_begin(proxies));
	for (int i = 0; i < 2; i++) {
		struct proxies *by = i ? proxies : NULL;
		struct sp_error *error = guarded_file_open(by, NULL, "/etc/no-such-file", &file);
		ck_assert_str_eq(sp_error_message(error),
				 "/etc/no-such-file: No such file or directory");
		ck_assert_int_eq(sp_error_code(error), SP_ERROR_NOT_FOUND);
		sp_error_free(error);
		fails_with(SP_ERROR_INVALID, guarded_file_open(by, NULL, "/proc/self/maps", &file));
		fails_with(SP_ERROR_INVALID, guarded_file_open(by, NULL, "/dev/zero", &file));
		fails_with(SP_ERROR_OS, guarded_file_open(by, NULL, long_path, &file));
	}
	ck_assert_uint_eq(proxies_counts(proxies).left, 0);
	proxies_end(proxies);
	proxies_free(proxies);
	free(long_path);
}

/* The key is the process, or the folder: other folders are still read. */
TEST(files_that_do_not_answer_are_errors)
{
	struct proxies *proxies = proxies_new();
	struct guarded_file file;
	uint64_t key = 0, folder;
	proxies_simulate(proxies, always, &key);
	ok_or_fail(proxies_begin(proxies));
	fails_with(SP_ERROR_OS, guarded_file_open(proxies, "/proc/77/root", "/bin/sh", &file));
	ck_assert_uint_eq(key, 77);
	fails_with(SP_ERROR_OS, guarded_file_open(proxies, NULL, "/proc/78/exe", &file));
	ck_assert_uint_eq(key, 78);
	fails_with(SP_ERROR_OS, guarded_file_open(proxies, NULL, "/usr/bin/a", &file));
	folder = key;
	fails_with(SP_ERROR_OS, guarded_file_open(proxies, NULL, "/usr/bin/b", &file));
	ck_assert_uint_eq(key, folder);
	fails_with(SP_ERROR_OS, guarded_file_open(proxies, NULL, "/usr/lib/b", &file));
	ck_assert_uint_ne(key, folder);
	struct proxies_counts counts = proxies_counts(proxies);
	ck_assert_uint_eq(counts.left, 4);
	ck_assert_uint_eq(counts.refused, 1);
	proxies_end(proxies);
	proxies_free(proxies);
}
