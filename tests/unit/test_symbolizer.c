/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The public symbolizer, compared with addr2line, with itself in other batches, and in threads. */
#include "test.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sprof/symbolizer.h>
#include "base/cleanup.h"
#include "files.h"
#include "root.h"

#define ADDRESSES_MAX 4096
#define THREADS 4

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)
DEFINE_CLEANUP(struct sp_symbolizer *, sp_symbolizer_free)
DEFINE_CLEANUP(struct sp_space *, sp_space_free)
DEFINE_CLEANUP(struct sp_symbols *, sp_symbols_free)

#define CTX CLEANUP(cleanup_sp_ctx_free) struct sp_ctx
#define SYMBOLIZER CLEANUP(cleanup_sp_symbolizer_free) struct sp_symbolizer
#define SPACE CLEANUP(cleanup_sp_space_free) struct sp_space
#define SYMBOLS CLEANUP(cleanup_sp_symbols_free) struct sp_symbols

static struct sp_ctx *make_ctx(void)
{
	struct sp_ctx *ctx;
	setenv("HOME", files_folder(), 1);
	ok_or_fail(sp_ctx_new(&ctx));
	return ctx;
}

static struct sp_symbolizer *make_symbolizer(struct sp_ctx *ctx)
{
	const struct sp_symbolizer_options options = {.size = sizeof(options), .threads = 3};
	struct sp_symbolizer *symbolizer;
	ok_or_fail(sp_symbolizer_new(ctx, &options, &symbolizer));
	return symbolizer;
}

/* A program with a function that has others inlined, in two levels. */
static void compile_by(const char *compiler, const char *output, const char *flags)
{
	files_run("cat >program.c <<'END'\n"
		  "static inline __attribute__((always_inline)) int innermost(int x)\n"
		  "{\n"
		  "	return x * x ^ 5;\n"
		  "}\n"
		  "static inline __attribute__((always_inline)) int inner(int x)\n"
		  "{\n"
		  "	int sum = 0;\n"
		  "	for (int i = 0; i < x; i++)\n"
		  "		sum += innermost(i) ^ x;\n"
		  "	return sum;\n"
		  "}\n"
		  "__attribute__((noinline)) int outer(int x)\n"
		  "{\n"
		  "	return inner(x) + 1;\n"
		  "}\n"
		  "int main(int argc, char **argv)\n"
		  "{\n"
		  "	return outer(argc) * !argv;\n"
		  "}\n"
		  "END\n"
		  "%s -O2 -g -fno-tree-vectorize -Wl,--build-id %s -o %s program.c",
		  compiler, flags, output);
}

static void compile(const char *output, const char *flags)
{
	compile_by("$CC", output, flags);
}

/* Returns the addresses of all bytes of outer() and main(). */
static size_t list_addresses(const char *program, uint64_t *ret)
{
	size_t count = 0;
	char *text = files_output("nm -S %s | awk '$4 == \"outer\" || $4 == \"main\" { print $1, $2 }'",
				  program);
	for (char *line = text, *end; *line; line = end + (*end == '\n')) {
		uint64_t start = strtoull(line, &end, 16), size = strtoull(end, &end, 16);
		for (uint64_t i = 0; i < size && count < ADDRESSES_MAX; i++)
			ret[count++] = start + i;
	}
	ck_assert_uint_gt(count, 30);
	return count;
}

/* Prints the frames of an address as addr2line does: a function and its line. */
static void print_frames(const struct sp_symbols *symbols, size_t index, FILE *stream)
{
	for (size_t i = 0; i < sp_symbols_frame_count(symbols, index); i++) {
		const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, index, i);
		const char *name = frame->file ? strrchr(frame->file, '/') + 1 : "??";
		ck_assert_int_eq(frame->is_inlined, i + 1 < sp_symbols_frame_count(symbols, index));
		fprintf(stream, "%s %s:%u\n", frame->raw_name ?: "??", name, frame->line);
	}
	ck_assert_ptr_null(sp_symbols_frame(symbols, index, sp_symbols_frame_count(symbols, index)));
}

