/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up root directory with /proc and /sys of a test's own choosing. */
#ifndef UNIT_ROOT_H
#define UNIT_ROOT_H

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "test.h"

struct root {
	char path[64];
	struct sp_ctx *ctx;
};

static inline void root_init(struct root *root)
{
	strcpy(root->path, "/tmp/sprof-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root->path));
	ok_or_fail(sp_ctx_new(&root->ctx));
	ok_or_fail(sp_ctx_set_root(root->ctx, root->path));
}

static inline int root_remove_one(const char *path, const struct stat *stat, int flag,
				  struct FTW *walk)
{
	(void)stat, (void)flag, (void)walk;
	return remove(path);
}

static inline void root_deinit(struct root *root)
{
	sp_ctx_free(root->ctx);
	nftw(root->path, root_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define ROOT CLEANUP(root_deinit) struct root

/* Makes `path` (from "/" on) and the directories above it. */
static inline void root_put_sized(struct root *root, const char *path, const void *bytes,
				  size_t size)
{
	char whole[512];
	int used = snprintf(whole, sizeof(whole), "%s%s", root->path, path);
	ck_assert_int_lt(used, (int)sizeof(whole));
	for (char *slash = whole + strlen(root->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(whole, 0700);
		*slash = '/';
	}
	CLEANUP(cleanup_fclose) FILE *file = fopen(whole, "w");
	ck_assert_msg(file != NULL, "%s", whole);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
}

static inline void root_put(struct root *root, const char *path, const char *text)
{
	root_put_sized(root, path, text, strlen(text));
}

#endif
