# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += src/sprof
src_sprof_CPPFLAGS = -include $(top_builddir)/config.h -I$(top_srcdir)/include -I$(top_srcdir)/src
src_sprof_LDADD = lib/libsprof.la
src_sprof_SOURCES = \
	src/command.h \
	src/diag.c src/diag.h \
	src/main.c

include src/cmd/local.mk
include src/out/local.mk
