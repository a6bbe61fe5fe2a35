/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof archive` stores the names of a recording's code in the recording. */
#include "command.h"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diag.h"
#include "input.h"
#include "options.h"
#include "progress.h"

/* Values of the command line. */
struct archive {
	const char *path;
	struct sp_files files;
	bool binaries, debuginfod, quiet, verbose;
	uint64_t jobs;
};

/* Group of a user without an entry in passwd. */
#define NO_GROUP 65534

/*
 * Gives up root's rights for those of the recording's owner: names would tell that user about files
 * that only root may read. Returns the owner; 0: the rights are as before. If the path names
 * another user's file by then, sp_archive() refuses it.
 */
static uid_t become_owner(const char *path)
{
	struct stat status;
	if (geteuid() || stat(path, &status) || !status.st_uid)
		return 0;
	const struct passwd *user = getpwuid(status.st_uid);
	gid_t group = user ? user->pw_gid : NO_GROUP;
	if ((user ? initgroups(user->pw_name, group) : setgroups(0, NULL)) ||
	    setresgid(group, group, group) ||
	    setresuid(status.st_uid, status.st_uid, status.st_uid))
		return 0;
	return status.st_uid;
}

/* `owner` is the result of become_owner(). */
static void print_summary(const char *path, const struct sp_archive_summary *summary, uid_t owner)
{
	char files[64] = "";
	if (summary->files)
		snprintf(files, sizeof(files), ", and %zu of the files", summary->files);
	diag_say("%s: stored names of %zu addresses in %zu files%s (%.1f MB)", path,
		 summary->addresses, summary->modules, files, (double)summary->bytes / 1e6);
	if (owner && summary->denied)
		diag_say("%zu files were left out: user %u, the recording's owner, may not read "
			 "them; for all names, archive a copy that only root may read",
			 summary->denied, (unsigned int)owner);
}

static int archive(struct sp_ctx *ctx, const struct archive *archive)
{
	const struct sp_archive_options options = {
		.size = sizeof(options),
		.files = &archive->files,
		.threads = (unsigned int)archive->jobs,
		.binaries = archive->binaries,
	};
	const char *path = input_path(archive->path);
	/* A limit on file sizes becomes an error of write(2). */
	signal(SIGXFSZ, SIG_IGN);
	struct sp_archive_summary summary = {0};
	struct progress progress;
	if (archive->verbose)
		sp_ctx_set_log(ctx, diag_log, NULL, SP_LOG_DEBUG);
	sp_ctx_set_debuginfod(ctx, archive->debuginfod);
	uid_t owner = become_owner(path);
	progress_begin(&progress, ctx, !archive->verbose && !archive->quiet);
	struct sp_error *error = sp_archive(ctx, path, &options, &summary);
	progress_end(&progress);
	if (error && owner && sp_error_code(error) == SP_ERROR_PERMISSION)
		diag_say("files are opened with the rights of user %u, who owns the recording",
			 (unsigned int)owner);
	if (error)
		diag_error(error);
	else if (!archive->quiet)
		print_summary(path, &summary, owner);
	return error ? 1 : 0;
}

static int archive_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct archive values = {.files = {.size = sizeof(struct sp_files)}};
	const struct option options[] = {
		OPTION_STRING('i', "input", "FILE", &values.path,
			      "add to FILE (default: sprof.data)"),
		OPTION_FLAG(0, "with-binaries", &values.binaries,
			    "store the sampled programs and libraries, too, for instructions"),
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
