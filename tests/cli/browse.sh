# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for tests of the browser in a terminal of tmux, and their recording one.data. Source it
# after tests/cli/lib.sh, in $tmp.
command -v tmux >/dev/null || skip_all "needs tmux"
command -v nm >/dev/null && command -v gcc >/dev/null || skip_all "needs gcc and nm"
"$SPROF" browse nothing.data 2>&1 </dev/null | grep -q 'built without' && skip_all "built without ncurses"

cat >program.c <<'END'
int hash(int n) { volatile int x = n; return x + n; }
int mix(int n) { volatile int x = n; return x + hash(n); }
int parse(int n) { volatile int x = n; return x + mix(n); }
int draw(int n) { volatile int x = n; return x + mix(n); }
int a_function_with_a_name_that_no_narrow_terminal_can_show(int n) { volatile int x = n; return x; }
int main(void) { return parse(1) + draw(2); }
END
gcc -g -O0 -no-pie -o program program.c || skip_all "gcc does not link"
cp program library.so
map=$(LC_ALL=C readelf -lW program | awk '$1 == "LOAD" && / R E / { print $3, $6, $2; exit }')
at() { # FUNCTION
	printf '0x%x' $((0x$(nm program | awk -v name="$1" '$3 == name { print $1 }') + 4))
}
hash=$(at hash) mix=$(at mix) parse=$(at parse) draw=$(at draw) main=$(at main)
long=$(at a_function_with_a_name_that_no_narrow_terminal_can_show)
# The same code at another address is the library's.
in_library() { printf '0x%x' $(($1 + 0x10000000)); }
start=${map%% *} rest=${map#* }
recording one.data <<END
event cpu-clock chain
event page-faults chain
arch x86_64
cmdline sprof record ./program
comm 7 7 program
comm 7 8 w\\x1b[31mrk\\xff
mmap 7 $map $tmp/program
mmap 7 $(in_library "$start") $rest $tmp/library.so
$(for i in $(seq 400); do
	ns=$((5000000000 + i * 1000000)) tid=$((7 + i % 5 / 4))
	case $((i % 10)) in
	0 | 1 | 2) chain="$hash $mix $parse $main" ;;
	3 | 4) chain="$hash $mix $draw $main" ;;
	5 | 6) chain="$mix $parse $main" ;;
	7) chain="$parse $main" ;;
	8) chain="$(in_library "$hash") $main" ;;
	9) chain="$long $main" ;;
	esac
	echo "sample 0 7 $tid 0 $ns 1000000 ${chain%% *} $chain"
done)
$(for i in 1 2 3 4 5 6; do
	echo "sample 1 7 7 0 $((5000000000 + i * 1000000)) 1 $draw $draw $main"
done)
END

socket=sprof-$$
terminal() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'terminal kill-server >/dev/null 2>&1; rm -rf "$tmp"' EXIT

# start COLUMNS ROWS TERM LOCALE COMMAND: in a new window; the state of the terminal is in before and after.
start() {
	terminal kill-session -t test >/dev/null 2>&1
	rm -f before after status
	# In TERM=linux, ncurses itself loses 10 bytes.
	leaks=
	[ "$3" != linux ] || leaks="ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
	cat >run.sh <<END
stty -a >before
env TERM=$3 LC_ALL=$4 $leaks $5
echo \$? >status
stty -a >after
sleep 1000
END
	LC_ALL=C.UTF-8 terminal -u new-session -d -s keep sleep 1000 >/dev/null 2>&1
	LC_ALL=C.UTF-8 terminal -u new-session -d -s test -x "$1" -y "$2" sh run.sh
}
screen() { terminal capture-pane -p -t test; }
keys() { terminal send-keys -t test "$@"; }

# wait_for PATTERN: until the screen has it; false after 20 seconds.
wait_for() {
	for _ in $(seq 200); do
		screen >now
		grep -qe "$1" now && return 0
		sleep 0.1
	done
	sed 's/^/# /' now
	return 1
}
# Until the browser has ended.
wait_end() {
	for _ in $(seq 200); do
		[ -s after ] && return 0
		sleep 0.1
	done
	return 1
}
ready='^q quit'

# Prints "PERCENT NAME" of each row of a screen, or of a text report: the first percentage, and the name
# after the level. Names that were cut are left out.
numbers() {
	sed -n 's/^[^0-9%]*\([0-9.]*%\).*\[[.k]\] \([^ …~]*\)\( .*\)*$/\1 \2/p' | grep -v '^.* $'
}
text() { # WORDS: of a command line
	eval "env TERM=dumb LC_ALL=C.UTF-8 \"\$SPROF\" ${1#sprof}" 2>/dev/null
}

# equals NAME COMMAND: passes if the rows on the screen are the first rows of the command's text. Part of
# the screen can be older than its last line: reads it again for 5 seconds.
equals() {
	text "$2 --percent-limit 0" | numbers | grep -vF a_function_with >wanted
	for _ in $(seq 50); do
		screen | numbers | grep -vF a_func >short
		head -n "$(wc -l <short)" wanted >first
		[ -s short ] || echo "no rows" >>first
		! cmp -s first short || break
		sleep 0.1
	done
	same "$1" first short
}

# prints_screen NAME: passes if the command that p prints has the numbers of the screen.
prints_screen() {
	keys p
	wait_for '^sprof report' || not_ok "$1: p"
	command=$(screen | sed -n 's/^\(sprof report.*\)/\1/p' | tail -n 1)
	comment "$1: $command"
	equals "$1: the command prints what is seen" "$command"
}
