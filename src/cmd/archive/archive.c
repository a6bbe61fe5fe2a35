/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof archive` stores the names of a recording's code in the recording. */
#include "command.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diag.h"
#include "input.h"
#include "options.h"
#include "progress.h"
#include "users.h"

/* Values of the command line. */
struct archive_arguments {
	const char *path;
	struct sp_files files;
	bool binaries, code, debuginfod, quiet, verbose, command_lines;
	uint64_t jobs;
};

/* User without files of its own, and group of a user without an entry in passwd. */
#define NOBODY 65534

/* Files are opened with the rights of this process, the owner, or all others who may read. */
enum readers { READERS_SELF, READERS_OWNER, READERS_OTHERS };

static void become_root(void)
{
	/* After a failure, the recording cannot be opened for writing, which is reported. */
	(void)!seteuid(0);
}

/*
 * Opens files with the rights that all readers of the recording have: stored names tell them about
 * these files. Root's own recording gets names from all files, unless others may read it and enter
 * its directory. If the path names another user's file by then, sp_archive() refuses it. Returns
 * false and sets errno on failure.
 */
static bool become_readers(const char *path, struct stat *status, enum readers *ret)
{
	*ret = READERS_SELF;
	if (geteuid() || stat(path, status))
		return true;
	if (status->st_uid) {
		*ret = READERS_OWNER;
		return user_become(status->st_uid, NOBODY);
	}
	char *whole = status->st_mode & (S_IRGRP | S_IROTH) ? realpath(path, NULL) : NULL;
	if (!whole)
		return true;
	gid_t group = status->st_mode & S_IROTH ? NOBODY : status->st_gid;
	bool done = !setgroups(0, NULL) && !setegid(group) && !seteuid(NOBODY);
	*ret = READERS_OTHERS;
	if (done && stat(whole, status) && errno == EACCES) {
		*ret = READERS_SELF;
		become_root();
	}
	free(whole);
	return done;
}

static void print_summary(const char *path, const struct sp_archive_summary *summary,
			  enum readers readers, uid_t owner)
{
	char files[64] = "";
	bool small = summary->bytes < 1000000;
	if (summary->files)
		snprintf(files, sizeof(files), ", and %zu of the files", summary->files);
	diag_print("%s: stored names of %zu addresses in %zu files%s (%.*f %s)", path,
		   summary->addresses, summary->modules, files, !small,
		   (double)summary->bytes / (small ? 1e3 : 1e6), small ? "KB" : "MB");
	if (summary->left_out)
		diag_print("%zu files (%.1f MB) were left out: a file may have 1 GiB, a jitdump "
			   "64 MiB, and perf maps and jitdumps may take 1 GiB of memory in all",
			   summary->left_out, (double)summary->left_out_bytes / 1e6);
	if (summary->shown_arguments)
		diag_print("%zu command lines keep their arguments, because an older sprof "
			   "compressed them",
			   summary->shown_arguments);
	if (readers == READERS_SELF || !summary->denied)
		return;
	if (readers == READERS_OWNER)
		diag_print("%zu files were left out: user %u, the recording's owner, may not read "
			   "them", summary->denied, (unsigned int)owner);
	else
		diag_print("%zu files were left out: not all users who may read the recording may "
			   "read them", summary->denied);
	diag_more("for all names: install -m 600 %s private.data && sprof archive private.data",
		  path);
}

static int archive(struct sp_ctx *ctx, const struct archive_arguments *archive)
{
	const char *path = input_path(archive->path);
	struct sp_archive_summary summary = {0};
	struct progress progress;
	struct stat status;
	enum readers readers;
	if (archive->verbose)
		sp_ctx_set_log(ctx, diag_log, NULL, SP_LOG_DEBUG);
	sp_ctx_set_debuginfod(ctx, archive->debuginfod);
	if (!become_readers(path, &status, &readers)) {
		diag_print("cannot give up root's rights for those of %s's readers: %s", path,
			   strerror(errno));
		return 1;
	}
	const struct sp_archive_options options = {
		.size = sizeof(options),
		.files = &archive->files,
		.threads = (unsigned int)archive->jobs,
		.binaries = archive->binaries,
		.code = archive->code,
		.hide_arguments = !archive->command_lines,
		.before_write = readers == READERS_OTHERS ? become_root : NULL,
	};
	/* A limit on file sizes becomes an error of write(2). */
	signal(SIGXFSZ, SIG_IGN);
	progress_begin(&progress, ctx, !archive->verbose && !archive->quiet);
	struct sp_error *error = sp_archive(ctx, path, &options, &summary);
	progress_end(&progress);
	if (error && readers == READERS_OWNER && sp_error_code(error) == SP_ERROR_PERMISSION)
		diag_print("files are opened with the rights of user %u, who owns the recording",
			   (unsigned int)status.st_uid);
	if (error)
		diag_error(error);
	else if (!archive->quiet)
		print_summary(path, &summary, readers, status.st_uid);
	if (!error && !archive->quiet && !archive->command_lines)
		diag_print("arguments that name no files are hidden in it (--command-lines keeps "
			   "them)");
	return error ? 1 : 0;
}

static int archive_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct archive_arguments values = {.files = {.size = sizeof(struct sp_files)}};
	const struct option options[] = {
		OPTION_STRING('i', "input", "FILE", &values.path,
			      "add to FILE (default: sprof.data)"),
		OPTION_FLAG(0, "with-binaries", &values.binaries,
			    "store the sampled programs and libraries, too, for instructions"),
		OPTION_FLAG(0, "store-code", &values.code,
			    "store the instructions of sampled functions, for 'sprof annotate'"),
		OPTION_FLAG(0, "command-lines", &values.command_lines,
			    "keep the arguments of processes that name no files"),
		OPTION_STRING(0, "symfs", "DIR", &values.files.symfs,
			      "look for the recorded files below DIR"),
		OPTION_FLAG(0, "debuginfod", &values.debuginfod,
			    "download missing files from $DEBUGINFOD_URLS"),
		OPTION_STRING('k', "vmlinux", "FILE", &values.files.vmlinux,
			      "use FILE as the kernel's ELF file", .rare = true),
		OPTION_STRING(0, "kallsyms", "FILE", &values.files.kallsyms,
			      "read kernel symbols from FILE, in the format of /proc/kallsyms",
			      .rare = true),
		OPTION_NUMBER('j', "jobs", "N", &values.jobs,
			      "use N threads (default: one per CPU)", .rare = true),
		OPTION_FLAG('q', "quiet", &values.quiet, "print errors only"),
		OPTION_FLAG('v', "verbose", &values.verbose, "print each step to standard error"),
		OPTION_END,
	};
	static const char *const synopses[] = {"sprof archive [OPTION]... [FILE]", NULL};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Stores the names of all sampled functions in the recording, which may be perf's.",
		.footer = "Reports then need neither the recorded files nor the machine. 'sprof record'\n"
			  "does this for its own recordings.",
		.example = "sprof archive perf.data",
		.options = options,
	};
	int operand;
	int status = options_parse(&usage, argc, argv, &operand);
	if (status >= 0)
		return status;
	if (!input_operand(&values.path, argc, argv, operand))
		return EXIT_USAGE;
	return archive(ctx, &values);
}

const struct command command_archive = {
	.name = "archive",
	.summary = "store the names of a recording's functions in it",
	.run = archive_run,
};
