# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/states/sched_samples.c lib/states/sched_samples.h \
	lib/states/seen_threads.c lib/states/seen_threads.h \
	lib/states/task_cpu_time.c lib/states/task_cpu_time.h \
	lib/states/task_events.c lib/states/task_events.h \
	lib/states/task_gaps.c lib/states/task_gaps.h \
	lib/states/task_lifetimes.c lib/states/task_lifetimes.h \
	lib/states/task_lives.c lib/states/task_lives.h \
	lib/states/task_states.c lib/states/task_states.h
UNIT_TESTS += tests/unit/test_task_states.c
