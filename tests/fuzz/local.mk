# SPDX-License-Identifier: GPL-2.0-or-later
# A fuzz target is a line in FUZZERS, one for its LDADD, and its seeds in
# corpus/NAME. `make check` runs seeds and some mutations of them; configured
# with --enable-fuzzing, `make fuzz [FUZZ_SECONDS=60]` runs libFuzzer on each.
FUZZERS += \
	tests/fuzz/fuzz_analysis \
	tests/fuzz/fuzz_btf \
	tests/fuzz/fuzz_cfi \
	tests/fuzz/fuzz_command \
	tests/fuzz/fuzz_demangle \
	tests/fuzz/fuzz_dwarf \
	tests/fuzz/fuzz_elf \
	tests/fuzz/fuzz_event \
	tests/fuzz/fuzz_features \
	tests/fuzz/fuzz_file \
	tests/fuzz/fuzz_instruction \
	tests/fuzz/fuzz_jitdump \
	tests/fuzz/fuzz_json \
	tests/fuzz/fuzz_kallsyms \
	tests/fuzz/fuzz_machine \
	tests/fuzz/fuzz_maps \
	tests/fuzz/fuzz_mounts \
	tests/fuzz/fuzz_pclntab \
	tests/fuzz/fuzz_perfmap \
	tests/fuzz/fuzz_python \
	tests/fuzz/fuzz_record \
	tests/fuzz/fuzz_recorded \
	tests/fuzz/fuzz_stat \
	tests/fuzz/fuzz_stored \
	tests/fuzz/fuzz_sysfs \
	tests/fuzz/fuzz_trace \
	tests/fuzz/fuzz_unwind
strict_json = tests/fuzz/rfc8259.c tests/fuzz/rfc8259.h
tests_fuzz_fuzz_analysis_SOURCES = \
	tests/fuzz/fuzz_analysis.c \
	tests/thread_lives.c tests/thread_lives.h
tests_fuzz_fuzz_analysis_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_btf_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_cfi_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_command_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
tests_fuzz_fuzz_command_SOURCES = tests/fuzz/fuzz_command.c $(strict_json)
tests_fuzz_fuzz_command_LDADD = src/libcommand.la $(fuzz_ldadd)
tests_fuzz_fuzz_demangle_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_dwarf_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_elf_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_event_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_features_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_file_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_instruction_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_jitdump_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_json_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c $(strict_json)
tests_fuzz_fuzz_json_LDADD = src/libcommand.la $(fuzz_ldadd)
tests_fuzz_fuzz_kallsyms_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_machine_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_maps_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_mounts_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_pclntab_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_perfmap_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_python_SOURCES = tests/fuzz/fuzz_python.c tests/unit/python_image.h
tests_fuzz_fuzz_python_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_record_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_recorded_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_stat_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_stored_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_sysfs_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_trace_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_unwind_LDADD = $(fuzz_ldadd)

EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzz.h
if FUZZING
noinst_PROGRAMS += $(FUZZERS)
fuzz_ldadd = lib/libsprof-core.la $(FUZZING_LDFLAGS)
else
PROGRAM_TESTS += $(FUZZERS)
check_LTLIBRARIES += tests/fuzz/libdriver.la
tests_fuzz_libdriver_la_SOURCES = tests/fuzz/driver.c
fuzz_ldadd = tests/fuzz/libdriver.la lib/libsprof-core.la
endif

# New inputs that reach new code are kept in the build folder; what crashes is
# left in crash-*.
FUZZ_SECONDS = 60
.PHONY: fuzz
fuzz: $(FUZZERS)
	@test -n '$(FUZZING_LDFLAGS)' || { echo "configure with --enable-fuzzing and CC=clang"; exit 1; }
	@for target in $(FUZZERS); do \
		name=$${target##*/fuzz_}; \
		mkdir -p fuzz-corpus/$$name; \
		echo "fuzz_$$name:"; \
		$$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 \
			-print_final_stats=1 -verbosity=0 \
			fuzz-corpus/$$name $(srcdir)/tests/fuzz/corpus/$$name || exit 1; \
	done
