/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "help_tasks.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Names of a task are separated by blanks, and the first one is in the list. */
static const struct {
	const char *names, *text;
} tasks[] = {
	{"hot functions cpu slow",
	 "Find hot functions:\n"
	 "  sprof record ./program\n"
	 "  sprof report\n"},
	{"lines line source srcline",
	 "Find hot source lines:\n"
	 "  sprof record ./program\n"
	 "  sprof report -s function,srcline\n"},
	{"callers callees tree callgraph",
	 "Find callers, and read the call tree:\n"
	 "  sprof record ./program\n"
	 "  sprof report --callers FUNCTION\n"
	 "  sprof report -g caller\n"},
	{"waits wait off-cpu offcpu blocked sleep locks lock io",
	 "Find out what threads wait for:\n"
	 "  sprof record --off-cpu ./program\n"
	 "  sprof report                       time on a CPU and in waits, by function\n"
	 "  sprof report --mode off-cpu -g     waits alone, with callers\n"
	 "  sprof report -s waits_for          by reason: disk, lock, network, ...\n"},
	{"wakers waker wakeups wake-ups",
	 "Find out which threads end the waits of others:\n"
	 "  sprof record --wakers ./program\n"
	 "  sprof report --wakers\n"},
	{"threads thread -T",
	 "See each thread's time on a CPU, waiting for a CPU, and blocked:\n"
	 "  sprof record --switch-events ./program\n"
	 "  sprof report -T\n"},
	{"python python3 cpython",
	 "Find hot Python functions and lines (CPython 3.11 to 3.14; no option is needed):\n"
	 "  sprof record python3 script.py\n"
	 "  sprof report --children            functions, with the time of their callees\n"
	 "  sprof report -g                    call tree\n"},
	{"java jvm node nodejs dotnet jit",
	 "Find hot functions of Java, Node.js and .NET:\n"
	 "  sprof record --runtime-names java -jar app.jar\n"
	 "  sprof report\n"
	 "For a Java process that runs already, after the program has become warm:\n"
	 "  sprof record -p PID --duration 10; jcmd PID Compiler.perfmap; sprof archive\n"},
	{"latency",
	 "See the time until a process ends, where serial parts weigh most. This is not the\n"
	 "latency of requests, which needs times of each request:\n"
	 "  sprof record --off-cpu ./program\n"
	 "  sprof report --latency\n"},
	{"flamegraph flame-graph flame svg html pictures",
	 "Show pictures in a browser: flame graph, times, threads, functions:\n"
	 "  sprof record -o report.html ./program\n"
	 "  sprof report -o report.html --open\n"},
	{"build make compile scripts processes",
	 "Find the slow files of a build, or the slow processes of a script:\n"
	 "  sprof record make -j2\n"
	 "  sprof report -s argument,comm      by file that a program was called with\n"
	 "  sprof report --processes           tree of processes, with their children\n"},
	{"machine system",
	 "Profile the whole machine, a process, a container or a service:\n"
	 "  sprof record -a --duration 10\n"
	 "  sprof record -p PID --duration 10\n"
	 "  sprof record -G system.slice --duration 10\n"
	 "  sprof record --unit nginx --duration 10\n"
	 "Then by program, and by function:\n"
	 "  sprof report -s comm\n"
	 "  sprof report -s function\n"},
	{"continuous rotation flight",
	 "Record for a long time, or keep the last 30 seconds in memory:\n"
	 "  sprof record -a -F 99 --switch-output=1h --keep 24\n"
	 "  sprof record -a --overwrite=30\n"},
};

bool help_task_print(const char *name, FILE *out)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		for (const char *at = tasks[i].names; *at;) {
			size_t size = strcspn(at, " ");
			if (size == length && !strncasecmp(at, name, size)) {
				fputs(tasks[i].text, out);
				return true;
			}
			at += size + (at[size] == ' ');
		}
	}
	return false;
}

void help_tasks_list(FILE *out)
{
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++)
		fprintf(out, "%s%.*s", i ? ", " : "", (int)strcspn(tasks[i].names, " "),
			tasks[i].names);
	fputc('\n', out);
}
