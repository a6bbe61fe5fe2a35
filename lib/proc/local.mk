# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/proc/cgroup.c lib/proc/cgroup.h \
	lib/proc/kallsyms.c lib/proc/kallsyms.h \
	lib/proc/kernel_cache.c lib/proc/kernel_cache.h \
	lib/proc/maps.c lib/proc/maps.h \
	lib/proc/loaded_modules.c lib/proc/loaded_modules.h \
	lib/proc/process_tree.c lib/proc/process_tree.h \
	lib/proc/sysfs.c lib/proc/sysfs.h \
	lib/proc/proc_tasks.c lib/proc/proc_tasks.h \
	lib/proc/proc_text.h \
	lib/proc/tracefs.c lib/proc/tracefs.h \
	lib/proc/topology.c lib/proc/topology.h
UNIT_TESTS += \
	tests/unit/test_cgroup.c \
	tests/unit/test_kallsyms.c \
	tests/unit/test_kernel_cache.c \
	tests/unit/test_proc.c \
	tests/unit/test_topology.c