/* Returns the texts of all addresses, in one batch or one by one; the caller frees it. */
static char *symbolize(struct sp_space *space, const uint64_t *addresses, size_t count, size_t step)
{
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	for (size_t i = 0; i < count; i += step) {
		SYMBOLS *symbols = NULL;
		size_t some = count - i < step ? count - i : step;
		ok_or_fail(sp_space_symbolize(space, addresses + i, some, &symbols));
		ck_assert_uint_eq(sp_symbols_count(symbols), some);
		for (size_t j = 0; j < some; j++)
			print_frames(symbols, j, stream);
	}
	fclose(stream);
	return text;
}

static char *symbolize_file(struct sp_symbolizer *symbolizer, const char *program, size_t step)
{
	static const size_t max = ADDRESSES_MAX;
	CLEANUP_FREE uint64_t *addresses = calloc(max, sizeof(*addresses));
	SPACE *space = NULL;
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path(program), SP_FILE_VADDR, &space));
	return symbolize(space, addresses, list_addresses(program, addresses), step);
}

/* Compares long texts: check aborts if a message has all of them. */
static void expect_same(const char *got, const char *wanted)
{
	size_t same = 0;
	while (got[same] && got[same] == wanted[same])
		same++;
	ck_assert_msg(got[same] == wanted[same], "at byte %zu: '%.40s', not '%.40s'", same, got + same,
		      wanted + same);
}

TEST(symbolizer_equals_addr2line)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	uint64_t addresses[ADDRESSES_MAX];
	/* addr2line 2.40 does not read clang's ranges by index. */
	if (!files_have("addr2line") || !files_have("gcc"))
		skip_test("needs addr2line (binutils) and gcc");
	compile_by("gcc", "program", "");
	size_t count = list_addresses("program", addresses);
	FILE *list = fopen(files_path("list"), "w");
	for (size_t i = 0; i < count; i++)
		fprintf(list, "0x%llx\n", (unsigned long long)addresses[i]);
	fclose(list);
	const char *wanted = files_output(
		"addr2line -i -f -e program <list | sed 's/ (discriminator.*//; s/:?$/:0/; s|.*/||' | "
		"paste -d ' ' - -");
	CLEANUP_FREE char *got = symbolize_file(symbolizer, "program", count);
	expect_same(got, wanted);
	ck_assert_ptr_nonnull(strstr(got, "innermost program.c:3\ninner program.c:9\nouter program.c:14\n"));
}

TEST(symbolizer_batches_equal_single_calls)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *together = make_symbolizer(ctx), *apart = make_symbolizer(ctx);
	/* Compressed sections are inflated once. */
	compile("program", "-gz");
	CLEANUP_FREE char *batch = symbolize_file(together, "program", ADDRESSES_MAX);
	CLEANUP_FREE char *single = symbolize_file(apart, "program", 1);
	CLEANUP_FREE char *again = symbolize_file(apart, "program", 7);
	expect_same(batch, single);
	expect_same(batch, again);
}

TEST(symbolizer_keeps_order_and_repetitions)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL;
	SYMBOLS *symbols = NULL;
	uint64_t all[ADDRESSES_MAX];
	compile("program", "");
	size_t count = list_addresses("program", all);
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_VADDR, &space));
	const uint64_t addresses[] = {all[count - 1], all[0], 1, all[count - 1], all[0]};
	ok_or_fail(sp_space_symbolize(space, addresses, 5, &symbols));
	ck_assert_uint_eq(sp_symbols_frame_count(symbols, 2), 0);
	const char *first = sp_symbols_frame(symbols, 0, sp_symbols_frame_count(symbols, 0) - 1)->function;
	const char *second = sp_symbols_frame(symbols, 1, sp_symbols_frame_count(symbols, 1) - 1)->function;
	ck_assert_str_ne(first, second);
	for (size_t i = 0; i < 2; i++) {
		uint64_t vaddr;
		size_t count_i = sp_symbols_frame_count(symbols, i);
		ck_assert_uint_eq(sp_symbols_frame_count(symbols, i + 3), count_i);
		ck_assert_str_eq(sp_symbols_frame(symbols, i + 3, count_i - 1)->function,
				 i ? second : first);
		ck_assert_ptr_nonnull(strstr(sp_symbols_file(symbols, i, &vaddr), "/program"));
		ck_assert_uint_eq(vaddr, addresses[i]);
	}
	SYMBOLS *none = NULL;
	ok_or_fail(sp_space_symbolize(space, NULL, 0, &none));
	ck_assert_uint_eq(sp_symbols_count(none), 0);
}

