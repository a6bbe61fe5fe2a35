/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of Python code without the interpreter's frames: from records to rows. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sprof/sprof.h>
#include "files.h"
#include "frames/names.h"
#include "record/encode.h"
#include "record/python_record.h"
#include "test.h"
#include "writer/writer.h"

#define PYTHON 0x100000u /* start address of the interpreter */
#define EXTENSION 0x200000u
#define LIBC 0x300000u
#define KERNEL 0xffffffff81000000u
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define IN_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)

/* Functions of the interpreter, of 256 bytes each; addresses within. */
#define START (PYTHON + 0x1010)
#define EVAL (PYTHON + 0x1110)
#define CALL (PYTHON + 0x1210)
#define SORT (PYTHON + 0x1310)
#define COLLECT (PYTHON + 0x1410)
#define VISIT (PYTHON + 0x1510)
#define ENCODE (EXTENSION + 0x1010)

static const char *const functions[] = {"start", "_PyEval_EvalFrameDefault", "call", "list_sort",
					"gc_collect_main", "visit"};

static const uint64_t ids[] = {100};
static const struct sp_event event = {
	.name = "cpu-clock",
	.attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
		 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		 .sample_id_all = 1},
	.ids = ids, .id_count = 1,
};

struct fixture {
	struct record_buffer buffer;
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_analysis *analysis;
};

static void put(struct fixture *f, struct sp_record *record)
{
	record->id.id = ids[0];
	ok_or_fail(record_encode(&f->buffer, record, &event.attr));
}

static void map(struct fixture *f, uint64_t start, const char *path)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
		.mmap = {.pid = 7, .tid = 7, .start = start, .size = 0x10000, .filename = path,
			 .prot = PROT_READ | PROT_EXEC},
	};
	put(f, &record);
}

/* Puts a sample with the chain `ips`, innermost first, in the kernel if that begins there. */
static void put_chain(struct fixture *f, const uint64_t *ips, size_t count)
{
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = (ips[0] == IN_KERNEL ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
			SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT,
		.sample = {.time_ns = 1, .pid = 7, .tid = 7, .ip = ips[1], .period = 10, .ips = ips,
			   .ip_count = count, .id = ids[0]},
	};
	put(f, &record);
}

#define CHAIN(f, ...) \
	put_chain(f, (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

static void setup(struct fixture *f)
{
	static const struct python_function python[] = {
		{.name = "caller", .file = "/a.py", .first_line = 1},
		{.name = "callee", .file = "/a.py", .first_line = 9},
	};
	files_run("echo .text >python.s");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const char *name = functions[i];
		files_run("printf '%%s\\n' '.globl %s' '.type %s,@function' '%s: .skip 256' "
			  "'.size %s,256' >>python.s", name, name, name, name);
	}
	files_run("$CC -shared -nostdlib -Wl,-z,max-page-size=4096,-z,separate-code,-Ttext=0x1000 "
		  "-o python3.11 python.s");
	map(f, PYTHON, files_path("python3.11"));
	map(f, EXTENSION, "/nonexistent/_json.so");
	for (uint32_t i = 0; i < 2; i++) {
		struct python_function function = python[i];
		function.start = python_start(i);
		ok_or_fail(record_encode_python(&f->buffer, &function));
	}
}

static void analyse_by(struct fixture *f, bool children, const struct sp_analysis_stacks *stacks)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
	const char *path = files_path("made.data");
	const struct writer_info info = {.arch = "x86_64"};
	const struct writer_end end = {0};
	struct iovec span = {f->buffer.items, f->buffer.count};
	struct writer *writer;
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2,
					      .children = children};
	const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows,
						    .stacks = stacks};
	remove(path);
	ok_or_fail(writer_open(path, &event, 1, &info, &writer));
	ok_or_fail(writer_write(writer, &span, 1));
	ok_or_fail(writer_close(writer, &end));
	sp_analysis_free(f->analysis);
	sp_reader_free(f->reader);
	sp_ctx_free(f->ctx);
	ok_or_fail(sp_ctx_new(&f->ctx));
	ok_or_fail(sp_reader_open(f->ctx, path, &f->reader));
	ok_or_fail(sp_analysis_run(f->ctx, f->reader, &options, &f->analysis));
}

static void analyse(struct fixture *f, bool children, bool fold)
{
	analyse_by(f, children, &(const struct sp_analysis_stacks){
		.size = sizeof(struct sp_analysis_stacks), .fold_python = fold});
}

static void teardown(struct fixture *f)
{
	sp_analysis_free(f->analysis);
	sp_reader_free(f->reader);
	sp_ctx_free(f->ctx);
	vec_deinit(&f->buffer);
}

