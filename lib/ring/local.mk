# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/ring/aux.c lib/ring/aux.h
UNIT_TESTS += tests/unit/test_aux.c
lib_libsprof_core_la_SOURCES += lib/ring/ring.c lib/ring/ring.h
lib_libsprof_core_la_SOURCES += lib/ring/relay.c lib/ring/relay.h
UNIT_TESTS += tests/unit/test_ring.c
UNIT_TESTS += tests/unit/test_relay.c
lib_libsprof_core_la_SOURCES += lib/ring/backward.c lib/ring/backward.h
UNIT_TESTS += tests/unit/test_backward.c
lib_libsprof_core_la_SOURCES += lib/ring/snapshot.c lib/ring/snapshot.h
UNIT_TESTS += tests/unit/test_snapshot.c
