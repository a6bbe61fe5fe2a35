/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs every case that TEST() put into the section sp_tests of this program. */
#include "test.h"

#include <stdlib.h>

extern const TTest *const __start_sp_tests[];
extern const TTest *const __stop_sp_tests[];

int main(void)
{
	Suite *suite = suite_create("unit");
	TCase *cases = tcase_create("cases");
	tcase_set_timeout(cases, 120);
	suite_add_tcase(suite, cases);
	for (const TTest *const *test = __start_sp_tests; test < __stop_sp_tests; test++)
		tcase_add_test(cases, *test);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	/* In TAP the lines tell; automake would count a status as one more failure. */
	return failed && !getenv("CK_TAP_LOG_FILE_NAME") ? EXIT_FAILURE : EXIT_SUCCESS;
}
