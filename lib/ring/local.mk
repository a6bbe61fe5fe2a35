# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += lib/ring/aux.c lib/ring/aux.h
check_PROGRAMS += tests/unit/test_aux
lib_libsprof_core_la_SOURCES += lib/ring/ring.c lib/ring/ring.h
lib_libsprof_core_la_SOURCES += lib/ring/relay.c lib/ring/relay.h
check_PROGRAMS += tests/unit/test_ring
check_PROGRAMS += tests/unit/test_relay
tests_unit_test_relay_SOURCES = tests/unit/test_relay.c tests/unit/rings.h
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c tests/unit/rings.h
lib_libsprof_core_la_SOURCES += lib/ring/backward.c lib/ring/backward.h
check_PROGRAMS += tests/unit/test_backward
lib_libsprof_core_la_SOURCES += lib/ring/snapshot.c lib/ring/snapshot.h
check_PROGRAMS += tests/unit/test_snapshot
