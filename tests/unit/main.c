/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs each case that TEST() put into the section sp_tests of this program, and prints the results
 * as TAP. check's own TAP does not know of skipped cases.
 */
#include "test.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REASON_SIZE 256

/* Weak: the linker defines neither in a program without a case. */
extern const TTest *const __start_sp_tests[] __attribute__((weak));
extern const TTest *const __stop_sp_tests[] __attribute__((weak));

/* Why each case was skipped, "" if it was not. Shared memory: check runs a case in a process. */
static char (*reasons)[REASON_SIZE];
static size_t case_count;

void test_note_skip(const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	for (size_t i = 0; i < case_count; i++)
		if (!strcmp(__start_sp_tests[i]->name, name))
			vsnprintf(reasons[i], REASON_SIZE, format, args);
	va_end(args);
}

static void print_result(size_t index, TestResult *result)
{
	const TTest *test = __start_sp_tests[index];
	bool passed = tr_rtype(result) == CK_PASS;
	printf("%sok %zu - %s", passed ? "" : "not ", index + 1, test->name);
	if (passed && *reasons[index])
		printf(" # SKIP %s", reasons[index]);
	putchar('\n');
	if (!passed)
		printf("# %s:%d: %s\n", tr_lfile(result), tr_lno(result), tr_msg(result));
}

int main(void)
{
	case_count = (size_t)(__stop_sp_tests - __start_sp_tests);
	if (!case_count) {
		puts("Bail out! This program has no case.");
		return EXIT_FAILURE;
	}
	reasons = mmap(NULL, case_count * sizeof(*reasons), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reasons == MAP_FAILED) {
		perror("Bail out! mmap");
		return EXIT_FAILURE;
	}
	Suite *suite = suite_create("unit");
	TCase *cases = tcase_create("cases");
	tcase_set_timeout(cases, 120);
	suite_add_tcase(suite, cases);
	for (size_t i = 0; i < case_count; i++)
		tcase_add_test(cases, __start_sp_tests[i]);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_SILENT);
	size_t count = (size_t)srunner_ntests_run(runner);
	TestResult **results = srunner_results(runner);
	for (size_t i = 0; i < count; i++)
		print_result(i, results[i]);
	printf("1..%zu\n", case_count);
	free(results);
	srunner_free(runner);
	munmap(reasons, case_count * sizeof(*reasons));
	/* Lines state the failures; automake would count a status as one more. */
	return EXIT_SUCCESS;
}
