# SPDX-License-Identifier: GPL-2.0-or-later
# perf report -D, to the lines that tests/cli/decoded prints. -v shift=N is added
# to the offsets: in a stream perf does not count its header.
function hex(text,    value, i) {
	value = 0
	for (i = 3; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}

{ sub(/ +$/, "") }

/^[-0-9 ]*0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_/ {
	match($0, /0x[0-9a-f]+ \[/)
	at = sprintf("0x%x", hex(substr($0, RSTART, RLENGTH - 2)) + shift)
	stamp = substr($0, 1, RSTART - 1)
	rest = substr($0, RSTART + RLENGTH - 1)
	name = rest
	sub(/^[^:]*: PERF_RECORD_/, "", name)
	sub(/[^A-Z0-9_].*/, "", name)
	known = name ~ /^(MMAP|MMAP2|COMM|FORK|EXIT|READ|SAMPLE|KSYMBOL|BPF_EVENT|CGROUP|LOST|LOST_SAMPLES|SWITCH|SWITCH_CPU_WIDE|AUX|NAMESPACES|THROTTLE|UNTHROTTLE)$/
	sub(/: unhandled!/, "", rest)
	if (name ~ /^SWITCH/)
		gsub(/ +/, " ", rest)
	if (name == "AUX")
		sub(/ \[.*\]$/, "", rest)
	if (known)
		print at " " stamp rest
	next
}
!known { next }
/^\.\.\.\.\. +[0-9]+: [0-9a-f]+ -> / {
	sub(/:$/, "", $2)
	flags = ""
	for (i = 8; i <= NF; i++)
		if ($i ~ /^[MP]$/)
			flags = flags $i
	print at " branch " $2 " " $3 " " $5 " " $6 " " flags
	next
}
/^\.\.\.\.\. +[0-9]+: [0-9a-f]+/ { sub(/:$/, "", $2); print at " chain " $2 " " $3; next }
/^\.\.\. (user|intr) regs: mask/ { print at " registers " $2 " " $5 " " $7; next }
/^\.\.\.\. .* 0x[0-9a-f]+$/ && NF == 3 { print at " register " $3; next }
/^\.\.\. ustack: size/ { sub(/,/, "", $4); print at " stack " $4; next }
/^\.\.\. weight:/ { print at " weight " $3; next }
/^ \. data_src:/ { print at " data_src " $3; next }
/^ \.\. phys_addr:/ { print at " phys_addr " $3; next }
/^\.\.\.\.\. id [0-9a-f]+, value/ { gsub(/,/, ""); print at " counter " $3 " " $5; next }
