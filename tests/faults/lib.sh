# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of faults share; sourced behind tests/tap.sh.
#
#	random BELOW      prints a number, 0 to BELOW - 1
#	number FILE KEY   a number of a JSON text: the first of that key
#	perfs             the perf commands to read with: $PERF, or perf if there is one

# From awk's generator, seeded once: $FAULTS_SEED repeats a run.
: "${FAULTS_SEED:=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}"
draws=0
random() {
	draws=$((draws + 1))
	random_number=$(awk -v seed="$((FAULTS_SEED + draws * 7919))" -v below="$1" \
		'BEGIN { srand(seed); rand(); print int(rand() * below) }')
}

number() {
	sed -n "s/.*\"$2\": *\\([0-9]*\\).*/\\1/p" "$1" | head -n 1
}

perfs() {
	for perfs_one in ${PERF:-perf}; do
		! command -v "$perfs_one" >/dev/null || echo "$perfs_one"
	done
}
