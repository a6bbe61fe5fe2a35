#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Remedies in messages help: each is cut out of the message that a limit or a right causes, and
# applied; then the message is gone, and the recording has samples. Sysctls of perf are changed
# for this, and restored.
. "$top_srcdir/tests/tap.sh"
need_sampling
[ "$(id -u)" = 0 ] || skip_all "limits are set by root"
for tool in setpriv prlimit sysctl; do
	command -v $tool >/dev/null || skip_all "there is no $tool"
done
publish_programs
mkdir "$tmp/user"
chmod 777 "$tmp/user"
export HOME="$tmp/user" XDG_CACHE_HOME="$tmp/user/cache"
data=$tmp/user/x.data

settings="kernel.perf_event_paranoid kernel.kptr_restrict kernel.perf_event_mlock_kb"
for setting in $settings; do
	echo "$setting=$(sysctl -n $setting)"
done >"$tmp/before"
restore() {
	while read -r setting; do
		sysctl -qw "$setting"
	done <"$tmp/before"
	# Options of tracefs are the file system's, for all its mounts.
	[ ! -s "$tmp/traced" ] || unshare -m sh -c 'mount -t tracefs tracefs "$1" &&
		mount -o "remount,$(cat "$2")" "$1"' sh "$tmp/user" "$tmp/traced"
}
trap 'restore 2>/dev/null; rm -rf "$tmp"' EXIT

# user [CAPABILITY]: prints a command that makes its arguments run without rights.
user() {
	echo "setpriv --reuid 65534 --regid 65534 --clear-groups ${1:+--inh-caps +$1 --ambient-caps +$1}"
}

# try SETUP REMEDY COMMAND: runs the command in a shell with that setup, applies the remedy that
# the sed script REMEDY prints of its messages, and runs it again. Messages are in $tmp/first and
# $tmp/second, the remedy in $tmp/remedy. The shell is root's: sudo is for the user's.
try() {
	rm -f "$data"
	unshare -m sh -c '
		sudo() { "$@"; }
		eval "$1"
		eval "$3" >"$4/first" 2>&1
		sed -n "$2" "$4/first" | head -n 1 >"$4/remedy"
		eval "$(cat "$4/remedy")" >"$4/applied" 2>&1
		eval "$3" >"$4/second" 2>&1' sh "$1" "$2" "$3" "$tmp"
}

# helps NAME PATTERN SETUP REMEDY COMMAND: the message has the pattern, and its remedy helps.
helps() {
	try "$3" "$4" "$5"
	if ! grep -q -- "$2" "$tmp/first"; then
		not_ok "$1: the message" "$(cat "$tmp/first")"
	elif ! [ -s "$tmp/remedy" ]; then
		not_ok "$1: the message has a remedy" "$(cat "$tmp/first")"
	elif grep -q -- "$2" "$tmp/second"; then
		not_ok "$1: $(cat "$tmp/remedy")" "$(cat "$tmp/applied" "$tmp/second")"
	elif ! "$SPROF" info -i "$data" --format json 2>&1 | grep -q '"samples": *[1-9]'; then
		not_ok "$1: samples after: $(cat "$tmp/remedy")" "$(cat "$tmp/second")"
	else
		ok "$1: $(cat "$tmp/remedy")"
	fi
	restore
}

record="$SPROF record -e cpu-clock -F 499 -o $data --no-names"
busy="-- dd if=/dev/zero of=/dev/null bs=1M count=4000"

# -- Rights -------------------------------------------------------------------
if sysctl -qw kernel.perf_event_paranoid=2 kernel.kptr_restrict=0 2>"$tmp/err"; then
	sysctls='s/.*\(sudo sysctl\( kernel\.[a-z_]*=[0-9]*\)*\).*/\1/p'
	for kptr in 0 1 2; do
		helps "cap_perfmon, paranoid 2, kptr_restrict $kptr" 'kernel addresses' \
			"sysctl -qw kernel.perf_event_paranoid=2 kernel.kptr_restrict=$kptr" \
			"$sysctls" "$(user cap_38) $record $busy"
	done
	for paranoid in 2 3 4; do
		helps "a user at paranoid $paranoid" perf_event_paranoid \
			"sysctl -qw kernel.perf_event_paranoid=$paranoid kernel.kptr_restrict=0" \
			"$sysctls" "$(user) $record $busy"
	done
	# The report names what hid addresses from the recorder, and from itself.
	for kptr in 0 1; do
		helps "a report of hidden addresses, kptr_restrict $kptr" 'kernel addresses were hidden' \
			"sysctl -qw kernel.perf_event_paranoid=2 kernel.kptr_restrict=$kptr" "$sysctls" \
			"$(user cap_38) $record -q $busy; $SPROF report -i $data | tr -s '\n ' '  '"
		helps "a report by a user, kptr_restrict $kptr" 'kernel addresses are hidden' \
			"sysctl -qw kernel.perf_event_paranoid=2 kernel.kptr_restrict=$kptr" "$sysctls" \
			"$record -q $busy; chmod 644 $data
			$(user) $SPROF report -i $data | tr -s '\n ' '  '"
	done
	helps "ring buffers of a user" 'perf_event_mlock_kb is' \
		"ulimit -l 0; sysctl -qw kernel.perf_event_mlock_kb=516" "$sysctls" \
		"$(user) $record -m 4M -- $workload/proportions 0.3"
