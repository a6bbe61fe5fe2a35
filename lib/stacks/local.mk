# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/stacks/chain.c lib/stacks/chain.h \
	lib/stacks/deferred.c lib/stacks/deferred.h \
	lib/stacks/dump_unwind.c lib/stacks/dump_unwind.h \
	lib/stacks/jit_frames.c lib/stacks/jit_frames.h \
	lib/stacks/stack_end.c lib/stacks/stack_end.h \
	lib/stacks/stacks.c lib/stacks/stacks.h
UNIT_TESTS += tests/unit/test_chain.c
