# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/symbol/demangle.c lib/symbol/demangle.h \
	lib/symbol/go_names.c lib/symbol/go_names.h \
	lib/symbol/jit_files.c lib/symbol/jit_files.h \
	lib/symbol/jitdump.c lib/symbol/jitdump.h \
	lib/symbol/kernel_tables.c lib/symbol/kernel_tables.h \
	lib/symbol/kept_names.c lib/symbol/kept_names.h \
	lib/symbol/process_perfmap.h \
	lib/symbol/ko.c lib/symbol/ko.h \
	lib/symbol/lines.c lib/symbol/lines.h \
	lib/symbol/module_names.c lib/symbol/module_names.h \
	lib/symbol/name_log.c lib/symbol/name_log.h \
	lib/symbol/namesake_keys.c lib/symbol/namesake_keys.h \
	lib/symbol/module_namesakes.c lib/symbol/module_namesakes.h \
	lib/symbol/perfmap.c lib/symbol/perfmap.h \
	lib/symbol/process_file.c lib/symbol/process_file.h \
	lib/symbol/fde_ranges.c lib/symbol/fde_ranges.h \
	lib/symbol/resolver.c lib/symbol/resolver.h \
	lib/symbol/source.h \
	lib/symbol/source_bpf.c \
	lib/symbol/source_elf.c \
	lib/symbol/source_jitdump.c \
	lib/symbol/source_kallsyms.c \
	lib/symbol/source_ko.c \
	lib/symbol/recorded.h \
	lib/symbol/source_perfmap.c \
	lib/symbol/source_python.c \
	lib/symbol/source_recorded.c \
	lib/symbol/source_stored.c lib/symbol/source_stored.h \
	lib/symbol/source_vmlinux.c \
	lib/symbol/address_cache.c lib/symbol/address_cache.h \
	lib/symbol/locked_resolver.c lib/symbol/locked_resolver.h \
	lib/symbol/line_places.c lib/symbol/line_places.h \
	lib/symbol/symbol_table.c lib/symbol/symbol_table.h
UNIT_TESTS += \
	tests/unit/test_address_cache.c \
	tests/unit/test_jit_files.c \
	tests/unit/test_jitdump.c \
	tests/unit/test_kept_names.c \
	tests/unit/test_lines.c \
	tests/unit/test_namesake_keys.c \
	tests/unit/test_perfmap.c \
	tests/unit/test_ranges.c \
	tests/unit/test_resolver.c \
	tests/unit/test_resolver_jit.c \
	tests/unit/test_resolver_kernel.c \
	tests/unit/test_resolver_names.c \
	tests/unit/test_resolver_perf.c \
	tests/unit/test_symbol_table.c
UNIT_TESTS += \
	tests/unit/test_identity.c \
	tests/unit/test_recorded.c
