# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/script/script_internal.h lib/script/script.c lib/script/teller.c
lib_libsprof_core_la_SOURCES += lib/script/order.c lib/script/order.h
lib_libsprof_core_la_SOURCES += lib/script/places.c lib/script/places.h
UNIT_TESTS += tests/unit/test_order.c
