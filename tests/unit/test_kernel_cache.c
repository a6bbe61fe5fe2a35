/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up kernel and two modules: kept, found again, and refused where damaged, or where other
 * users can change what is kept.
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/kernel_cache.h"
#include "root.h"

#define NOTE "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0"
#define KERNEL_ID "kkkkkkkkkkkkkkkkkkkk"
#define MODULE_ID "mmmmmmmmmmmmmmmmmmmm"

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T do_work\n"
			       "ffffffff82000000 D some_data\n"
			       "ffffffffc0001000 t mod_init\t[mod]\n"
			       "ffffffffc0001040 t mod_work\t[mod]\n"
			       "ffffffffc0009000 d mod_data\t[mod]\n"
			       "ffffffffc0020000 t nameless_work\t[nameless]\n"
			       "ffffffffc0030000 t bpf_prog_1\t[bpf]\n";

static void put_kernel(struct root *root, const char *symbols)
{
	char cache[128];
	snprintf(cache, sizeof(cache), "%s/home/cache", root->path);
	ok_or_fail(sp_ctx_set_cache_path(root->ctx, cache));
	root_put_sized(root, "/sys/kernel/notes", NOTE KERNEL_ID, 36);
	root_put(root, "/proc/kallsyms", symbols);
	root_put(root, "/proc/modules",
		 "mod 8192 0 - Live 0xffffffffc0001000\n"
		 "nameless 4096 0 - Live 0xffffffffc0020000\n");
	root_put_sized(root, "/sys/module/mod/notes/.note.gnu.build-id", NOTE MODULE_ID, 36);
	root_put(root, "/proc/sys/kernel/osrelease", "6.1.0-test\n");
}

static struct kallsyms *load(struct root *root, enum kernel_cache_kind kind, const char *id)
{
	struct kallsyms *kept = NULL;
	ok_or_fail(kernel_cache_load(root->ctx, kind, (const uint8_t *)id, 20, &kept));
	return kept;
}

/* The path of what was kept of the kernel. */
static const char *kernel_path(const struct root *root)
{
	static char path[256];
	int used = snprintf(path, sizeof(path), "%s/home/cache/kernel/", root->path);
	for (int i = 0; i < 20; i++)
		used += snprintf(path + used, sizeof(path) - (size_t)used, "%02x", 'k');
	return path;
}

TEST(kernel_cache_keeps_kernel_and_modules)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ck_assert(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID));
	ok_or_fail(kernel_cache_save(root.ctx));

	struct kallsyms *kernel = load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID);
	struct kallsyms_symbol symbol;
	ck_assert(kernel);
	ck_assert_uint_eq(kallsyms_count(kernel), 4);
	ck_assert(kallsyms_find(kernel, 0xffffffff81000104, &symbol));
	ck_assert_str_eq(symbol.name, "do_work");
	kallsyms_free(kernel);

	struct kallsyms *module = load(&root, KERNEL_CACHE_MODULE, MODULE_ID);
	ck_assert(module);
	ck_assert_uint_eq(kallsyms_count(module), 2);
	ck_assert(kallsyms_find(module, KERNEL_CACHE_MODULE_BASE + 0x48, &symbol));
	ck_assert_str_eq(symbol.name, "mod_work");
	ck_assert(!symbol.module);
	kallsyms_free(module);
	ck_assert(!load(&root, KERNEL_CACHE_KERNEL, MODULE_ID));
}

