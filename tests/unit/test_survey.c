/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame pointers in binaries that the compiler makes of the same source, and Python in the target. */
#include "capture/config/survey.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "made_ctx.h"

static const char source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"__attribute__((noinline)) int one(int a) { return printf(\"%d\\n\", a); }\n"
	"__attribute__((noinline)) int two(int a) { return one(a) + one(a + 1); }\n"
	"__attribute__((noinline)) int three(int a) { return two(a) * one(a - 1); }\n"
	"int main(int argc, char **argv) { return three(argc) + two(atoi(argv[0])); }\n";

/* False where there is no compiler. */
static bool compile(const char *folder, const char *flags, char path[256])
{
	char command[1024];
	snprintf(path, 256, "%s/program", folder);
	snprintf(command, sizeof(command), "${CC:-cc} -O2 %s -o %s -x c - 2>/dev/null", flags, path);
	FILE *pipe = popen(command, "w");
	ck_assert_ptr_nonnull(pipe);
	fputs(source, pipe);
	return pclose(pipe) == 0;
}

static void check(const char *flags, bool keeps)
{
	char folder[] = "/tmp/sprof-graph.XXXXXX", path[256];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	if (compile(folder, flags, path)) {
		CLEANUP(cleanup_image_free) struct image *image = NULL;
		ok_or_fail(image_open(path, &image));
		ck_assert_msg(image_keeps_frame_pointers(image) == keeps, "%s", flags);
	}
	unlink(path);
	rmdir(folder);
}

TEST(binaries_say_whether_they_keep_frame_pointers)
{
	struct utsname name;
	ck_assert_int_eq(uname(&name), 0);
	if (strcmp(name.machine, "x86_64"))
		skip_test("needs x86-64");
	check("-fomit-frame-pointer", false);
	/* Four functions of ours, and a few of the compiler's own without. */
	check("-fno-omit-frame-pointer -nostartfiles -Wl,-e,main", true);
	check("-fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables "
	      "-nostartfiles -Wl,-e,main", false);
}

TEST(only_open_questions_are_surveyed)
{
	const char *const command[] = {"/bin/sh", NULL};
	struct capture_options options = {.target.command = command,
					  .chains.call_graph = SP_CALL_GRAPH_FP};
	CLEANUP(target_survey_deinit) struct target_survey survey = {0};
	ok_or_fail(target_survey(made_ctx(), &options, &survey));
	ck_assert_ptr_null(survey.note);
	options.chains.call_graph = SP_CALL_GRAPH_AUTO;
	options.chains.kernel_only = true;
	ok_or_fail(target_survey(made_ctx(), &options, &survey));
	ck_assert_ptr_null(survey.note);
	options.chains.kernel_only = false;
	ok_or_fail(target_survey(made_ctx(), &options, &survey));
	ck_assert_ptr_nonnull(survey.note);
	ck_assert_ptr_nonnull(strstr(survey.note, survey.frame_pointers ? "by frame" : "DWARF"));
}

static bool finds_python(const struct capture_options *options)
{
	CLEANUP(target_survey_deinit) struct target_survey survey = {0};
	ok_or_fail(target_survey(made_ctx(), options, &survey));
	return survey.is_python;
}

TEST(python_matters_for_live_unwinding_alone)
{
	const char *const command[] = {"env", "python3", NULL}, *const other[] = {"/bin/true", NULL};
	struct capture_options options = {.target.command = command,
					  .chains.call_graph = SP_CALL_GRAPH_DWARF};
	ck_assert(finds_python(&options));
	options.chains.unwind = SP_UNWIND_LATER;
	ck_assert(!finds_python(&options));
	options.chains.unwind = SP_UNWIND_LIVE;
	options.chains.python = SP_OFF;
	ck_assert(!finds_python(&options));
	options.chains.python = SP_DEFAULT;
	options.buffers.overwrite = true;
	ck_assert(!finds_python(&options));
	options.buffers.overwrite = false;
	options.target.command = other;
	ck_assert(!finds_python(&options));
}

TEST(files_that_name_python_may_start_it)
{
	static const struct {
		const char *text;
		bool is_python;
	} rows[] = {
		{"#!/bin/sh\nexec python3 \"$0\"\n", true},
		{"#!/bin/sh\nexec /opt/.pyenv/libexec/pyenv exec \"$0\"\n", true},
		{"#!/bin/sh\nexec perl \"$0\"\n", false},
		{"exec python3 without a first line\n", false},
		{"\177ELF and the name libpython3.11.so.1.0", true},
		{"\177ELF and the name python3.11", false},
		{"#!", false},
	};
	char path[] = "/tmp/sprof-survey.XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *const alone[] = {path, NULL}, *const wrapped[] = {"env", path, NULL};
		struct capture_options options = {.target.command = alone,
						  .chains.call_graph = SP_CALL_GRAPH_DWARF};
		size_t size = strlen(rows[i].text);
		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_eq(pwrite(fd, rows[i].text, size, 0), (ssize_t)size);
		ck_assert_msg(finds_python(&options) == rows[i].is_python, "row %zu", i);
		options.target.command = wrapped;
		ck_assert_msg(finds_python(&options) == rows[i].is_python, "row %zu after env", i);
	}
	close(fd);
	unlink(path);
}