/* Compares the rows: "symbol SELF/TOTAL", in the order of the profile. */
static void rows_are(const struct fixture *f, const char *wanted)
{
	const struct sp_profile *profile = sp_analysis_profile(f->analysis, 0);
	char text[1000] = "";
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s %d/%d", i ? ", " : "", row->symbol,
			 (int)row->self.samples, (int)row->total.samples);
	}
	ck_assert_str_eq(text, wanted);
}

#define CALLER python_address(python_start(0), 2)
#define CALLEE python_address(python_start(1), 10)

TEST(an_evaluation_is_its_python_function)
{
	struct fixture f = {0};
	setup(&f);
	/* The caller calls the callee within one evaluation; by another one; and sorts. */
	CHAIN(&f, USER, EVAL, CALLEE, CALLER, START);
	CHAIN(&f, USER, EVAL, CALLEE, CALL, SORT, EVAL, CALLER, START);
	CHAIN(&f, USER, SORT, CALL, EVAL, CALLER, START);
	CHAIN(&f, IN_KERNEL, KERNEL, USER, EVAL, CALLER, START);
	analyse(&f, true, true);
	rows_are(&f, "caller 0/4, start 0/4, callee 2/2, 0xffffffff81000000 1/1, "
		     "list_sort 1/1, call 0/1");
	analyse(&f, true, false);
	rows_are(&f, "_PyEval_EvalFrameDefault 2/4, caller 0/4, start 0/4, list_sort 1/2, "
		     "callee 0/2, call 0/2, 0xffffffff81000000 1/1");
	analyse(&f, false, true);
	rows_are(&f, "callee 2/2, 0xffffffff81000000 1/1, list_sort 1/1");
	teardown(&f);
}

TEST(frames_of_other_files_between_evaluations_stay)
{
	struct fixture f = {0};
	setup(&f);
	CHAIN(&f, USER, EVAL, CALLEE, CALL, ENCODE, CALL, EVAL, CALLER, START);
	analyse(&f, true, true);
	rows_are(&f, "callee 1/1, caller 0/1, 0x1010 0/1, start 0/1");
	teardown(&f);
}

TEST(frames_that_start_the_interpreter_are_left_out)
{
	struct fixture f = {0};
	setup(&f);
	map(&f, LIBC, "/nonexistent/libc.so.6");
	/* main() of the interpreter, a thread, and a truncated stack */
	CHAIN(&f, USER, EVAL, CALLEE, CALL, SORT, CALL, LIBC + 0x1010, START);
	CHAIN(&f, USER, EVAL, CALLEE, CALL, SORT, LIBC + 0x2010, LIBC + 0x3010);
	CHAIN(&f, USER, EVAL, CALLEE, CALL, SORT);
	analyse(&f, true, true);
	rows_are(&f, "callee 3/3, 0x2010 0/1, 0x3010 0/1, list_sort 0/1, start 0/1");
	/* A program that embeds the interpreter, and a collector that runs at its end */
	CHAIN(&f, USER, EVAL, CALLEE, CALL, CALL, EXTENSION + 0x1010, LIBC + 0x1010,
	      EXTENSION + 0x2010);
	CHAIN(&f, USER, EVAL, CALLEE, CALL, COLLECT, CALL, START);
	analyse(&f, true, true);
	rows_are(&f, "callee 5/5, start 0/2, 0x1010 0/1, 0x2010 0/1, 0x1010 0/1, 0x2010 0/1, "
		     "0x3010 0/1, gc_collect_main 0/1, list_sort 0/1");
	analyse(&f, false, true);
	rows_are(&f, "callee 5/5");
	teardown(&f);
}

TEST(a_run_of_the_collector_is_one_frame)
{
	struct fixture f = {0};
	setup(&f);
	CHAIN(&f, USER, VISIT, VISIT, COLLECT, CALL, EVAL, CALLER, START);
	/* Without Python code, and called by the callee's finalizer */
	CHAIN(&f, USER, VISIT, COLLECT, START);
	CHAIN(&f, USER, EVAL, CALLEE, CALL, COLLECT, CALL, EVAL, CALLER, START);
	analyse(&f, true, true);
	rows_are(&f, "gc_collect_main 2/3, start 0/3, caller 0/2, callee 1/1, call 0/1");
	analyse(&f, false, true);
	rows_are(&f, "gc_collect_main 2/2, callee 1/1");
	teardown(&f);
}

TEST(a_signal_frame_keeps_its_exact_address)
{
	struct fixture f = {0};
	setup(&f);
	/* The first instruction of its function was interrupted: no return address. */
	CHAIN(&f, USER, EVAL, CALLEE, CALL, USER, EXTENSION + 0x1000, CALL, EVAL, CALLER, USER,
	      PYTHON + 0x1000);
	analyse(&f, true, true);
	rows_are(&f, "callee 1/1, caller 0/1, 0x1000 0/1, start 0/1");
	teardown(&f);
}

/* Code of a program, and of its library. */
#define PROGRAM 0x500000u
#define OWN_LIBRARY 0x600000u