/* The start of outer(), by vaddr and by offset, in a program with segments that differ in both. */
TEST(symbolizer_accepts_file_offsets)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *by_vaddr = NULL, *by_offset = NULL;
	SYMBOLS *one = NULL, *other = NULL;
	compile("program", "-no-pie -Wl,-Ttext-segment=0x7000000");
	uint64_t vaddr = strtoull(files_output("nm program | awk '$3 == \"outer\" { print $1 }'"), NULL, 16);
	uint64_t at[] = {vaddr + 1}, offset[] = {vaddr + 1 - 0x7000000}, found;
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_VADDR, &by_vaddr));
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_OFFSET, &by_offset));
	ok_or_fail(sp_space_symbolize(by_vaddr, at, 1, &one));
	ok_or_fail(sp_space_symbolize(by_offset, offset, 1, &other));
	const struct sp_symbol_frame *frame = sp_symbols_frame(one, 0, sp_symbols_frame_count(one, 0) - 1);
	ck_assert_str_eq(frame->function, "outer");
	ck_assert_uint_eq(frame->start, vaddr);
	frame = sp_symbols_frame(other, 0, sp_symbols_frame_count(other, 0) - 1);
	ck_assert_str_eq(frame->function, "outer");
	ck_assert_uint_eq(frame->start, offset[0] - 1);
	ck_assert_ptr_nonnull(sp_symbols_file(other, 0, &found));
	ck_assert_uint_eq(found, at[0]);
}

TEST(symbolizer_without_inlines_or_lines)
{
	CTX *ctx = make_ctx();
	uint64_t addresses[ADDRESSES_MAX];
	compile("program", "");
	size_t count = list_addresses("program", addresses), lines = 0;
	for (int lined = 0; lined < 2; lined++) {
		const struct sp_symbolizer_options options = {
			.size = sizeof(options), .inlines = SP_OFF, .lines = lined ? SP_ON : SP_OFF};
		SYMBOLIZER *symbolizer = NULL;
		SPACE *space = NULL;
		SYMBOLS *symbols = NULL;
		ok_or_fail(sp_symbolizer_new(ctx, &options, &symbolizer));
		ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_VADDR,
						  &space));
		ok_or_fail(sp_space_symbolize(space, addresses, count, &symbols));
		for (size_t i = 0; i < count; i++) {
			const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, i, 0);
			ck_assert_uint_eq(sp_symbols_frame_count(symbols, i), 1);
			ck_assert(!strcmp(frame->function, "outer") || !strcmp(frame->function, "main"));
			ck_assert_int_eq(frame->file != NULL, lined);
			/* The inner function's line, in the outer function. */
			lines += !strcmp(frame->function, "outer") && frame->line == 3;
		}
	}
	ck_assert_uint_gt(lines, 0);
}

/* -- Threads --------------------------------------------------------------- */

struct sharing {
	struct sp_symbolizer *symbolizer;
	const char *paths[2];
	const uint64_t *addresses;
	size_t count;
	const char *wanted;
	unsigned int failures; /* atomic */
};

