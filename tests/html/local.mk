# SPDX-License-Identifier: GPL-2.0-or-later
dist_check_SCRIPTS += tests/html/test_model.sh
EXTRA_DIST += tests/html/test_model.js
VIEW_TESTS += tests/html/test_model.sh
