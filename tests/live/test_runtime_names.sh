#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --runtime-names: variables of a command, and the symbols that its runtime writes then.
#
# Parallel: names are compared, not times.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
unset PYTHONPERFSUPPORT DOTNET_PerfMapEnabled NODE_OPTIONS JAVA_TOOL_OPTIONS
node=$(command -v node) java=$(command -v java) javac=$(command -v javac)
variables='^\(NODE_OPTIONS\|JAVA_TOOL_OPTIONS\|PYTHONPERFSUPPORT\|DOTNET_PerfMapEnabled\)='
java_options='-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions'
java_options="$java_options -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit"
node_options='--perf-basic-prof --interpreted-frames-native-stack'

# setting VALUE PROGRAM [ARGUMENT]...: runs a program that reads VALUE in both settings.
setting() {
	echo "$1" >"$tmp/value"
	shift
	unshare -m sh -c 'for setting in symlinks hardlinks; do
			mount --bind "$0" /proc/sys/fs/protected_$setting || exit 99
		done
		exec "$@"' "$tmp/value" "$@"
}

# Root needs protection from links in /tmp.
if [ "$(id -u)" = 0 ] && setting 1 true 2>"$tmp/err"; then
	status "root is refused if links of others are followed in /tmp" 125 \
		setting 0 "$SPROF" record --runtime-names -o "$tmp/none" true
	says "the message has the remedy, as one command" \
		'sysctl fs.protected_symlinks=1 fs.protected_hardlinks=1 && '
	as="setting 1"
elif [ "$(id -u)" = 0 ] && grep -q 0 /proc/sys/fs/protected_symlinks; then
	skip_all "fs.protected_symlinks is 0, and there are no mount namespaces"
else
	skip "root is refused if links of others are followed in /tmp" \
		"only root with a mount namespace can change the setting"
	as=
fi

# record OPTION...: messages are in $tmp/err, the command's output in $tmp/out.
record() {
	# shellcheck disable=SC2086
	$as "$SPROF" record --no-summary -e cpu-clock -F 997 -o "$tmp/data" "$@" >"$tmp/out" 2>"$tmp/err"
}

JAVA_TOOL_OPTIONS=-Da=b NODE_OPTIONS= record --runtime-names env
grep "$variables" "$tmp/out" | sort >"$tmp/got"
sort >"$tmp/wanted" <<END
NODE_OPTIONS=$node_options
JAVA_TOOL_OPTIONS=-Da=b $java_options
PYTHONPERFSUPPORT=1
DOTNET_PerfMapEnabled=1
END
same "the command has the variables, after the user's options" "$tmp/wanted" "$tmp/got"
grep -c 'sprof: set NODE_OPTIONS, JAVA_TOOL_OPTIONS, PYTHONPERFSUPPORT, DOTNET_PerfMapEnabled$' \
	"$tmp/err" >"$tmp/got"
check "a message lists them" grep -qx 1 "$tmp/got"
record --runtime-names -v true
check "-v has their values" grep -q "sprof: set NODE_OPTIONS=$node_options\$" "$tmp/err"
record --runtime-names -q true
check "-q does not print them" sh -c '! grep -q "set NODE_OPTIONS" "$1"' - "$tmp/err"
record env
check "a command has none without the option" sh -c '! grep -q "$1" "$2"' - "$variables" "$tmp/out"

for target in "-p $$" "-a sleep 0" "-C 0 sleep 0" "-u 0 sleep 0" "-G / sleep 0"; do
	# shellcheck disable=SC2086
	status "refused with $target" 129 "$SPROF" record --runtime-names -o "$tmp/none" $target
done
says "the message has the remedy" 'jcmd PID Compiler.perfmap'

# named COMMAND...: prints the function that spin() has, after a run with maps that are removed.
named() {
	record --runtime-names "$@"
	"$SPROF" report -i "$tmp/data" --no-children -s dso,function >"$tmp/report" 2>&1
	rm -f "/tmp/perf-$(sed -n 's/^PID //p' "$tmp/out").map"
}

if [ "$node" ]; then
	cat >"$tmp/spin.js" <<-'END'
		function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 3; return s; }
		console.log("PID " + process.pid);
		for (let end = Date.now() + 700; Date.now() < end;) spin(100000);
	END
	named "$node" "$tmp/spin.js"
	grep '\[JIT\].* spin .*spin.js:1:14' "$tmp/report" >"$tmp/rows"
	check "Node.js: one row for all levels of a function" \
		sh -c 'test "$(wc -l <"$1")" = 1' - "$tmp/rows"
	# The command that the refusal prints, as root with links that are followed.
	if [ "$as" ]; then
		mkdir "$tmp/bin"
		printf '#!/bin/sh\nexec "%s" "$@"\n' "$SPROF" >"$tmp/bin/sprof"
		chmod 755 "$tmp/bin/sprof"
		NODE_OPTIONS=--no-warnings setting 0 "$SPROF" record --runtime-names \
			-o "$tmp/data" "$node" "$tmp/spin.js" 2>"$tmp/err"
		sed -n 's/.*other users: //p' "$tmp/err" >"$tmp/remedy"
		comment "$(cat "$tmp/remedy")"
		PATH="$tmp/bin:$PATH" sh "$tmp/remedy" >"$tmp/out" 2>"$tmp/err"
		"$SPROF" report -i "$tmp/data" --no-children -s dso,function >"$tmp/report" 2>&1
		rm -f "/tmp/perf-$(sed -n 's/^PID //p' "$tmp/out").map"
		check "Node.js as root: the command for this runtime alone gives names" \
			grep '\[JIT\].* spin .*spin.js:1:14' "$tmp/report"
		check "which has the user's options, too" \
			grep -q 'NODE_OPTIONS=--no-warnings --perf' "$tmp/remedy"
	else
		skip "Node.js as root" "only root with a mount namespace can change the setting"
	fi
	record sh -c 'echo "PID $$"; exec "$@"' - "$node" "$tmp/spin.js"
	"$SPROF" report -i "$tmp/data" --no-children -s dso,function >"$tmp/report" 2>&1
	check "Node.js without a map: one row" \
		sh -c 'grep "\[JIT\]  " "$1" | grep -c "\[Node.js JIT\]$" | grep -qx 1' - "$tmp/report"
	check "Node.js without a map: the remedy" \
		grep -q "set NODE_OPTIONS='--perf-basic-prof" "$tmp/report"
	check "Node.js without a map: no row has an address" \
		sh -c '! grep -q "\[JIT\].* 0x" "$1"' - "$tmp/report"
else
	skip "Node.js" "there is no node"
fi

if [ "$javac" ] && "$java" -version 2>&1 | grep -q 'version "\(1[7-9]\|[2-9][0-9]\)'; then
	cat >"$tmp/Spin.java" <<-'END'
		public class Spin {
			static double spin(int n) {
				double s = 0;
				for (int i = 0; i < n; i++)
					s += Math.sqrt(i) % 3;
				return s;
			}
			public static void main(String[] args) {
				System.out.println("PID " + ProcessHandle.current().pid());
				for (long end = System.nanoTime() + 1000000000L; System.nanoTime() < end;)
					spin(100000);
			}
		}
	END
	"$javac" -d "$tmp" "$tmp/Spin.java" && named "$java" -cp "$tmp" Spin
	grep '\[JIT\].* double Spin.spin(int)$' "$tmp/report" >"$tmp/rows"
	check "Java: one row for all versions of a method" \
		sh -c 'test "$(wc -l <"$1")" = 1' - "$tmp/rows"
else
	skip "Java" "there is no Java 17 or later, or no javac"
fi
finish
