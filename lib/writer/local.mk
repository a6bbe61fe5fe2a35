# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/writer/close.c \
	lib/writer/durable.c lib/writer/durable.h \
	lib/writer/features_write.c lib/writer/features_write.h \
	lib/writer/written_file.c lib/writer/written_file.h \
	lib/writer/packing.c \
	lib/writer/commit.c lib/writer/commit.h \
	lib/writer/preallocate.c \
	lib/writer/spans.c lib/writer/spans.h \
	lib/writer/start.c \
	lib/writer/writer.c lib/writer/writer.h lib/writer/writer_info.h \
	lib/writer/writer_struct.h
UNIT_TESTS += \
	tests/unit/test_writer.c \
	tests/unit/test_durable.c \
	tests/unit/test_written_file.c \
	tests/unit/test_written.c
