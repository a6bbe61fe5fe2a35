# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/base/arena.c lib/base/arena.h \
	lib/base/bytes.h \
	lib/base/cleanup.h \
	lib/base/clock.h \
	lib/base/ctx.c lib/base/ctx.h \
	lib/base/cursor.c lib/base/cursor.h \
	lib/base/diagnosis.c lib/base/diagnosis.h \
	lib/base/disk_cache.c lib/base/disk_cache.h \
	lib/base/error.c lib/base/error.h \
	lib/base/format.c lib/base/format.h \
	lib/base/guarded_file.c lib/base/guarded_file.h \
	lib/base/hash.c lib/base/hash.h \
	lib/base/io.c lib/base/io.h \
	lib/base/leb128.h \
	lib/base/pages.c lib/base/pages.h \
	lib/base/parallel.c lib/base/parallel.h \
	lib/base/proxy.c lib/base/proxy.h \
	lib/base/regular_file.c lib/base/regular_file.h \
	lib/base/sized.c lib/base/sized.h \
	lib/base/strtab.c lib/base/strtab.h \
	lib/base/thread_priority.c lib/base/thread_priority.h \
	lib/base/ticks.h \
	lib/base/vec.c lib/base/vec.h \
	lib/base/wakeup.c lib/base/wakeup.h \
	lib/base/wide.h
UNIT_TESTS += \
	tests/unit/test_base.c \
	tests/unit/test_disk_cache.c \
	tests/unit/test_guarded_file.c \
	tests/unit/test_proxy.c \
	tests/unit/test_regular_file.c \
	tests/unit/test_wakeup.c
