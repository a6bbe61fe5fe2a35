# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of the command: . "$top_srcdir/tests/cli/lib.sh"
#
#	prints NAME COMMAND [ARG]... <<END     its output (and status 0) is what follows
#	fails NAME STATUS COMMAND [ARG]... <<END
#	                                       its messages and status are what follows
#	recording FILE <<END                   makes a recording of what follows
#	                                       (tests/cli/recording.c)
. "$top_srcdir/tests/tap.sh"

# Default settings, and no pager.
unset SPROF_PAGER PAGER NO_COLOR LESS COLUMNS
export XDG_CACHE_HOME="$tmp/cache" TERM=dumb

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
