# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/unwind/arch.c lib/unwind/arch.h \
	lib/unwind/cfi_row.c lib/unwind/cfi_row.h \
	lib/unwind/code.c lib/unwind/code.h \
	lib/unwind/code_cache.c lib/unwind/code_cache.h \
	lib/unwind/engine.h \
	lib/unwind/engine_cfi.c \
	lib/unwind/frame_search.c lib/unwind/frame_search.h \
	lib/unwind/expression.c lib/unwind/expression.h \
	lib/unwind/go_callers.c lib/unwind/go_callers.h \
	lib/unwind/go_row.c lib/unwind/go_row.h \
	lib/unwind/heuristics.c lib/unwind/heuristics.h \
	lib/unwind/stack_memory.c lib/unwind/stack_memory.h \
	lib/unwind/repair.c lib/unwind/repair.h lib/unwind/repair_internal.h \
	lib/unwind/repair_log.c \
	lib/unwind/repair_complete.c \
	lib/unwind/repair_visits.c lib/unwind/repair_visits.h \
	lib/unwind/row.c lib/unwind/row.h \
	lib/unwind/unwind_rows.c lib/unwind/unwind_rows.h \
	lib/unwind/unwind.c lib/unwind/unwind.h
if HAVE_LIBUNWIND
lib_libsprof_core_la_SOURCES += lib/unwind/engine_libunwind.c
else
lib_libsprof_core_la_SOURCES += lib/unwind/engine_libunwind_none.c
endif
UNIT_TESTS += \
	tests/unit/test_cfi.c \
	tests/unit/test_expression.c \
	tests/unit/test_repair.c \
	tests/unit/test_unwind.c
EXTRA_DIST += tests/data/README tests/data/arm64
