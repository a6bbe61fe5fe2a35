#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Counters read without a system call: where the kernel allows it (kernel.perf_user_access,
# cpu/rdpmc), and where it does not; the switch is moved on machines of the lab alone.
#
# Parallel: counts are compared, not times.
. "$top_srcdir/tests/tap.sh"
need_sampling
meter=$top_builddir/tests/live/test_meter
[ -n "${SPROF_VM-}" ] || skip_all "the machine's switch is not ours to move (make check-vm does)"
switch=/proc/sys/kernel/perf_user_access
[ -w $switch ] || switch=$(ls /sys/bus/event_source/devices/cpu/rdpmc 2>/dev/null)
[ -w "$switch" ] || skip_all "this machine has no counters that a program can read"
was=$(cat "$switch")

# judged NAME: every line of the meter's own tests, below one name.
judged() {
	"$meter" 2>"$tmp/err" | tee "$tmp/meter" | sed -u "s/^/# /"
	grep '^not ok' "$tmp/meter" >"$tmp/bad"
	check "$1: a meter's tests pass" sh -c 'cat "$1" "$3"; ! test -s "$1" && grep -q "^1\.\.[1-9]" "$2"' \
		sh "$tmp/bad" "$tmp/meter" "$tmp/err"
}

echo 1 >"$switch"
judged "allowed"
check "allowed: counters are read in user space" \
	grep -q '^ok .* counters are read in user space: [0-9]' "$tmp/meter"
if [ "$(uname -m)" = aarch64 ]; then
	check "allowed: so are those of a PMU by name, of 32 and of 64 bits" sh -c '
		grep -c "^ok .*\(inst_retired/u: 32 bits\|long/u: 64 bits\|r8:u: 32 bits\)" "$1" | grep -qx 3' \
		sh "$tmp/meter"
fi
echo 0 >"$switch"
judged "forbidden"
check "forbidden: system calls do" sh -c '
	grep -q "^ok .* instructions of a loop are counted: [0-9]" "$1" &&
	grep -q "^ok .* counters are read in user space # SKIP" "$1"' sh "$tmp/meter"
"$SPROF" list --limits >"$tmp/limits" 2>&1
check "forbidden: the limits tell of it, and what to do" sh -c '
	grep -A 2 "perf_user_access: 0\|rdpmc: 0" "$1" | grep -q "sysctl\|echo 1"' sh "$tmp/limits"
echo "$was" >"$switch"
finish
