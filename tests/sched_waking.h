/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The format of sched:sched_waking, as Linux 6.18 prints it, and places of fields in its raw data. */
#ifndef TESTS_SCHED_WAKING_H
#define TESTS_SCHED_WAKING_H

#define SCHED_WAKING_SIZE 36
#define SCHED_WAKING_FLAGS 2 /* common_flags */
#define SCHED_WAKING_COMM 8  /* the woken thread's name */
#define SCHED_WAKING_PID 24  /* the woken thread */

/* `id`: text of the tracepoint's number. */
#define SCHED_WAKING_FORMAT(id) \
	"name: sched_waking\nID: " id "\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n" \
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, " \
	"REC->target_cpu\n"

#endif
