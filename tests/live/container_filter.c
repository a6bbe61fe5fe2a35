// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * container_filter default|perfmon COMMAND...: runs the command as container engines do: with the
 * capabilities that they leave to root, and a system call filter with the decisions of Docker's
 * published default list for what a profiler calls. `perfmon`: as with --cap-add PERFMON, for which
 * the list allows perf_event_open, too. Exits with 77 where the kernel refuses the filter.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(errnum) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))
#define CALL(name, errnum) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), REFUSE(errnum)

/* Flags of clone(2) for new namespaces. */
#define NAMESPACES 0x7e020000

/* The list allows these for capabilities that a container does not have, or not at all. */
static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	CALL(perf_event_open, EPERM),
	CALL(bpf, EPERM),
	CALL(clone3, ENOSYS),
	CALL(get_mempolicy, EPERM),
	CALL(io_uring_setup, EPERM),
	CALL(kcmp, EPERM),
	CALL(keyctl, EPERM),
	CALL(mbind, EPERM),
	CALL(mount, EPERM),
	CALL(open_by_handle_at, EPERM),
	CALL(pidfd_getfd, EPERM),
	CALL(process_madvise, EPERM),
	CALL(quotactl, EPERM),
	CALL(set_mempolicy, EPERM),
	CALL(setns, EPERM),
	CALL(syslog, EPERM),
	CALL(umount2, EPERM),
	CALL(unshare, EPERM),
	CALL(userfaultfd, EPERM),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
	REFUSE(EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

/* Capabilities of root in a container. */
static const int left[] = {
	CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FSETID, CAP_FOWNER, CAP_MKNOD, CAP_NET_RAW, CAP_SETGID,
	CAP_SETUID, CAP_SETFCAP, CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_KILL,
	CAP_AUDIT_WRITE,
};

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

int main(int argc, char **argv)
{
	bool perfmon = argc > 1 && strcmp(argv[1], "perfmon") == 0;
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

	if (argc < 3)
		return 2;
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		bool keep = perfmon && cap == CAP_PERFMON;

		for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
			keep |= left[i] == cap;
		if (!keep)
			prctl(PR_CAPBSET_DROP, cap);
	}
	/* The second instruction compares, the third refuses. */
	if (perfmon)
		filter[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 126;
}
