#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Keys of sprof browse: the menu, the limit of rows and the dsos of callers; then each key that the
# help names, in each view.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99
. "$top_srcdir/tests/cli/browse.sh"

start 120 40 xterm-256color C.UTF-8 "$SPROF browse one.data"
wait_for "$ready"
rows() { screen | grep -c '%  \[\.\]'; }
all=$(rows)
keys L 1 5 Enter
wait_for '^filter: rows from 15%' && ok "L sets a limit" || not_ok "L sets a limit"
check "fewer rows are shown" test "$(rows)" -lt "$all"
prints_screen "the limit"
keys L x Enter
wait_for "'x' is not a percentage" && ok "no number" || not_ok "no number"
keys L 9 BSpace 0 Enter Home
wait_for "$ready"
check "0 shows all rows" test "$(rows)" = "$all"

keys Home Enter
wait_for '─ mix$' && ok "a caller in the row's dso has no dso" || not_ok "a caller has no dso"
keys V
wait_for '─ mix \[program\]$' && ok "V shows its dso" || not_ok "V shows its dso"
keys V Home C

keys m
wait_for '^hash of program' && ok "m is a menu of the function" || not_ok "m is a menu"
keys End Up Home Down m
wait_for "$ready" && ok "m closes it" || not_ok "m closes it"
keys m
wait_for '^hash of program'
# Move to the line of key d.
line=$(awk '/^  Enter, e/ { first = NR } /^  d  / { print NR - first }' now)
for _ in $(seq "$line"); do echo Down; done >downs
# shellcheck disable=SC2046
keys $(cat downs) Enter
wait_for '^filter: dso program' && ok "Enter runs a key of it" || not_ok "Enter runs a key of it"
keys z

# Each key, in each view. A view may be left by a key: it is opened anew for each.
pressed=0
for view in ${VIEWS-'' f b T a m w}; do
	for key in Up Down Left Right PPage NPage Home End Enter Escape BSpace Tab BTab Space \
		a b c d e g i k m n o p r s t u V x y z / L '+' - C D E F H M P T '[' ']' f w '?' h F1 1 2 9; do
		# Undoes filters, leaves texts that are edited, and returns to the table.
		keys -- Escape Escape Escape z z $view "$key" Escape
		pressed=$((pressed + 1))
		[ ! -s status ] || break 2
	done
done
keys Escape Escape Escape z z Home
wait_for "$ready" && [ ! -s status ] && ok "$pressed keys in views" ||
	not_ok "the last one: '$view' '$key'"
keys q
wait_end && ok "q" || not_ok "q" "$(cat now)"
check "status 0" test "$(cat status)" = 0
finish
