# SPDX-License-Identifier: GPL-2.0-or-later
# All of the command but main.c is a convenience library, so that tests can link it;
# the command links that and the shared library alone.
command_cppflags = -include $(top_builddir)/config.h -I$(top_srcdir)/include -I$(top_srcdir)/src

noinst_LTLIBRARIES += src/libcommand.la
src_libcommand_la_CPPFLAGS = $(command_cppflags)
src_libcommand_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
src_libcommand_la_LIBADD = $(ZLIB_LIBS)
src_libcommand_la_SOURCES = \
	src/browser.c src/browser.h \
	src/buffer.c src/buffer.h \
	src/diag.c src/diag.h \
	src/disassembly.c src/disassembly.h \
	src/input.c src/input.h \
	src/json.c src/json.h \
	src/list.c src/list.h \
	src/memory.c src/memory.h \
	src/nearest.c src/nearest.h \
	src/options.c src/options.h \
	src/output_file.c src/output_file.h \
	src/pager.c src/pager.h \
	src/progress.c src/progress.h \
	src/recorded_options.c src/recorded_options.h \
	src/source_files.c src/source_files.h \
	src/term.c src/term.h \
	src/text.c src/text.h \
	src/users.c src/users.h

bin_PROGRAMS += src/sprof
src_sprof_CPPFLAGS = $(command_cppflags)
src_sprof_LDADD = src/libcommand.la lib/libsprof.la
src_sprof_LDFLAGS = $(AM_LDFLAGS) $(RPATH_LDFLAGS) $(PROGRAM_LDFLAGS)
src_sprof_SOURCES = \
	src/command.h \
	src/main.c

UNIT_TESTS += \
	tests/unit/test_nearest.c \
	tests/unit/test_options.c \
	tests/unit/test_output_file.c \
	tests/unit/test_progress.c \
	tests/unit/test_session.c \
	tests/unit/test_source_files.c \
	tests/unit/test_text.c

include src/cmd/local.mk
include src/out/local.mk
include src/export/local.mk
include src/html/local.mk
include src/tui/local.mk
