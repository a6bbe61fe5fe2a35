# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/instruction/instruction_length.c
if HAVE_CAPSTONE
lib_libsprof_core_la_SOURCES += lib/instruction/capstone.c
else
lib_libsprof_core_la_SOURCES += lib/instruction/capstone_none.c
endif
UNIT_TESTS += tests/unit/test_instruction.c
