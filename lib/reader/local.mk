# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/reader/clock.c \
	lib/reader/event_name.c \
	lib/reader/features.c \
	lib/reader/flatten.c \
	lib/reader/header.c \
	lib/reader/reader.c \
	lib/reader/recorded_names.c lib/reader/recorded_names.h \
	lib/reader/scan.c \
	lib/reader/source.c lib/reader/source.h \
	lib/reader/spool.c lib/reader/spool.h \
	lib/reader/topology.c \
	lib/reader/when.c
check_PROGRAMS += tests/unit/test_reader tests/unit/test_reader_layout
if HAVE_ZSTD
check_PROGRAMS += tests/unit/test_flatten
tests_unit_test_flatten_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(ZSTD_CFLAGS)
tests_unit_test_flatten_LDADD = $(LDADD) $(ZSTD_LIBS)
endif
