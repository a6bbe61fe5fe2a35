/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit [NAME]...: runs the cases that TEST() put into the section sp_tests of this program, each in
 * its own process, and prints the results as TAP. check's own TAP does not know of skipped cases.
 *
 * NAME, in which * matches anything, is a case, or the source of cases: "chain", "test_chain" and
 * "tests/unit/test_chain.c" are the same. The names' order is the cases' order.
 */
#include "test.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REASON_SIZE 256
#define MODULE_SIZE 64

/* Weak: the linker defines neither in a program without a case. */
extern const TTest *const __start_sp_tests[] __attribute__((weak));
extern const TTest *const __stop_sp_tests[] __attribute__((weak));

/* Why the case was skipped, "" if it was not. Shared memory: check runs a case in a process. */
static char *reason;
static size_t run_count;

void test_note_skip(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(reason, REASON_SIZE, format, args);
	va_end(args);
}

/* DIR/test_NAME.c is NAME. */
static void get_module(const char *path, char module[MODULE_SIZE])
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (!strncmp(name, "test_", 5))
		name += 5;
	snprintf(module, MODULE_SIZE, "%.*s", (int)strcspn(name, "."), name);
}

static bool is_named(const TTest *test, const char *name)
{
	char module[MODULE_SIZE], wanted[MODULE_SIZE];
	get_module(test->file, module);
	get_module(name, wanted);
	return !fnmatch(wanted, module, 0) || !fnmatch(name, test->name, 0);
}

static void print_result(const TTest *test, TestResult *result)
{
	bool passed = tr_rtype(result) == CK_PASS;
	printf("%sok %zu - %s", passed ? "" : "not ", ++run_count, test->name);
	if (passed && *reason)
		printf(" # SKIP %s", reason);
	putchar('\n');
	if (!passed)
		printf("# %s:%d: %s\n", tr_lfile(result), tr_lno(result), tr_msg(result));
}

static void run_case(const TTest *test)
{
	Suite *suite = suite_create("unit");
	TCase *cases = tcase_create("cases");
	tcase_set_timeout(cases, 120);
	suite_add_tcase(suite, cases);
	tcase_add_test(cases, test);
	SRunner *runner = srunner_create(suite);
	*reason = '\0';
	/* The case's process does not print what is buffered. */
	fflush(stdout);
	srunner_run_all(runner, CK_SILENT);
	TestResult **results = srunner_results(runner);
	print_result(test, *results);
	free(results);
	srunner_free(runner);
}

/* Runs the cases of that name, or all if it is NULL. */
static void run_cases(const char *name)
{
	const char *file = "";
	for (const TTest *const *test = __start_sp_tests; test < __stop_sp_tests; test++) {
		if (name && !is_named(*test, name))
			continue;
		if (strcmp(file, (*test)->file))
			printf("# %s\n", (*test)->file);
		file = (*test)->file;
		run_case(*test);
	}
}

int main(int argc, char **argv)
{
	reason = mmap(NULL, REASON_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reason == MAP_FAILED) {
		perror("Bail out! mmap");
		return EXIT_FAILURE;
	}
	if (argc < 2)
		run_cases(NULL);
	for (int i = 1; i < argc; i++) {
		size_t before = run_count;
		run_cases(argv[i]);
		if (run_count == before) {
			printf("Bail out! No case or source of cases is named %s.\n", argv[i]);
			return EXIT_FAILURE;
		}
	}
	munmap(reason, REASON_SIZE);
	if (!run_count) {
		puts("Bail out! This program has no case.");
		return EXIT_FAILURE;
	}
	printf("1..%zu\n", run_count);
	/* Lines state the failures; automake would count a status as one more. */
	return EXIT_SUCCESS;
}
