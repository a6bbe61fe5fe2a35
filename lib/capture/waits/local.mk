# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/waits/syscall_text.c lib/capture/waits/syscall_text.h \
	lib/capture/waits/match.c lib/capture/waits/match.h \
	lib/capture/waits/matcher.c lib/capture/waits/matcher.h \
	lib/capture/waits/wait_output.c lib/capture/waits/wait_output.h \
	lib/capture/waits/snapshots.c lib/capture/waits/snapshots.h \
	lib/capture/waits/waits_internal.h \
	lib/capture/waits/thread_reader.c lib/capture/waits/thread_reader.h \
	lib/capture/waits/threads.c lib/capture/waits/threads.h \
	lib/capture/waits/wakeups.c lib/capture/waits/wakeups.h \
	lib/capture/waits/waits.c lib/capture/waits/waits.h
UNIT_TESTS += \
	tests/unit/test_syscall_text.c \
	tests/unit/test_matcher.c \
	tests/unit/test_snapshots.c \
	tests/unit/test_wait_weights.c \
	tests/unit/test_wakeups.c
