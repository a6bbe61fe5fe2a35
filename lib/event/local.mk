# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/event/address_filter.c lib/event/address_filter.h \
	lib/event/attr_options.c \
	lib/event/attr_fields.c lib/event/attr_fields.h \
	lib/event/attr_refusal.c lib/event/attr_refusal.h \
	lib/event/event_filter.c lib/event/event_filter.h \
	lib/event/breakpoint.c \
	lib/event/catalog.c \
	lib/event/fd_budget.c lib/event/fd_budget.h \
	lib/event/event_group.c lib/event/event_group.h \
	lib/event/kernel_calls.c lib/event/kernel_calls.h \
	lib/event/kind.h \
	lib/event/limits.c \
	lib/event/modifiers.c \
	lib/event/event_names.c lib/event/event_names.h \
	lib/event/open.c lib/event/open.h \
	lib/event/open_errors.c \
	lib/event/parse.c lib/event/parse.h \
	lib/event/parser.c lib/event/parser.h \
	lib/event/plan_event.c lib/event/planner.h \
	lib/event/pmu.c lib/event/pmu.h \
	lib/event/pmu_terms.c \
	lib/event/probe.c \
	lib/event/rights.c lib/event/rights.h \
	lib/event/set.c lib/event/set.h \
	lib/event/file_symbols.c lib/event/file_symbols.h \
	lib/event/terms.c \
	lib/event/tracepoint.c lib/event/vendor.h
if HAVE_LIBPFM
lib_libsprof_core_la_SOURCES += lib/event/vendor.c
else
lib_libsprof_core_la_SOURCES += lib/event/vendor_none.c
endif
UNIT_TESTS += \
	tests/unit/test_address_filter.c \
	tests/unit/test_event_fields.c \
	tests/unit/test_event_parse.c \
	tests/unit/test_pmu.c \
	tests/unit/test_event_plan.c \
	tests/unit/test_rights.c
PROGRAM_TESTS += tests/live/test_event_set tests/live/test_many_cpus
tests_live_test_event_set_LDADD = lib/libsprof-core.la
tests_live_test_many_cpus_LDADD = lib/libsprof-core.la