/* Adds both files and this process, and symbolizes in batches of several sizes. */
static void *share(void *arg)
{
	struct sharing *sharing = arg;
	for (size_t i = 0; i < 6; i++) {
		SPACE *file = NULL, *process = NULL;
		struct sp_error *error = sp_symbolizer_add_file(
			sharing->symbolizer, sharing->paths[i % 2], SP_FILE_VADDR, &file);
		if (!error)
			error = sp_symbolizer_add_process(sharing->symbolizer, (uint32_t)getpid(),
							  &process);
		CLEANUP_FREE char *text =
			error ? NULL : symbolize(file, sharing->addresses, sharing->count, 1 + 11 * i);
		uint64_t own = (uint64_t)(uintptr_t)share;
		CLEANUP_FREE char *here = error ? NULL : symbolize(process, &own, 1, 1);
		if (error || strcmp(text, sharing->wanted) || !strstr(here, "share "))
			__atomic_fetch_add(&sharing->failures, 1, __ATOMIC_RELAXED);
		sp_error_free(error);
	}
	return NULL;
}

TEST(symbolizer_is_shared_by_threads)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx), *alone = make_symbolizer(ctx);
	uint64_t addresses[ADDRESSES_MAX];
	pthread_t threads[THREADS];
	compile("program", "");
	files_run("cp program other");
	CLEANUP_FREE char *wanted = symbolize_file(alone, "program", ADDRESSES_MAX);
	struct sharing sharing = {
		.symbolizer = symbolizer,
		.paths = {files_path("program"), files_path("other")},
		.addresses = addresses,
		.count = list_addresses("program", addresses),
		.wanted = wanted,
	};
	for (int i = 0; i < THREADS; i++)
		ck_assert(!pthread_create(&threads[i], NULL, share, &sharing));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(sharing.failures, 0);
}

/* -- Processes ------------------------------------------------------------- */

static void expect_remedy(struct sp_error *error, enum sp_error_code code, const char *message,
			  const char *remedy)
{
	CLEANUP(cleanup_sp_error_free) struct sp_error *owned = error;
	ck_assert(error && sp_error_code(error) == code);
	ck_assert_msg(strstr(sp_error_message(error), message), "%s", sp_error_message(error));
	ck_assert_msg(sp_error_remedy(error) && strstr(sp_error_remedy(error), remedy), "%s",
		      sp_error_remedy(error));
}

TEST(symbolizer_of_a_child)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL, *late = NULL;
	SYMBOLS *symbols = NULL;
	const char *remedy;
	pid_t child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	ok_or_fail(sp_symbolizer_add_process(symbolizer, (uint32_t)child, &space));
	kill(child, SIGKILL);
	/* A zombie has no memory. */
	siginfo_t ended;
	ck_assert(!waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT));
	expect_remedy(sp_symbolizer_add_process(symbolizer, (uint32_t)child, &late), SP_ERROR_NOT_FOUND,
		      "has ended", "sprof record -p");
	waitpid(child, NULL, 0);
	expect_remedy(sp_symbolizer_add_process(symbolizer, (uint32_t)child, &late), SP_ERROR_NOT_FOUND,
		      "does not exist", "sprof record -p");
	/* The space outlives the process. */
	const uint64_t addresses[] = {(uintptr_t)expect_remedy + 1, 8, (uintptr_t)kill};
	ok_or_fail(sp_space_symbolize(space, addresses, 3, &symbols));
	const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, 0, 0);
	ck_assert_str_eq(frame->function, "expect_remedy");
	ck_assert_ptr_nonnull(strstr(frame->file, "test_symbolizer.c"));
	ck_assert_uint_eq(frame->start, addresses[0] - 1);
	ck_assert_ptr_nonnull(strstr(sp_symbols_file(symbols, 0, NULL), "tests/unit/unit"));
	ck_assert_uint_eq(sp_symbols_frame_count(symbols, 1), 0);
	ck_assert_ptr_null(sp_symbols_file(symbols, 1, NULL));
	ck_assert_ptr_nonnull(strstr(sp_symbols_problem(symbols, 1, &remedy), "0x8 is not in the code"));
	ck_assert_ptr_nonnull(strstr(remedy, "add the process again"));
	ck_assert_uint_ge(sp_symbols_frame_count(symbols, 2), 1);
}

