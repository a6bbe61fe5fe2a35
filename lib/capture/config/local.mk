# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/config/call_graph.c lib/capture/config/call_graph.h \
	lib/capture/config/command_path.c lib/capture/config/command_path.h \
	lib/capture/config/config.c lib/capture/config/config.h \
	lib/capture/config/events.c \
	lib/capture/config/config_internal.h \
	lib/capture/config/find_python.c \
	lib/capture/config/off_cpu.c lib/capture/config/off_cpu.h \
	lib/capture/config/capture_options.h \
	lib/capture/config/plan_facts.c lib/capture/config/plan_facts.h \
	lib/capture/config/request.c \
	lib/capture/config/ring_size.c lib/capture/config/ring_size.h \
	lib/capture/config/stack_copies.c lib/capture/config/stack_copies.h \
	lib/capture/config/survey.c lib/capture/config/survey.h \
	lib/capture/config/target.c
UNIT_TESTS += \
	tests/unit/test_call_graph.c \
	tests/unit/test_config.c \
	tests/unit/test_ring_size.c \
	tests/unit/test_sized.c \
	tests/unit/test_stack_copies.c \
	tests/unit/test_survey.c
