# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/reader/clock_setback.c lib/reader/clock_setback.h \
	lib/reader/event_name.c lib/reader/event_name.h \
	lib/reader/feature_payloads.c lib/reader/feature_payloads.h \
	lib/reader/features.c \
	lib/reader/flatten.c \
	lib/reader/header.c lib/reader/header.h \
	lib/reader/pmus.c lib/reader/pmus.h \
	lib/reader/reader.c \
	lib/reader/recording_source.c lib/reader/recording_source.h \
	lib/reader/temp_file.c lib/reader/temp_file.h \
	lib/reader/damage_time.c
UNIT_TESTS += \
	tests/unit/test_pmus.c \
	tests/unit/test_reader.c \
	tests/unit/test_reader_layout.c
if HAVE_ZSTD
UNIT_TESTS += tests/unit/test_flatten.c
endif
