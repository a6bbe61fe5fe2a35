# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/ring_bank/drain_groups.c \
	lib/capture/ring_bank/drain_threads.c lib/capture/ring_bank/drain_threads.h \
	lib/capture/ring_bank/record_offsets.h \
	lib/capture/ring_bank/metadata_record.c lib/capture/ring_bank/metadata_record.h \
	lib/capture/ring_bank/rewrite.c lib/capture/ring_bank/rewrite.h \
	lib/capture/ring_bank/ring_bank.c lib/capture/ring_bank/ring_bank.h \
	lib/capture/ring_bank/wall_clock.c lib/capture/ring_bank/wall_clock.h
UNIT_TESTS += \
	tests/unit/test_drain_threads.c \
	tests/unit/test_record_offsets.c \
	tests/unit/test_metadata_record.c \
	tests/unit/test_rewrite.c \
	tests/unit/test_ring_bank.c
