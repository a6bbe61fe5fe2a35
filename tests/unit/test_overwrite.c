/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/overwrite.h"
#include "capture/recorder.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)

/* With many CPUs, the first ring is older than the window when the last one has been copied. */
TEST(a_dump_keeps_the_window_of_its_beginning)
{
	struct event_plan plan = {.clock_id = CLOCK_MONOTONIC};
	struct sp_capture capture = {.config.plan = &plan, .overwrite = {.on = true, .window_ns = SECOND}};
	capture.tasks.parts.config = &capture.config;
	capture.tasks.parts.rewrite = &capture.bank.rewrite;
	struct live_state *live_state = &capture.out.rotation.live_state;
	uint64_t begin_ns = capture_record_time_ns(&capture);
	capture.overwrite.stack_dump_ns = begin_ns > 5 * SECOND ? begin_ns - 2 * SECOND : 3 * SECOND;
	ok_or_fail(capture_expire_overwrite(&capture));
	ck_assert_uint_eq(live_state->base_ns, capture.overwrite.stack_dump_ns - SECOND);
	/* After it, the window moves on. */
	capture.overwrite.stack_dump_ns = 0;
	ok_or_fail(capture_expire_overwrite(&capture));
	ck_assert_uint_ge(live_state->base_ns, begin_ns - SECOND);
	live_state_deinit(live_state);
}
