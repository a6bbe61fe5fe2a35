/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/metadata/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(enum bpf_cmd command, union bpf_attr *attr)
{
	long status = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return status < 0 ? -errno : (int)status;
}

int bpf_next_program(uint32_t *id)
{
	union bpf_attr attr = {.start_id = *id};
	int status = call(BPF_PROG_GET_NEXT_ID, &attr);
	if (status >= 0)
		*id = attr.next_id;
	return status;
}

int bpf_open_program(uint32_t id)
{
	union bpf_attr attr = {.prog_id = id};
	return call(BPF_PROG_GET_FD_BY_ID, &attr);
}

int bpf_open_types(uint32_t id)
{
	union bpf_attr attr = {.btf_id = id};
	return call(BPF_BTF_GET_FD_BY_ID, &attr);
}

int bpf_object_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = {0};
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = size;
	attr.info.info = (uint64_t)(uintptr_t)info;
	return call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}
