# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/trace/check.c \
	lib/trace/field.c lib/trace/field.h lib/trace/trace.h
if HAVE_LIBTRACEEVENT
lib_libsprof_core_la_SOURCES += lib/trace/format.c lib/trace/format.h lib/trace/lines.c \
	lib/trace/lines.h lib/trace/print.c lib/trace/trace.c lib/trace/validate.c lib/trace/validate.h \
	lib/trace/lexer.c lib/trace/lexer.h
UNIT_TESTS += tests/unit/test_trace_text.c
else
lib_libsprof_core_la_SOURCES += lib/trace/trace_none.c
endif
UNIT_TESTS += tests/unit/test_trace.c
