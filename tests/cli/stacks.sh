# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh by tests that compare stacks of recordings without symbols to perf's:
#
#	stacks_of_perf PERF FILE     by perf script; without stacks that have something unknown
#	stacks_of_sprof FILE         by sprof report; without those that lack the program's part

# Each sample's stack: the command and the dso of each call, innermost first.
stacks_of_perf() {
	"$1" script -i "$2" -F comm,ip,dso 2>/dev/null | awk '
		NF && !/^[ \t]/ { stack = $1; next }
		NF {
			sub(/^.*\(/, "")
			sub(/\)$/, "")
			sub(/^.*\//, "")
			stack = stack ";" $0
			next
		}
		stack != "" {
			if (stack !~ /unknown/)
				print stack
			stack = ""
		}' | sort
}

stacks_of_sprof() {
	"$SPROF" report --format folded -i "$1" | awk '
		/program.s part/ { next }
		{
			times = $NF
			sub(/ [0-9]*$/, "")
			n = split($0, call, ";")
			stack = call[1]
			for (i = n; i > 1; i--) {
				if (call[i] ~ /^\[(truncated|stack) /)
					continue
				sub(/^fn@0x[0-9a-f]* /, "", call[i])
				if (call[i] ~ /^\[kernel/)
					sub(/_\[k\]$/, "", call[i])
				else
					gsub(/^\[|\]$/, "", call[i])
				stack = stack ";" call[i]
			}
			while (times--)
				print stack
		}' | sort
}
