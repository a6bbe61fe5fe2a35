/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which binaries keep frame pointers, on those that the compiler makes of the same source. */
#include "capture/config/graph.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "test.h"

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

TEST(what_was_asked_for_is_taken)
{
	const char *const command[] = {"true", NULL};
	struct capture_options options = {.target.command = command,
					  .chains.call_graph = SP_CALL_GRAPH_NONE};
	struct call_graph graph;
	ok_or_fail(call_graph_choose(NULL, &options, &graph));
	ck_assert_int_eq(graph.kind, SP_CALL_GRAPH_NONE);
	options.chains.call_graph = SP_CALL_GRAPH_FP;
	options.chains.max_stack = 50;
	ok_or_fail(call_graph_choose(NULL, &options, &graph));
	ck_assert_int_eq(graph.kind, SP_CALL_GRAPH_FP);
	ck_assert_uint_eq(graph.max_stack, 50);
	ck_assert(!graph.live && !graph.note);
	options.chains.kernel_only = true;
	options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	ok_or_fail(call_graph_choose(NULL, &options, &graph));
	ck_assert_int_eq(graph.kind, SP_CALL_GRAPH_FP);
	ck_assert(!graph.live && !graph.note);
	options.chains.kernel_only = false;
	struct utsname name;
	ck_assert_int_eq(uname(&name), 0);
	options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	if (!call_graph_registers(name.machine))
		skip_test("stacks are not copied on this architecture");
	ok_or_fail(call_graph_choose(NULL, &options, &graph));
	ck_assert(graph.live && graph.stack_bytes == 8192);
	options.chains.stack_bytes = 4092;
	fails_with(SP_ERROR_INVALID, call_graph_choose(NULL, &options, &graph));
	options.chains.stack_bytes = 65536;
	fails_with(SP_ERROR_INVALID, call_graph_choose(NULL, &options, &graph));
	options.chains.stack_bytes = 65528;
	options.chains.unwind = SP_UNWIND_LATER;
	ok_or_fail(call_graph_choose(NULL, &options, &graph));
	ck_assert(!graph.live && graph.stack_bytes == 65528);
}

TEST(registers_are_those_that_perf_takes)
{
	ck_assert_uint_eq(call_graph_registers("x86_64"), 0xff0fff);
	ck_assert_uint_eq(call_graph_registers("aarch64"), 0x1ffffffff);
	ck_assert_uint_eq(call_graph_registers("mips"), 0);
}

TEST(what_suits_is_said)
{
	const char *const command[] = {"/bin/sh", NULL};
	struct capture_options options = {.target.command = command};
	struct sp_ctx *ctx;
	struct call_graph graph;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(call_graph_choose(ctx, &options, &graph));
	ck_assert(graph.kind == SP_CALL_GRAPH_FP || graph.kind == SP_CALL_GRAPH_DWARF);
	ck_assert_ptr_nonnull(graph.note);
	ck_assert_ptr_nonnull(strstr(graph.note, graph.kind == SP_CALL_GRAPH_FP ? "by frame" : "DWARF"));
	call_graph_deinit(&graph);
	sp_ctx_free(ctx);
}
