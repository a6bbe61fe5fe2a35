/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of /proc/PID/task/TID/syscall: the kernel's forms, and nothing else. */
#include "capture/waits/syscall_text.h"

#include <string.h>
#include "test.h"

static enum blocked_state parse(const char *text, struct blocked *ret)
{
	return syscall_text_parse(text, strlen(text), ret);
}

TEST(a_system_call_has_number_sp_and_ip)
{
	struct blocked blocked;
	ck_assert_int_eq(parse("230 0x0 0x1 0x7ffd10 0x0 0x0 0xffffffffffffffff 0x7ffd00001000 "
			       "0x7f0000001234\n", &blocked), BLOCKED);
	ck_assert(blocked.in_syscall);
	ck_assert_uint_eq(blocked.number, 230);
	ck_assert_uint_eq(blocked.sp, 0x7ffd00001000);
	ck_assert_uint_eq(blocked.ip, 0x7f0000001234);
}

TEST(a_thread_may_be_blocked_outside_of_system_calls)
{
	struct blocked blocked;
	ck_assert_int_eq(parse("-1 0x7ffd00001000 0x55550000\n", &blocked), BLOCKED);
	ck_assert(!blocked.in_syscall);
	ck_assert_uint_eq(blocked.sp, 0x7ffd00001000);
	ck_assert_uint_eq(blocked.ip, 0x55550000);
}

TEST(a_thread_that_can_run_is_not_blocked)
{
	struct blocked blocked;
	ck_assert_int_eq(parse("running\n", &blocked), BLOCKED_RUNNABLE);
}

TEST(other_texts_are_refused)
{
	static const char *const texts[] = {
		"", "\n", "running", "running \n", "runnin\n", "-1 0x1\n", "-1 0x1 0x2", "-1 0x1 0x2 0x3\n",
		"-1 1 0x2\n", "- 0x1 0x2\n", "-1  0x1 0x2\n", "-1 0x11111111111111111 0x2\n",
		"1 0x0 0x0 0x0 0x0 0x0 0x0 0x1\n", "1 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2 0x3\n",
		"4294967296 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n", "0x1 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n",
		"1 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x\n", "1 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct blocked blocked = {.number = 77};
		ck_assert_msg(parse(texts[i], &blocked) == BLOCKED_INVALID, "%s", texts[i]);
		ck_assert_uint_eq(blocked.number, 77);
	}
}