else
	skip "rights" "sysctls cannot be changed: $(cat "$tmp/err")"
fi

# -- Tracepoints and probes, of users ------------------------------------------
traced() {
	unshare -m sh -c 'mount -t tracefs tracefs "$1" && stat -c "mode=%a,gid=%g" "$1"' sh \
		"$tmp/user" >"$tmp/traced" 2>"$tmp/err"
}
user_id="id() { echo 65534; }"
if [ -d /sys/kernel/tracing ] && sysctl -qw kernel.perf_event_paranoid=2 2>"$tmp/err" &&
	traced; then
	for mode in 700 755; do
		# The test's shell is in a mount namespace of its own.
		helps "wake-ups of a user, tracefs of mode $mode" \
			'perf_event_paranoid\|may not be read' \
			"$user_id; sysctl -qw kernel.perf_event_paranoid=2 kernel.kptr_restrict=0
			mountpoint -q /sys/kernel/tracing ||
				mount -t tracefs tracefs /sys/kernel/tracing || exit
			mount -o remount,mode=$mode,gid=0 /sys/kernel/tracing" \
			's/.*\(sudo mount .*\)/\1/p' \
			"$(user) $SPROF record --wakers -F 499 -o $data --no-names $busy"
	done
	libc=$(ldd "$(command -v dd)" | sed -n 's/.*=> \(.*libc\.so[^ ]*\).*/\1/p')
	for paranoid in 2 -1; do
		sysctl -qw kernel.perf_event_paranoid=$paranoid
		$(user) "$SPROF" record -e "uprobe:$libc:malloc" -o "$data" true >"$tmp/first" 2>&1
		check "a probe of a user at paranoid $paranoid: only root may" sh -c '
			cat "$1"
			grep -q "probes need CAP_SYS_ADMIN" "$1" && grep -q "run as root" "$1" &&
				! grep -q "sudo sysctl" "$1"' sh "$tmp/first"
		restore
	done
	"$SPROF" record -q -e "uprobe:$libc:malloc" -o "$data" ls / >"$tmp/out" 2>"$tmp/second"
	check "and root's recording has samples" sh -c '
		cat "$3"; "$1" info -i "$2" --format json | grep -q "\"samples\": *[1-9]"' sh \
		"$SPROF" "$data" "$tmp/second"
else
	skip "tracepoints and probes of users" "no right to mount tracefs: $(cat "$tmp/err")"
fi

# -- Limits -------------------------------------------------------------------
# Hard limits can only be raised with CAP_SYS_RESOURCE.
resource=$((0x$(sed -n 's/^CapEff:\t//p' /proc/self/status) >> 24 & 1))
# Sanitizers reserve addresses.
if (ulimit -v 1000000 && "$SPROF" version) >"$tmp/out" 2>&1; then
	helps "addresses, soft limit" 'out of memory' "ulimit -Sv 60000" \
		's/.*remove this limit: //p' "$record --call-graph dwarf --off-cpu $busy"
	if [ $resource = 1 ]; then
		helps "addresses of root's recorder" 'out of memory' "ulimit -v 60000" \
			's/.*remove this limit: //p' "$record $busy"
		helps "addresses of a user's recorder" 'out of memory' "ulimit -v 60000" \
			's/.*remove this limit: //p' "$(user) $record $busy"
	else
		try "ulimit -v 60000" '' "$record $busy"
		check "without CAP_SYS_RESOURCE, no command is advised" \
			grep -q 'start this shell or container without it' "$tmp/first"
	fi
	helps "private memory" 'out of memory' "ulimit -Sd 4000" 's/.*remove this limit: //p' \
		"$record $busy"
	try "ulimit -v 60000" '' "$record -F max --call-graph dwarf --off-cpu $busy"
	check "without memory, no larger buffers are advised" sh -c '! grep -q -e "-m [0-9]" "$1"' sh \
		"$tmp/first"
else
	skip "memory" "this build needs too many addresses"
fi
if [ $resource = 1 ]; then
	helps "open files of a user" 'open files are needed' "ulimit -n 20" \
		's/.*\(sudo prlimit --pid $$ --nofile=[0-9:]*\).*/\1/p' "$(user) $record $busy"
else
	skip "open files of a user" "CAP_SYS_RESOURCE is missing"
fi
finish