static void write_perf_map(const char *path, const void *code, const char *name)
{
	FILE *file = fopen(path, "w");
	fprintf(file, "%llx 40 %s\n", (unsigned long long)(uintptr_t)code, name);
	fclose(file);
}

static void expect_jit(struct sp_symbolizer *symbolizer, const void *code, const char *name)
{
	SPACE *space = NULL;
	SYMBOLS *symbols = NULL;
	const uint64_t ip = (uintptr_t)code + 4;
	ok_or_fail(sp_symbolizer_add_process(symbolizer, (uint32_t)getpid(), &space));
	ok_or_fail(sp_space_symbolize(space, &ip, 1, &symbols));
	ck_assert_uint_eq(sp_symbols_frame_count(symbols, 0), name != NULL);
	const char *problem = sp_symbols_problem(symbols, 0, NULL);
	if (name)
		ck_assert_str_eq(sp_symbols_frame(symbols, 0, 0)->function, name);
	else
		ck_assert_ptr_nonnull(strstr(problem, "perf-"));
}

TEST(symbolizer_of_generated_code)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	char path[64];
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(code != MAP_FAILED);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	expect_jit(symbolizer, code, NULL);
	write_perf_map(path, code, "first_code");
	expect_jit(symbolizer, code, "first_code");
	/* The map of each addition counts. */
	write_perf_map(path, code, "later_code");
	expect_jit(symbolizer, code, "later_code");
	unlink(path);
}

/* Starts a program that makes code and a jitdump, for `seconds` of CPU time at its first place. */
static pid_t start_jitdump(const char *seconds, FILE **ret)
{
	char path[512];
	int ends[2];
	snprintf(path, sizeof(path), "%s/tests/workload/jitdump", getenv("top_builddir") ?: ".");
	ck_assert(!pipe(ends));
	pid_t child = fork();
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, path, files_folder(), seconds, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	*ret = fdopen(ends[0], "r");
	return child;
}

/* Returns the name at the first bytes of the child's executable memory without a file, or NULL. */
static const char *jitdump_name(struct sp_symbolizer *symbolizer, pid_t child, struct sp_space **space)
{
	SYMBOLS *symbols = NULL;
	char *text = files_output("awk '$2 ~ /x/ && $5 == 0 && $6 == \"\" { print $1 }' /proc/%d/maps",
				  (int)child);
	const uint64_t ip = strtoull(text, NULL, 16);
	sp_space_free(take_ptr(*space));
	sp_error_free(sp_symbolizer_add_process(symbolizer, (uint32_t)child, space));
	if (!*space || !ip)
		return NULL;
	ok_or_fail(sp_space_symbolize(*space, &ip, 1, &symbols));
	const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, 0, 0);
	ck_assert(!frame || (strstr(frame->file, "alpha.js") && frame->line == 10));
	return frame ? frame->function : NULL;
}

TEST(symbolizer_of_a_jitdump)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL;
	CLEANUP(cleanup_fclose) FILE *output = NULL;
	const char *name = NULL;
	pid_t child = start_jitdump("60", &output), ended = 0;
	for (int i = 0; i < 500 && !name && !ended; i++) {
		usleep(20000);
		name = jitdump_name(symbolizer, child, &space);
		ended = waitpid(child, NULL, WNOHANG);
	}
	if (ended)
		skip_test("the workload makes no code for this machine");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert(name && !strcmp(name, "alpha"));
}

/* -- The kernel ------------------------------------------------------------ */

