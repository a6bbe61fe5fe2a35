# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/binary/binary.c lib/binary/binary.h \
	lib/binary/held_maps.c lib/binary/held_maps.h \
	lib/binary/identity.c lib/binary/identity.h \
	lib/binary/vdso.c lib/binary/vdso.h
UNIT_TESTS += tests/unit/test_held_maps.c
