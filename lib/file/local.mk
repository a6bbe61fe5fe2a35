# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/file/describe.c
lib_libsprof_core_la_SOURCES += \
	lib/file/chain.c lib/file/chain.h \
	lib/file/durable.c lib/file/durable.h \
	lib/file/features_write.c lib/file/features_write.h \
	lib/file/format.h \
	lib/file/losses.c lib/file/losses.h \
	lib/file/output.c lib/file/output.h \
	lib/file/packing.c lib/file/packing.h \
	lib/file/seal.c lib/file/seal.h \
	lib/file/space.c lib/file/space.h \
	lib/file/spans.c lib/file/spans.h \
	lib/file/start.c lib/file/start.h \
	lib/file/writer.c lib/file/writer.h
check_PROGRAMS += tests/unit/test_writer tests/unit/test_durable tests/unit/test_output_file
lib_libsprof_core_la_SOURCES += lib/file/reader.c lib/file/reader.h lib/file/reader_internal.h
lib_libsprof_core_la_SOURCES += lib/file/reader_header.c
lib_libsprof_core_la_SOURCES += lib/file/reader_features.c
lib_libsprof_core_la_SOURCES += lib/file/reader_topology.c
lib_libsprof_core_la_SOURCES += lib/file/event_name.c lib/file/recorded_names.c lib/file/recorded_names.h
lib_libsprof_core_la_SOURCES += lib/file/mapping.c lib/file/mapping.h
check_PROGRAMS += tests/unit/test_mapping
lib_libsprof_core_la_SOURCES += lib/file/walker.c lib/file/walker.h \
	lib/file/walker_internal.h lib/file/walker_sizes.c
check_PROGRAMS += tests/unit/test_written
EXTRA_DIST += tests/unit/recording.h
lib_libsprof_core_la_SOURCES += lib/file/reader_flatten.c
lib_libsprof_core_la_SOURCES += lib/file/reader_scan.c
lib_libsprof_core_la_SOURCES += lib/file/reader_when.c
lib_libsprof_core_la_SOURCES += lib/file/reader_clock.c
lib_libsprof_core_la_SOURCES += lib/file/reader_source.c lib/file/source.h
lib_libsprof_core_la_SOURCES += lib/file/spool.c lib/file/spool.h
lib_libsprof_core_la_SOURCES += lib/file/inflate.h lib/file/deflate.h
if HAVE_ZSTD
check_PROGRAMS += tests/unit/test_flatten tests/unit/test_packing
tests_unit_test_flatten_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(ZSTD_CFLAGS)
tests_unit_test_flatten_LDADD = $(LDADD) $(ZSTD_LIBS)
lib_libsprof_core_la_SOURCES += lib/file/inflate.c lib/file/deflate.c
else
lib_libsprof_core_la_SOURCES += lib/file/inflate_none.c lib/file/deflate_none.c
endif
check_PROGRAMS += tests/unit/test_reader
check_PROGRAMS += tests/unit/test_reader_layout
