# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/elf/call_frames.c lib/elf/call_frames.h \
	lib/elf/cfi.c lib/elf/cfi.h \
	lib/elf/code_map.c lib/elf/code_map.h \
	lib/elf/debugfile.c lib/elf/debugfile.h \
	lib/elf/debuginfod.h \
	lib/elf/extent.c lib/elf/extent.h \
	lib/elf/image.c lib/elf/image.h \
	lib/elf/plt.c lib/elf/plt.h \
	lib/elf/relocate.c lib/elf/relocate.h \
	lib/elf/symtab.c lib/elf/symtab.h \
	lib/elf/unpack.c lib/elf/unpack.h
if HAVE_DEBUGINFOD
lib_libsprof_core_la_SOURCES += lib/elf/debuginfod.c
else
lib_libsprof_core_la_SOURCES += lib/elf/debuginfod_none.c
endif
UNIT_TESTS += \
	tests/unit/test_code_map.c \
	tests/unit/test_plt.c \
	tests/unit/test_unpack.c
