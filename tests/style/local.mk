# SPDX-License-Identifier: GPL-2.0-or-later
# Rules of HACKING that a script can hold the sources to.
EXTRA_DIST += tests/style/ceilings tests/style/rules.sh tests/style/size.sh tests/style/tokens.awk
dist_check_SCRIPTS += \
	tests/style/test_abi.sh \
	tests/style/test_api.sh \
	tests/style/test_circles.sh tests/style/test_page.sh \
	tests/style/test_headers.sh \
	tests/style/test_layers.sh \
	tests/style/test_manuals.sh \
	tests/style/test_perf_event_open.sh \
	tests/style/test_rules.sh \
	tests/style/test_unit_main.sh \
	tests/style/test_words.sh
