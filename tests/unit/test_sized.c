/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sized.h"
#include "capture/config/capture_options.h"
#include "test.h"

struct newer {
	struct sp_capture_output output;
	uint64_t more;
};

TEST(missing_groups_are_the_defaults)
{
	const struct sp_capture_options given = {.size = sizeof(given)};
	struct capture_options options;
	memset(&options, 0xff, sizeof(options));
	ok_or_fail(capture_options_copy(&options, &given));
	ck_assert_int_eq(options.chains.call_graph, SP_CALL_GRAPH_AUTO);
	ck_assert_int_eq(options.chains.unwind, SP_UNWIND_LIVE);
	ck_assert_int_eq(options.target.scope, SP_CAPTURE_SCOPE_AUTO);
	ck_assert_int_eq(options.target.inherit, SP_DEFAULT);
	ck_assert_int_eq(options.buffers.threads, SP_CAPTURE_THREADS_AUTO);
	ck_assert_uint_eq(options.sampling.freq_hz | options.buffers.ring_bytes, 0);
	ck_assert_ptr_null(options.output.path);
	ck_assert_uint_eq(options.output.size, sizeof(options.output));
}

TEST(groups_of_an_older_program_are_shorter)
{
	const struct sp_capture_output output = {.size = offsetof(struct sp_capture_output, sync),
						 .path = "file", .sync = true};
	const struct sp_capture_options given = {.size = sizeof(given), .output = &output};
	struct capture_options options;
	ok_or_fail(capture_options_copy(&options, &given));
	ck_assert_str_eq(options.output.path, "file");
	ck_assert(!options.output.sync);
}

TEST(members_of_newer_programs_must_be_zero)
{
	struct newer newer = {.output = {.size = sizeof(newer), .path = "file"}};
	const struct sp_capture_options given = {.size = sizeof(given), .output = &newer.output};
	struct capture_options options;
	ok_or_fail(capture_options_copy(&options, &given));
	ck_assert_str_eq(options.output.path, "file");
	newer.more = 1;
	fails_with(SP_ERROR_UNSUPPORTED, capture_options_copy(&options, &given));
}

TEST(a_missing_size_is_refused)
{
	const struct sp_capture_output output = {.path = "file"};
	const struct sp_capture_options given = {.size = sizeof(given), .output = &output}, none = {0};
	struct capture_options options;
	fails_with(SP_ERROR_INVALID, capture_options_copy(&options, &given));
	fails_with(SP_ERROR_INVALID, capture_options_copy(&options, &none));
}
