# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/ring_bank/drain_groups.c lib/capture/ring_bank/drain_groups.h \
	lib/capture/ring_bank/drain_threads.c lib/capture/ring_bank/drain_threads.h \
	lib/capture/ring_bank/fields.h \
	lib/capture/ring_bank/thread_priority.c lib/capture/ring_bank/thread_priority.h \
	lib/capture/ring_bank/rewrite.c lib/capture/ring_bank/rewrite.h \
	lib/capture/ring_bank/ring_bank.c lib/capture/ring_bank/ring_bank.h \
	lib/capture/ring_bank/wall_clock.c lib/capture/ring_bank/wall_clock.h
check_PROGRAMS += \
	tests/unit/test_drain_threads \
	tests/unit/test_fields \
	tests/unit/test_rewrite \
	tests/unit/test_ring_bank
tests_unit_test_drain_threads_SOURCES = tests/unit/test_drain_threads.c tests/unit/simulated_cpus.h tests/unit/rings.h
tests_unit_test_fields_SOURCES = tests/unit/test_fields.c tests/unit/rings.h
tests_unit_test_rewrite_SOURCES = tests/unit/test_rewrite.c tests/unit/rings.h
tests_unit_test_ring_bank_SOURCES = tests/unit/test_ring_bank.c tests/unit/rings.h
