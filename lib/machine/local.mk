# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/machine/command_lines.c lib/machine/command_lines.h \
	lib/machine/ip_maps.c lib/machine/ip_maps.h \
	lib/machine/live.c lib/machine/live.h \
	lib/machine/machine.c lib/machine/machine.h \
	lib/machine/mapping.c lib/machine/mapping.h \
	lib/machine/module.h \
	lib/machine/modules.c lib/machine/modules.h \
	lib/machine/pools.c lib/machine/pools.h \
	lib/machine/process.c lib/machine/process.h
UNIT_TESTS += \
	tests/unit/test_live.c \
	tests/unit/test_pools.c \
	tests/unit/test_machine.c \
	tests/unit/test_machine_mapping.c
