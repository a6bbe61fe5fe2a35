# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/trace/event_format.c lib/trace/event_format.h \
	lib/trace/kernel_names.c lib/trace/kernel_names.h \
	lib/trace/lexer.c lib/trace/lexer.h lib/trace/pieces.c lib/trace/print.c \
	lib/trace/trace_text.c lib/trace/trace_text.h \
	lib/trace/trace.c lib/trace/trace.h \
	lib/trace/value.c lib/trace/value.h
UNIT_TESTS += tests/unit/test_trace.c tests/unit/test_trace_text.c
if HAVE_LIBTRACEEVENT
UNIT_TESTS += tests/unit/test_trace_oracle.c
else
EXTRA_DIST += tests/unit/test_trace_oracle.c
endif
