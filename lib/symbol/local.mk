# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/symbol/binary.c lib/symbol/binary.h \
	lib/symbol/demangle.h \
	lib/symbol/kernel.c lib/symbol/kernel.h \
	lib/symbol/resolver.c lib/symbol/resolver.h \
	lib/symbol/source.h \
	lib/symbol/source_elf.c \
	lib/symbol/source_kallsyms.c \
	lib/symbol/table.c lib/symbol/table.h
if HAVE_LIBIBERTY
lib_libsprof_core_la_SOURCES += lib/symbol/demangle.c
else
lib_libsprof_core_la_SOURCES += lib/symbol/demangle_none.c
endif
check_PROGRAMS += tests/unit/test_table tests/unit/test_resolver
