/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A case is one function that registers itself:
 *
 *	TEST(arena_keeps_alignment)
 *	{
 *		ck_assert(...);
 *	}
 */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <check.h>
#include <sprof/error.h>

/* check's own write into a pipe whenever they pass: most of the time of a loop over bytes. */
#undef ck_assert
#undef ck_assert_msg
#define ck_assert(expr) ck_assert_msg(expr, "Assertion '%s' failed", #expr)
#define ck_assert_msg(expr, ...) ((expr) ? (void)0 : ck_abort_msg(__VA_ARGS__))

#define TEST(name)                                                            \
	static void name(int);                                                \
	static const TTest name##_test = {#name, name, __FILE__, __LINE__};   \
	__attribute__((used, section("sp_tests")))                            \
	static const TTest *const name##_entry = &name##_test;                \
	static void name(int _i __attribute__((unused)))

void test_note_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the case, which counts as skipped for that reason. In TEST() alone, not in its helpers. */
#define skip_test(...)                                                        \
	do {                                                                  \
		test_note_skip(__VA_ARGS__);                                  \
		return;                                                       \
	} while (0)

/* Fails the case with the error's own message. */
#define ok_or_fail(call)                                                      \
	do {                                                                  \
		struct sp_error *error_ = (call);                             \
		ck_assert_msg(!error_, "%s: %s", #call,                       \
			      error_ ? sp_error_message(error_) : "");        \
	} while (0)

/* The call must fail with that code. */
#define fails_with(code, call)                                                \
	do {                                                                  \
		struct sp_error *error_ = (call);                             \
		ck_assert_msg(error_ != NULL, "%s did not fail", #call);      \
		ck_assert_msg(sp_error_code(error_) == (code), "%s: %s", #call, \
			      sp_error_message(error_));                      \
		sp_error_free(error_);                                        \
	} while (0)

#endif
