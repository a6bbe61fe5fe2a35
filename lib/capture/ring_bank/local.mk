# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/ring_bank/drain_groups.c lib/capture/ring_bank/drain_groups.h \
	lib/capture/ring_bank/drains.c lib/capture/ring_bank/drains.h \
	lib/capture/ring_bank/fields.h \
	lib/capture/ring_bank/hurry.c lib/capture/ring_bank/hurry.h \
	lib/capture/ring_bank/retouch.c lib/capture/ring_bank/retouch.h \
	lib/capture/ring_bank/ring_bank.c lib/capture/ring_bank/ring_bank.h \
	lib/capture/ring_bank/wall_clock.c lib/capture/ring_bank/wall_clock.h
check_PROGRAMS += \
	tests/unit/test_drains \
	tests/unit/test_retouch \
	tests/unit/test_ring_bank
tests_unit_test_drains_SOURCES = tests/unit/test_drains.c tests/unit/simulated_cpus.h tests/unit/rings.h
tests_unit_test_retouch_SOURCES = tests/unit/test_retouch.c tests/unit/rings.h
tests_unit_test_ring_bank_SOURCES = tests/unit/test_ring_bank.c tests/unit/rings.h