TEST(kernel_cache_is_private)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ok_or_fail(kernel_cache_save(root.ctx));
	struct stat status;
	ck_assert_int_eq(stat(kernel_path(&root), &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0600);
	char folder[128];
	snprintf(folder, sizeof(folder), "%s/home/cache/kernel", root.path);
	ck_assert_int_eq(stat(folder, &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0700);
}

TEST(kernel_cache_reads_kallsyms_once)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ok_or_fail(kernel_cache_save(root.ctx));
	struct stat before, after;
	ck_assert_int_eq(stat(kernel_path(&root), &before), 0);
	/* Invalid kallsyms do not replace the file. */
	root_put(&root, "/proc/kallsyms", "ffffffff81000000 T _text\nnonsense\n");
	ok_or_fail(kernel_cache_save(root.ctx));
	ck_assert_int_eq(stat(kernel_path(&root), &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
}

TEST(kernel_cache_keeps_what_was_read)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	struct kallsyms *read = NULL;
	ok_or_fail(kallsyms_read(root.ctx, NULL, &read));
	root_put(&root, "/proc/kallsyms", "nonsense\n");
	ok_or_fail(kernel_cache_save_read(root.ctx, read));
	kallsyms_free(read);
	struct kallsyms *kept = load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID);
	ck_assert(kept);
	ck_assert_uint_eq(kallsyms_count(kept), 4);
	kallsyms_free(kept);
}

TEST(kernel_cache_hidden_keeps_nothing)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, "0000000000000000 T _text\n0000000000000000 T do_work\n");
	ok_or_fail(kernel_cache_save(root.ctx));
	ck_assert_int_ne(access(kernel_path(&root), F_OK), 0);
}

TEST(kernel_cache_without_a_place_does_nothing)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ok_or_fail(sp_ctx_set_cache_path(root.ctx, NULL));
	ok_or_fail(kernel_cache_save(root.ctx));
	ck_assert(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID));
}

TEST(kernel_cache_says_when_it_cannot_write)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	root_put(&root, "/home/cache", "a file where the folder should be");
	fails_with(SP_ERROR_OS, kernel_cache_save(root.ctx));
}

TEST(kernel_cache_damage_is_found_and_mended)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ok_or_fail(kernel_cache_save(root.ctx));
	const char *path = kernel_path(&root);
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	/* Each byte in turn, and each length. A file with damaged symbols is removed. */
	for (off_t at = 0; at < status.st_size; at++) {
		FILE *file = fopen(path, "r+");
		fseek(file, at, SEEK_SET);
		int byte = fgetc(file);
		fseek(file, at, SEEK_SET);
		fputc(byte ^ 1, file);
		fclose(file);
		ck_assert_msg(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID), "byte %ld", (long)at);
		unlink(path);
		ok_or_fail(kernel_cache_save(root.ctx));
	}
	struct kallsyms *whole = load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID);
	ck_assert(whole);
	kallsyms_free(whole);
	for (off_t size = status.st_size; size-- > 0;) {
		ck_assert_int_eq(truncate(path, size), 0);
		ck_assert(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID));
	}
	ok_or_fail(kernel_cache_save(root.ctx));
	struct kallsyms *mended = load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID);
	ck_assert(mended);
	kallsyms_free(mended);
}

TEST(kernel_cache_refuses_another_users_file)
{
	if (geteuid() != 0)
		skip_test("needs root");
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ok_or_fail(kernel_cache_save(root.ctx));
	ck_assert_int_eq(chown(kernel_path(&root), 12345, 12345), 0);
	ck_assert(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID));
}

TEST(kernel_cache_does_not_wait_for_a_fifo)
{
	ROOT root;
	root_init(&root);
	put_kernel(&root, kallsyms);
	ok_or_fail(kernel_cache_save(root.ctx));
	ck_assert_int_eq(unlink(kernel_path(&root)), 0);
	ck_assert_int_eq(mkfifo(kernel_path(&root), 0600), 0);
	ck_assert(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID));
	ok_or_fail(kernel_cache_save(root.ctx));
	struct kallsyms *mended = load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID);
	ck_assert(mended);
	kallsyms_free(mended);
}

/* Saves below HOME, and counts what is there then. */
static int saved_below(struct root *root, uid_t owner, mode_t mode)
{
	char home[128];
	snprintf(home, sizeof(home), "%s/home", root->path);
	ck_assert_int_eq(mkdir(home, 0700), 0);
	ck_assert_int_eq(chown(home, owner, owner), 0);
	ck_assert_int_eq(chmod(home, mode), 0);
	put_kernel(root, kallsyms);
	ok_or_fail(kernel_cache_save(root->ctx));
	struct kallsyms *kept = load(root, KERNEL_CACHE_KERNEL, KERNEL_ID);
	int count = kept ? 1 : 0;
	kallsyms_free(kept);
	snprintf(home, sizeof(home), "%s/home/cache", root->path);
	ck_assert_int_eq(access(home, F_OK) == 0, count);
	return count;
}

