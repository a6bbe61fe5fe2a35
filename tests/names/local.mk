# SPDX-License-Identifier: GPL-2.0-or-later
# Names by sprof (bench/symbolize) and by other tools, in programs of many layouts: a few in
# `make check`, all in `make check-names` (minutes).
dist_check_SCRIPTS += tests/names/test_layouts.sh
EXTRA_DIST += tests/names/compare.py tests/names/layouts.py tests/names/program.py \
	tests/names/rules.py tests/names/tools.py

.PHONY: check-names
check-names: all
	NAMES_LAYOUTS=all $(MAKE) $(AM_MAKEFLAGS) check TESTS=tests/names/test_layouts.sh
