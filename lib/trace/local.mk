# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/trace/check.c lib/trace/container.c \
	lib/trace/container.h
if HAVE_LIBTRACEEVENT
lib_libsprof_core_la_SOURCES += lib/trace/trace.c
else
lib_libsprof_core_la_SOURCES += lib/trace/trace_none.c
endif
check_PROGRAMS += tests/unit/test_trace
