/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores names in the files of a recording when they are complete (sprof/archive.h). A child process does
 * it, because finding names reads files of other users, and may take long. The recorder waits for it for
 * a short time only; after that it goes on in the background.
 */
#ifndef CMD_RECORD_NAME_STORE_H
#define CMD_RECORD_NAME_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sprof/capture.h>
#include "list.h"

struct name_store {
	struct sp_ctx *ctx; /* NULL: names are not stored */
	const struct sp_capture *capture;
	uint64_t size_limit; /* limit on the size of a file with its names, in bytes; 0: none */
	bool quiet;          /* messages are not printed */
	bool code;           /* the instructions of sampled functions are stored, too */
	pid_t child;         /* process that stores names; 0: none */
	LIST(int) files;     /* descriptors of the files to do next */
};

/*
 * Adds a complete file, and takes its descriptor over (-1: a pipe or device, which is ignored). By
 * its path, another file might be opened: that of a user who owns the directory.
 */
void name_store_add(struct name_store *store, int fd, const char *path);

/*
 * Begins with the next file if the one before is done, while recording: at a low priority. Never
 * waits. name_store_start_last() does this for the last file, for which the recorder will wait.
 */
void name_store_step(struct name_store *store);
void name_store_start_last(struct name_store *store);

/*
 * Waits up to 0.3 s until all files are done. If some are not, leaves them to a process in the
 * background, at a low priority, and prints that. Frees what the store owns.
 */
void name_store_finish(struct name_store *store);

#endif
