# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/profile/key.c
check_PROGRAMS += tests/unit/test_key
