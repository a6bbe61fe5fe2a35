# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of the command: . "$top_srcdir/tests/cli/lib.sh"
#
#	prints NAME COMMAND [ARG]... <<END     its output (and status 0) is what follows
#	fails NAME STATUS COMMAND [ARG]... <<END
#	                                       its messages and status are what follows
#	recording FILE <<END                   makes a recording of what follows
#	                                       (tests/cli/recording.c)
#	sprof_rows FILE.csv                    EVENT, COMM, DSO, SYMBOL, SAMPLES, SHARE of
#	                                       each row of sprof report --format csv,
#	                                       with tabs between
#	perf_rows FILE                         the same of perf report --stdio
. "$top_srcdir/tests/tap.sh"

# Nobody's settings, and no pager.
unset SPROF_PAGER PAGER NO_COLOR LESS
export XDG_CACHE_HOME="$tmp/cache" TERM=dumb COLUMNS=80

prints() {
	cli_name=$1
	shift
	cat >"$tmp/.wanted"
	"$@" >"$tmp/.got" 2>"$tmp/.err" </dev/null
	cli_status=$?
	[ $cli_status = 0 ] || echo "(status $cli_status)" >>"$tmp/.got"
	sed 's/^/(stderr) /' "$tmp/.err" >>"$tmp/.got"
	same "$cli_name" "$tmp/.wanted" "$tmp/.got"
}

fails() {
	cli_name=$1 cli_wanted=$2
	shift 2
	{
		cat
		echo "(status $cli_wanted)"
	} >"$tmp/.wanted"
	"$@" >"$tmp/.out" 2>"$tmp/.got" </dev/null
	echo "(status $?)" >>"$tmp/.got"
	same "$cli_name" "$tmp/.wanted" "$tmp/.got"
}

recording() {
	"$top_builddir/tests/cli/recording" "$1" || exit 99
}

sprof_rows() {
	awk '
		# The fields of a CSV line into f[1..n].
		function split_csv(line,    n, i, c, field, quoted) {
			n = 0
			field = ""
			quoted = 0
			for (i = 1; i <= length(line); i++) {
				c = substr(line, i, 1)
				if (quoted) {
					if (c != "\"")
						field = field c
					else if (substr(line, i + 1, 1) == "\"") {
						field = field c
						i++
					} else
						quoted = 0
				} else if (c == "\"")
					quoted = 1
				else if (c == ",") {
					f[++n] = field
					field = ""
				} else
					field = field c
			}
			f[++n] = field
			return n
		}
		{ n = split_csv($0) }
		NR == 1 {
			for (i = 1; i <= n; i++)
				column[f[i]] = i
			next
		}
		{
			event = "event" in column ? f[column["event"]] : "-"
			print event "\t" f[column["comm"]] "\t" f[column["dso"]] "\t" \
				f[column["symbol"]] "\t" f[column["self_samples"]] "\t" \
				f[column["self"]]
		}' "$1"
}

# Columns are where the dots below the titles are, the last one goes on; with -t TAB
# there are tabs.
perf_rows() {
	awk -F '\t' '
		/^# Samples: .* of event/ {
			event = $0
			sub(/^[^\047]*\047/, "", event)
			sub(/\047.*$/, "", event)
		}
		/^# Overhead/ {
			title = $0
			tabs = NF > 1
			numbers = title ~ /Samples/
		}
		/^# \.\.\.\./ {
			n = 0
			for (i = 3; i <= length($0); i++)
				if (substr($0, i, 1) == "." && substr($0, i - 1, 1) != ".")
					begin[++n] = i
				else if (substr($0, i, 1) != "." && substr($0, i - 1, 1) == ".")
					end[n] = i
			end[n] = 100000
		}
		/^#/ || !NF || !(n || tabs) { next }
		{
			k = numbers ? 2 : 1
			for (i = 1; i <= k + 3; i++) {
				cell[i] = tabs ? $i : substr($0, begin[i], end[i] - begin[i])
				gsub(/^ +| +$/, "", cell[i])
			}
			share = cell[1]
			sub(/%/, "", share)
			print event "\t" cell[k + 1] "\t" cell[k + 2] "\t" cell[k + 3] "\t" \
				(numbers ? cell[2] : "-") "\t" share / 100
		}' "$1"
}