TEST(symbolizer_of_the_kernel)
{
	ROOT root = {0};
	SYMBOLIZER *symbolizer = NULL;
	SPACE *space = NULL;
	SYMBOLS *symbols = NULL;
	const uint64_t ips[] = {0xffffffff81000104, 0xffffffffc0001048, 0x1000};
	root_init(&root);
	root_put(&root, "/proc/kallsyms", "ffffffff81000000 T _text\n"
					  "ffffffff81000000 T _stext\n"
					  "ffffffff81000100 T do_work\n"
					  "ffffffff81000200 t helper\n"
					  "ffffffffc0001000 t mod_init\t[my_mod]\n"
					  "ffffffffc0001040 t mod_work\t[my_mod]\n");
	root_put(&root, "/proc/modules", "my_mod 8192 0 - Live 0xffffffffc0001000\n");
	root_put(&root, "/proc/sys/kernel/osrelease", "6.1.0-test\n");
	ok_or_fail(sp_ctx_set_cache_path(root.ctx, NULL));
	ok_or_fail(sp_symbolizer_new(root.ctx, NULL, &symbolizer));
	ok_or_fail(sp_symbolizer_add_kernel(symbolizer, &space));
	ok_or_fail(sp_space_symbolize(space, ips, 3, &symbols));
	ck_assert_str_eq(sp_symbols_frame(symbols, 0, 0)->function, "do_work");
	ck_assert_uint_eq(sp_symbols_frame(symbols, 0, 0)->start, 0xffffffff81000100);
	ck_assert_str_eq(sp_symbols_file(symbols, 0, NULL), "[kernel.kallsyms]");
	ck_assert_str_eq(sp_symbols_frame(symbols, 1, 0)->function, "mod_work");
	ck_assert_str_eq(sp_symbols_file(symbols, 1, NULL), "[my_mod]");
	ck_assert_uint_eq(sp_symbols_frame_count(symbols, 2), 0);
}

TEST(symbolizer_without_rights_to_kallsyms)
{
	ROOT root = {0};
	SYMBOLIZER *symbolizer = NULL;
	SPACE *space = NULL;
	SYMBOLS *symbols = NULL;
	const uint64_t ip = 0xffffffff81000104;
	const char *remedy;
	root_init(&root);
	root_put(&root, "/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T do_work\n");
	root_put(&root, "/proc/sys/kernel/osrelease", "6.1.0-test\n");
	ok_or_fail(sp_ctx_set_cache_path(root.ctx, NULL));
	ok_or_fail(sp_symbolizer_new(root.ctx, NULL, &symbolizer));
	ok_or_fail(sp_symbolizer_add_kernel(symbolizer, &space));
	ok_or_fail(sp_space_symbolize(space, &ip, 1, &symbols));
	ck_assert_uint_eq(sp_symbols_frame_count(symbols, 0), 0);
	ck_assert_ptr_nonnull(sp_symbols_problem(symbols, 0, &remedy));
	ck_assert_ptr_nonnull(strstr(remedy, "kptr_restrict"));
}

/* -- Problems -------------------------------------------------------------- */

TEST(symbolizer_reports_missing_symbols_and_lines)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	const char *remedy;
	uint64_t addresses[ADDRESSES_MAX];
	compile("program", "");
	size_t count = list_addresses("program", addresses);
	files_run("strip -g -o no_lines program && strip -o stripped program");
	const char *const files[] = {"no_lines", "stripped"};
	const char *const problems[] = {"no debug information", "is stripped"};
	/* Twice: the search for debug information is not repeated, and its result stays. */
	for (int i = 0; i < 4; i++) {
		SPACE *space = NULL;
		SYMBOLS *symbols = NULL;
		ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path(files[i % 2]), SP_FILE_VADDR,
						  &space));
		ok_or_fail(sp_space_symbolize(space, addresses, count, &symbols));
		for (size_t j = 0; j < count; j++) {
			const char *problem = sp_symbols_problem(symbols, j, &remedy);
			ck_assert_msg(problem && strstr(problem, problems[i % 2]), "%s", problem);
			ck_assert_ptr_nonnull(strstr(remedy, "install its debug symbols"));
		}
		const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, 0, 0);
		ck_assert(frame && frame->is_range == i % 2 && !frame->file);
	}
}