TEST(libraries_and_the_kernel_are_their_callers_time)
{
	static const struct sp_analysis_stacks own = {.size = sizeof(own), .own_code = true};
	struct fixture f = {0};
	map(&f, PROGRAM, "/home/me/program");
	map(&f, OWN_LIBRARY, "/libs/lib.so"); /* not in /lib */
	map(&f, LIBC, "/usr/lib/libc.so.6");
	CHAIN(&f, USER, LIBC + 0x10, LIBC + 0x21, PROGRAM + 0x31, LIBC + 0x41, PROGRAM + 0x51);
	/* The program's own code was sampled; below the same callers, the library's was. */
	CHAIN(&f, USER, OWN_LIBRARY + 0x60, LIBC + 0x41, PROGRAM + 0x51);
	CHAIN(&f, USER, LIBC + 0x60, LIBC + 0x41, PROGRAM + 0x51);
	CHAIN(&f, IN_KERNEL, KERNEL + 0x10, KERNEL + 0x21, USER, LIBC + 0x10, PROGRAM + 0x31);
	analyse_by(&f, true, &own);
	/* After the kernel, an address is that of the instruction: the call before 0x31. */
	rows_are(&f, "0x51 1/3, 0x60 1/1, 0x30 1/1, 0x31 1/1");
	analyse_by(&f, false, &own);
	rows_are(&f, "0x60 1/1, 0x30 1/1, 0x31 1/1, 0x51 1/1");
	teardown(&f);
}

TEST(a_stack_without_own_code_is_its_outermost_function)
{
	static const struct sp_analysis_stacks own = {.size = sizeof(own), .own_code = true};
	struct fixture f = {0};
	map(&f, PROGRAM, "/home/me/program");
	map(&f, LIBC, "/usr/lib/libc.so.6");
	CHAIN(&f, USER, LIBC + 0x10, LIBC + 0x21, LIBC + 0x31);
	CHAIN(&f, USER, PROGRAM + 0x40, LIBC + 0x21, LIBC + 0x31);
	CHAIN(&f, IN_KERNEL, KERNEL + 0x10, KERNEL + 0x21);
	analyse_by(&f, true, &own);
	rows_are(&f, "0x31 1/2, 0xffffffff81000021 1/1, 0x40 1/1");
	teardown(&f);
}

TEST(exact_addresses_of_own_code_are_kept)
{
	static const struct sp_analysis_stacks own = {.size = sizeof(own), .own_code = true};
	struct fixture f = {0};
	map(&f, PROGRAM, "/home/me/program");
	map(&f, LIBC, "/usr/lib/libc.so.6");
	/* A signal interrupted the program, or the library, at an exact address. */
	CHAIN(&f, USER, PROGRAM + 0x10, LIBC + 0x21, USER, PROGRAM + 0x30, PROGRAM + 0x41);
	CHAIN(&f, USER, PROGRAM + 0x10, USER, LIBC + 0x30, PROGRAM + 0x41);
	CHAIN(&f, USER, LIBC + 0x10, LIBC + 0x21, USER, PROGRAM + 0x30, PROGRAM + 0x41);
	analyse_by(&f, true, &own);
	rows_are(&f, "0x41 0/3, 0x10 2/2, 0x30 1/2");
	teardown(&f);
}

TEST(an_address_after_kernel_frames_is_exact)
{
	static const struct sp_analysis_stacks own = {.size = sizeof(own), .own_code = true};
	struct fixture f = {0};
	setup(&f);
	files_run("cp python3.11 program");
	map(&f, PROGRAM, files_path("program"));
	/* A page fault in the first instruction of `call`, and in a library's that `call` called */
	CHAIN(&f, IN_KERNEL, KERNEL + 0x10, USER, PROGRAM + 0x1200, PROGRAM + 0x1310);
	CHAIN(&f, IN_KERNEL, KERNEL + 0x10, USER, EXTENSION + 0x10, PROGRAM + 0x1300);
	analyse_by(&f, true, &own);
	rows_are(&f, "call 2/2, list_sort 0/1");
	teardown(&f);
}

TEST(collectors_are_known_by_name_and_file)
{
	struct module module = {.name = "libpython3.13.so.1.0", .runtime = 1};
	struct symbol symbol = {.name = "gc_collect_main.constprop.0",
				.raw_name = "gc_collect_main.constprop.0"};
	const struct frame frame = {.module = &module, .symbol = &symbol};
	ck_assert(frame_is_collector(&frame));
	symbol.raw_name = symbol.name = "_PyGC_Collect";
	ck_assert(frame_is_collector(&frame));
	symbol.raw_name = symbol.name = "gc_collect_mainly";
	ck_assert(!frame_is_collector(&frame));
	symbol.raw_name = symbol.name = "gc_collect_main";
	module.name = "program";
	ck_assert(!frame_is_collector(&frame));
}
