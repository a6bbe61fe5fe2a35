# SPDX-License-Identifier: GPL-2.0-or-later
# Order of `make check`, by functions of GNU make. A test that waits for the lock (tests/run) takes a
# job and does nothing. Tests that hold it alone therefore alternate with tests that need no lock, the
# longest first, so that each pair takes about as long. Some short tests, which need no lock either, follow
# each pair: a job runs them while the other holds the lock. Tests that share the lock come last.
LONG_TESTS = $(addsuffix .sh, \
	$(addprefix tests/live/test_, record_attach record_fields stacks unwind truth record off_cpu_truth \
		stored_names stat losses storm wakers) \
	$(addprefix tests/cli/test_, examples sources report_modes export_modes html export names corpus) \
	tests/sim/test_sim tests/style/test_headers tests/style/test_rules)
scripts := $(filter %.sh, $(ALL_TESTS))
locked := $(filter tests/live/% tests/faults/% tests/cli/test_report_oracle.sh \
	tests/cli/test_report_inline.sh, $(scripts))
shared := $(patsubst $(srcdir)/%, %, \
	$(shell grep -l '^\# Parallel: .' $(addprefix $(srcdir)/, $(locked)) /dev/null))
long_first = $(foreach test, $(LONG_TESTS), $(filter $(test), $1)) $(filter-out $(LONG_TESTS), $1)
alone := $(call long_first, $(filter-out $(shared), $(locked)))
unlocked := $(call long_first, $(filter-out $(locked), $(scripts)))
short := $(shell echo $(filter-out %.sh, $(ALL_TESTS)) | xargs -n 4 | tr ' ' '|')
ORDERED_TESTS = $(subst |, , $(join $(addsuffix |, $(alone)), $(join $(addsuffix |, $(unlocked)), $(short)))) \
	$(shared)
TESTS = $(ORDERED_TESTS)