TEST(symbolizer_refuses_other_files)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL;
	files_run("echo 'int x(void) { return 1; }' >object.c && $CC -c object.c && echo text >text");
	fails_with(SP_ERROR_NOT_FOUND, sp_symbolizer_add_file(symbolizer, files_path("none"),
							      SP_FILE_VADDR, &space));
	fails_with(SP_ERROR_FORMAT, sp_symbolizer_add_file(symbolizer, files_path("text"),
							   SP_FILE_VADDR, &space));
	expect_remedy(sp_symbolizer_add_file(symbolizer, files_path("object.o"), SP_FILE_VADDR, &space),
		      SP_ERROR_UNSUPPORTED, "object.o", "linked program");
	ck_assert_ptr_null(space);
}

TEST(symbolizer_opens_files_below_symfs)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = NULL;
	SPACE *space = NULL;
	SYMBOLS *symbols = NULL;
	uint64_t addresses[ADDRESSES_MAX];
	compile("program", "");
	list_addresses("program", addresses);
	files_run("mkdir -p root/usr/bin && mv program root/usr/bin/");
	const struct sp_files files = {.size = sizeof(files), .symfs = files_path("root")};
	const struct sp_symbolizer_options options = {.size = sizeof(options), .files = &files};
	ok_or_fail(sp_symbolizer_new(ctx, &options, &symbolizer));
	ok_or_fail(sp_symbolizer_add_file(symbolizer, "/usr/bin/program", SP_FILE_VADDR, &space));
	ok_or_fail(sp_space_symbolize(space, addresses, 1, &symbols));
	ck_assert_ptr_nonnull(sp_symbols_frame(symbols, 0, 0)->file);
	ck_assert_str_eq(sp_symbols_file(symbols, 0, NULL), "/usr/bin/program");
}

/* Small calls do not open it again, nor inflate it. */
TEST(symbolizer_keeps_debug_information_open)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL;
	uint64_t addresses[ADDRESSES_MAX];
	compile("program", "-gz");
	size_t count = list_addresses("program", addresses);
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_VADDR, &space));
	for (size_t i = 0; i < count; i++) {
		SYMBOLS *symbols = NULL;
		ok_or_fail(sp_space_symbolize(space, &addresses[i], 1, &symbols));
		ck_assert_ptr_nonnull(sp_symbols_frame(symbols, 0, 0)->file);
		if (!i)
			files_run("rm program");
	}
}

/* Returns the bytes of memory in use; 0 where the C library or a sanitizer does not count them. */
static size_t used_bytes(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/* A continuous profiler makes many of them. */
TEST(symbolizer_keeps_little_for_each_call)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL;
	uint64_t addresses[ADDRESSES_MAX];
	size_t before = 0;
	compile("program", "");
	size_t count = list_addresses("program", addresses);
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_VADDR, &space));
	for (size_t i = 0; i < count; i++) {
		SYMBOLS *symbols = NULL;
		ok_or_fail(sp_space_symbolize(space, &addresses[i], 1, &symbols));
		if (i == 10)
			before = used_bytes();
	}
	ck_assert_uint_lt(used_bytes(), before + (count - 10) * 10000 + 200000);
}

/* A cancelled search must not be cached as one that found nothing. */
TEST(symbolizer_is_cancelled)
{
	CTX *ctx = make_ctx();
	SYMBOLIZER *symbolizer = make_symbolizer(ctx);
	SPACE *space = NULL;
	SYMBOLS *symbols = NULL;
	uint64_t addresses[ADDRESSES_MAX];
	compile("program", "");
	list_addresses("program", addresses);
	ok_or_fail(sp_symbolizer_add_file(symbolizer, files_path("program"), SP_FILE_VADDR, &space));
	sp_ctx_cancel(ctx);
	fails_with(SP_ERROR_CANCELLED, sp_space_symbolize(space, addresses, 4, &symbols));
	sp_ctx_uncancel(ctx);
	ok_or_fail(sp_space_symbolize(space, addresses, 4, &symbols));
	ck_assert_ptr_nonnull(sp_symbols_frame(symbols, 0, 0)->file);
}
