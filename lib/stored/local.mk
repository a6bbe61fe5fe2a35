# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/stored/chunks.c lib/stored/chunks.h \
	lib/stored/stored_files.c lib/stored/stored_files.h \
	lib/stored/stored_names.c lib/stored/stored_names.h \
	lib/stored/names_decode.c \
	lib/stored/names_encode.c \
	lib/stored/stored.c lib/stored/stored.h
UNIT_TESTS += tests/unit/test_stored.c
