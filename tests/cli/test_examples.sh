#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the examples of README, the HOWTOs and the manual pages: each command must succeed.
# Placeholders (./program, PID, HOST, ...) stand for made-up ones; durations are shortened.
. "$top_srcdir/tests/cli/lib.sh"
need_sampling
wide=$("$workload/probe" cpu 2>&1) && wide=

# Examples that cannot run everywhere: REASON, a tab, and a pattern of the command.
cannot() {
	cat <<'EOF'
needs the network	--debuginfod
needs a terminal	browse
needs that unit or control group	--unit |record -G
needs tracefs and root	(sched|oom|syscalls|block|probe|uprobe|kprobe):|--wakers|-s waker
needs a program with that variable	mem:\./
needs hardware counters	(-e|--event) *(cycles|instructions|branches)|:pp
needs a recording of such events	report .*(-b$|--mem-mode|--group|--branch)
needs FIFOs	fifo:
needs a program that calls it	--callers malloc
needs Linux 5.11	--data-page-size
needs a copy of another root	/path/to
needs that program and its runtime	(server|app|threads)\.(js|py)
needs a program that waits there	--focus (take_gil|pthread_cond_timedwait)
EOF
	[ -z "$wide" ] || printf 'needs the right to sample whole CPUs\trecord -a| -C |stat .*-a\n'
}

# PLACE, a tab, COMMAND of each example, without its explanation.
examples() {
	for page in "$top_srcdir"/README "$top_srcdir"/doc/HOWTO-*.md; do
		awk -v page="$(basename "$page")" '
			/^\t(\$ )?(ssh HOST )?sprof / {
				sub(/^\t(\$ )?/, "")
				sub(/   *.*/, "")
				print page ":" FNR "\t" $0
			}' "$page"
	done
	for page in "$top_srcdir"/doc/*.[17]; do
		awk -v page="$(basename "$page")" '
			/^\.(nf|EX)/ { shown = 1; next }
			/^\.(fi|EE)/ { shown = 0 }
			!shown { next }
			{
				gsub(/\\-/, "-")
				gsub(/\\(f.|&)/, "")
				gsub(/\\e/, "\\")
				gsub(/\\\(aq/, "\047")
			}
			command != "" || /^sprof / {
				if (command == "")
					place = page ":" FNR
				sub(/^[ \t]+/, command == "" ? "" : " ")
				if (/[|\\]$/) {
					sub(/\\$/, "")
					command = command $0
					next
				}
				sub(/(\t|  ).*/, "")
				print place "\t" command $0
				command = ""
			}' "$page"
	done
}

# The example on standard input, to be run here.
adapted() {
	sed -E "s/\\<PID\\>|\\<1234\\>|\\<4711(,4712)?\\>/$pid/g
		s/--duration [0-9.]+/--duration 0.3/
		s|/var/tmp/||
		s/-C 0-3/-C 0/
		s/stat (-a|-p).*/& -- sleep 1/
		s/--repeat [0-9]+/--repeat 1 -o "$(mktemp -du)"/
		s/^(sprof diff .*) sprof.runs/\1 old.1.data new.1.data/
		/--duration| -- |\\.\\//!s/record (.*(-a|-p|-C) )/record --duration 0.3 \\1/"
}

stub() {
	cat >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

mkdir "$tmp/bin" "$tmp/work"
export workload
PATH=$tmp/bin:$PATH
echo "exec '$(realpath "$SPROF")' \"\$@\"" | stub sprof
echo 'shift; eval "$@"' | stub ssh
echo 'exec /bin/sleep 0.3' | stub sleep
echo 'exec cat' | stub flamegraph.pl
echo : | stub xdg-open
command -v jq >/dev/null || echo 'exec cat' | stub jq
for program in make gcc; do
	echo 'exec "$workload/proportions" 0.2' | stub $program
done
cd "$tmp/work" || exit 99
for program in program old new server load-it load-generator script.sh; do
	printf '#!/bin/sh\nexec "$workload/proportions" 0.2\n' >$program
	chmod +x $program
done
cp "$(realpath "$workload/proportions")" .
./proportions 600 >/dev/null &
pid=$!
trap 'kill $pid; rm -rf "$tmp"' EXIT
echo "echo $pid $pid" | stub pidof
check "a recording for the reports" sprof record ./proportions 0.7
for name in perf demo before after before.1 day.2026112114000012; do
	cp sprof.data $name.data
done
for name in old new; do
	for i in 1 2 3; do
		cp sprof.data $name.$i.data
	done
done
mv day.2026112114000012.data day.2026112114000012

check "a recording with waits" sprof record --off-cpu -o waits.data ./proportions 0.7

examples >"$tmp/examples"
check "there are examples" test "$(wc -l <"$tmp/examples")" -gt 50
cannot >"$tmp/cannot"
while IFS='	' read -r place command; do
	reason=
	while IFS='	' read -r why pattern; do
		! printf '%s\n' "$command" | grep -qE -- "$pattern" || reason=$why
	done <"$tmp/cannot"
	if [ -n "$reason" ]; then
		skip "$place: $command" "$reason"
		continue
	fi
	case "$place $command" in
	HOWTO-find-waits.md:* | *"--mode wall" | *"--mode off-cpu"*) cp waits.data sprof.data ;;
	*) cp perf.data sprof.data ;;
	esac
	check "$place: $command" timeout 60 sh -c "$(printf '%s\n' "$command" | adapted)" </dev/null
done <"$tmp/examples"
finish
