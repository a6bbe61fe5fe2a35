# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/times/epochs.c lib/times/epochs.h \
	lib/times/leaf_times.c lib/times/leaf_times.h \
	lib/times/runners.c lib/times/runners.h \
	lib/times/slices.c lib/times/slices.h \
	lib/times/strata.c lib/times/strata.h \
	lib/times/times.c lib/times/times.h \
	lib/times/thread_samples.c \
	lib/times/wait_times.c lib/times/wait_times.h \
	lib/times/weigh_cpu.c lib/times/weigh_latency.c \
	lib/times/weigh_threads.c lib/times/weigh_wakers.c \
	lib/times/wait_reason.c lib/times/wait_reason.h
UNIT_TESTS += \
	tests/unit/test_epochs.c \
	tests/unit/test_times.c \
	tests/unit/test_wait_reason.c
