# SPDX-License-Identifier: GPL-2.0-or-later
dist_check_SCRIPTS += \
	tests/live/test_perf_reads.sh \
	tests/live/test_record.sh \
	tests/live/test_record_attach.sh \
	tests/live/test_record_safety.sh \
	tests/live/test_truth.sh