TEST(kernel_cache_needs_folders_that_no_other_user_changes)
{
	static const struct {
		uid_t owner;
		mode_t mode;
		int saved;
	} cases[] = {
		{0, 0755, 1}, {0, 0775, 1}, {0, 0777, 0}, {0, 01777, 1},
		{12345, 0755, 0}, {12345, 0700, 0}, {12345, 01777, 0},
	};
	if (geteuid() != 0)
		skip_test("needs root");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ROOT root;
		root_init(&root);
		ck_assert_int_eq(saved_below(&root, cases[i].owner, cases[i].mode), cases[i].saved);
	}
}

TEST(kernel_cache_follows_links_of_its_own_alone)
{
	ROOT root;
	root_init(&root);
	char home[128], link[128];
	snprintf(home, sizeof(home), "%s/real", root.path);
	snprintf(link, sizeof(link), "%s/home", root.path);
	ck_assert_int_eq(mkdir(home, 0700), 0);
	ck_assert_int_eq(symlink("real", link), 0);
	put_kernel(&root, kallsyms);
	ok_or_fail(kernel_cache_save(root.ctx));
	ck_assert_int_eq(access(kernel_path(&root), F_OK), 0);
	if (geteuid() != 0)
		skip_test("needs root");
	/* In a folder like /tmp anybody may have made it. */
	ck_assert_int_eq(chmod(root.path, 01777), 0);
	ck_assert(!load(&root, KERNEL_CACHE_KERNEL, KERNEL_ID));
}

#define ATTACKER 12345

/* The owner of `home` replaces each "cache" that appears there by a link to `victim`. */
static void __attribute__((noreturn)) swap_folders(const char *home, const char *victim)
{
	char away[32];
	if (chdir(home) || setgid(ATTACKER) || setuid(ATTACKER) || symlink(victim, "link"))
		_exit(1);
	for (unsigned int i = 0;; i++) {
		snprintf(away, sizeof(away), "away.%u", i);
		while (renameat2(AT_FDCWD, "link", AT_FDCWD, "cache", RENAME_EXCHANGE))
			continue;
		usleep(50);
		if (rename("link", away) || rename("cache", "link"))
			_exit(1);
	}
}

TEST(kernel_cache_gives_nothing_of_roots_away)
{
	if (geteuid() != 0)
		skip_test("needs root");
	ROOT root;
	root_init(&root);
	char home[128], victim[128], command[300];
	snprintf(home, sizeof(home), "%s/home", root.path);
	snprintf(victim, sizeof(victim), "%s/victim", root.path);
	ck_assert_int_eq(chmod(root.path, 0755), 0);
	ck_assert_int_eq(mkdir(home, 0755), 0);
	ck_assert_int_eq(chown(home, ATTACKER, ATTACKER), 0);
	ck_assert_int_eq(mkdir(victim, 0755), 0);
	put_kernel(&root, kallsyms);
	pid_t attacker = fork();
	if (!attacker)
		swap_folders(home, victim);
	unsigned int given = 0, made = 0;
	for (int i = 0; i < 2000; i++) {
		struct stat status;
		sp_error_free(kernel_cache_save(root.ctx));
		ck_assert_int_eq(stat(victim, &status), 0);
		given += status.st_uid != 0;
		made += status.st_nlink > 2;
		ck_assert_int_eq(chown(victim, 0, 0), 0);
		snprintf(command, sizeof(command), "rm -rf %s/*", victim);
		if (status.st_nlink > 2)
			ck_assert_int_eq(system(command), 0);
	}
	kill(attacker, SIGKILL);
	waitpid(attacker, NULL, 0);
	ck_assert_msg(!given && !made, "of 2000 times, a folder of root's was given away %u times, "
		      "and written to %u times", given, made);
}
