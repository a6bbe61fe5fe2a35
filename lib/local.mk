# SPDX-License-Identifier: GPL-2.0-or-later
# One set of objects, three links: the convenience library (tests see its
# internals), the shared library (that plus the symbol map), and the command,
# which links the shared library alone.
noinst_LTLIBRARIES += lib/libsprof-core.la
lib_libsprof_core_la_SOURCES =
lib_libsprof_core_la_CFLAGS = $(AM_CFLAGS) $(ELFUTILS_CFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS) \
	$(LZMA_CFLAGS) $(LIBUNWIND_CFLAGS)
lib_libsprof_core_la_LIBADD = $(ELFUTILS_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS) $(LZMA_LIBS) \
	$(LIBIBERTY_LIBS) $(LIBUNWIND_LIBS) $(LIBPFM_LIBS) $(CAPSTONE_LIBS) $(PTHREAD_LIBS)

lib_LTLIBRARIES += lib/libsprof.la
lib_libsprof_la_SOURCES =
lib_libsprof_la_LIBADD = lib/libsprof-core.la
lib_libsprof_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 $(NO_UNDEFINED) \
	-Wl,--version-script=$(top_srcdir)/lib/libsprof.map
EXTRA_lib_libsprof_la_DEPENDENCIES = lib/libsprof.map

pkgconfig_DATA = lib/libsprof.pc
EXTRA_DIST += lib/LAYERS lib/libsprof.map

include lib/base/local.mk
include lib/proc/local.mk
include lib/elf/local.mk
include lib/go/local.mk
include lib/dwarf/local.mk
include lib/record/local.mk
include lib/event/local.mk
include lib/ring/local.mk
include lib/file/local.mk
include lib/walk/local.mk
include lib/reader/local.mk
include lib/writer/local.mk
include lib/info/local.mk
include lib/machine/local.mk
include lib/binary/local.mk
include lib/unwind/local.mk
include lib/unwinder/local.mk
include lib/stored/local.mk
include lib/python/local.mk
include lib/symbol/local.mk
include lib/capture/local.mk
include lib/count/local.mk
include lib/profile/local.mk
include lib/states/local.mk
include lib/stacks/local.mk
include lib/sideband/local.mk
include lib/frames/local.mk
include lib/times/local.mk
include lib/samples/local.mk
include lib/rows/local.mk
include lib/findings/local.mk
include lib/analysis/local.mk
include lib/annotation/local.mk
include lib/archive/local.mk
include lib/diff/local.mk
include lib/script/local.mk
include lib/symbolizer/local.mk
include lib/trace/local.mk
include lib/instruction/local.mk
