# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/file/damage.c lib/file/damage.h \
	lib/file/deflate.h \
	lib/file/file_format.h \
	lib/file/inflate.h \
	lib/file/file_mapping.c lib/file/file_mapping.h \
	lib/file/reader_damage.c lib/file/reader_damage.h \
	lib/file/reader_io.c lib/file/reader_io.h \
	lib/file/reader_struct.h \
	lib/file/tracing_data.c lib/file/tracing_data.h
if HAVE_ZSTD
UNIT_TESTS += tests/unit/test_packing.c
lib_libsprof_core_la_SOURCES += lib/file/inflate.c lib/file/deflate.c
else
lib_libsprof_core_la_SOURCES += lib/file/inflate_none.c lib/file/deflate_none.c
endif
UNIT_TESTS += \
	tests/unit/test_damage.c \
	tests/unit/test_file_mapping.c
