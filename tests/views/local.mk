# SPDX-License-Identifier: GPL-2.0-or-later
# Views of one recording against each other: small recordings in `make check`, large ones in
# `make check-agreement` (minutes).
dist_check_SCRIPTS += tests/views/test_agreement.sh
EXTRA_DIST += tests/views/agree.py tests/views/formats.py tests/views/large_recordings.sh \
	tests/views/page.js tests/views/spoil.py
VIEW_TESTS += tests/views/test_agreement.sh

.PHONY: check-agreement
check-agreement: all
	AGREEMENT=all $(MAKE) $(AM_MAKEFLAGS) check TESTS=tests/views/test_agreement.sh
