#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `sprof record` writes is read by perf, and by the newest perf and samply
# where SPROF_PEERS is a folder with them, without a word of complaint, and their
# tables are ours.
#
# Parallel: tables of the same file are compared.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/tables.sh"

reason=$("$workload/probe" 2>&1) || skip_all "$reason"
perf=$(command -v perf)
peers=${SPROF_PEERS:-/nonexistent}
[ -n "$perf" ] || [ -x "$peers/perf" ] || [ -x "$peers/samply" ] ||
	skip_all "needs perf, or SPROF_PEERS with perf or samply"

# Samples of each module, by samply's profile: those of the frames without a caller's.
samply_modules() {
	perl -MJSON::PP -e '
		local $/;
		my ($profile, %count) = decode_json(<STDIN>);
		for my $thread (@{$profile->{threads}}) {
			my ($samples, $stacks, $frames, $functions, $resources) = @$thread{qw(
				samples stackTable frameTable funcTable resourceTable)};
			for my $i (0 .. $samples->{length} - 1) {
				my $stack = $samples->{stack}[$i];
				my $name = "[unknown]";
				if (defined $stack) {
					my $resource = $functions->{resource}[
						$frames->{func}[$stacks->{frame}[$stack]]];
					$name = $profile->{libs}[$resources->{lib}[$resource]]{name}
						if $resource >= 0;
				}
				$count{$name} += $samples->{weight} ? $samples->{weight}[$i] : 1;
			}
		}
		print "$_\t$count{$_}\n" for sort keys %count' <"$1"
}

samply_reads() {
	if ! perl -MJSON::PP -e 1 2>/dev/null; then
		skip "samply reads $1" "needs perl's JSON::PP"
		return
	fi
	"$peers/samply" import "$data" -s -n -o "$tmp/samply.json" >"$tmp/samply.out" 2>&1
	grep -vE '^(cmd line:|event )' "$tmp/samply.out" >"$tmp/complaints"
	same "samply reads $1 without complaint" /dev/null "$tmp/complaints"
	samply_modules "$tmp/samply.json" >"$tmp/wanted"
	"$SPROF" report -q --no-children -s dso --format csv -i "$data" |
		awk -F , '
			NR == 2 { first = $13 } # samply takes the first event for samples
			NR > 1 && $13 == first { print $11 "\t" $4 }' | sort >"$tmp/got"
	same "samply counts the samples of $1 as sprof does" "$tmp/wanted" "$tmp/got"
}

# perf finds kcore in the folder of kallsyms, where modules are one with the kernel: its copy has
# none.
perf_options=
cp /proc/kallsyms "$tmp/kallsyms" 2>/dev/null && perf_options="--kallsyms=$tmp/kallsyms"

perf_reads() {
	"$2" report -i "$data" --stdio >/dev/null 2>"$tmp/complaints"
	unsurprising "$data" "$tmp/complaints"
	same "$("$2" --version) reads $1 without complaint" /dev/null "$tmp/complaints"
	compares "$("$2" --version) has the same table of $1" "$2" "$data"
}

# reads NAME OPTION... COMMAND
reads() {
	what=$1 data=$tmp/live.data
	shift
	if ! "$SPROF" record -q -o "$data" "$@" >/dev/null 2>"$tmp/record.err"; then
		not_ok "sprof records $what" "$(cat "$tmp/record.err")"
		return
	fi
	[ -z "$perf" ] || perf_reads "$what" "$perf"
	[ ! -x "$peers/perf" ] || perf_reads "$what" "$peers/perf"
	[ ! -x "$peers/samply" ] || samply_reads "$what"
}

reads "one process" -- "$workload/proportions" 0.5
reads "unwound stacks" --call-graph dwarf -- "$workload/deep" 20 0.5 50
reads "processes that exec" -g -- "$workload/forks" 20 20 exec
if "$workload/probe" cpu >/dev/null 2>&1; then
	reads "the whole machine" -a -- "$workload/forks" 10 20 exec
else
	skip "the whole machine" "not allowed here"
fi
# Checks that do not depend on the kernel are skipped on an emulated machine, which takes 20 s for
# each.
[ -z "${SPROF_VM-}" ] || finish
reads "call chains" -g -- "$workload/deep" 100 0.5 50
reads "copies of stacks" --call-graph dwarf --unwind later -- "$workload/deep" 20 0.5 50
reads "compressed copies of stacks" -z --call-graph dwarf --unwind later -- "$workload/deep" 20 0.5 50
reads "compressed call chains" -z9 -g -- "$workload/deep" 100 0.5 50
reads "threads that come and go" -- "$workload/threads" 4 0.5 20
reads "tasks, not CPUs" --scope task -- "$workload/forks" 20 20 exec
reads "user space alone" --all-user -- "$workload/proportions" 0.3
reads "two events" -e cpu-clock,page-faults -- "$workload/proportions" 0.3
finish
