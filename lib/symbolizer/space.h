/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spaces of addresses: the mappings of a file, a process or the kernel. Constant after their creation. */
#pragma once

#include <sprof/symbolizer.h>
#include "base/arena.h"
#include "symbolizer/code_names.h"

struct sp_symbolizer {
	struct sp_ctx *ctx;
	struct resolver_options resolver; /* borrows the texts below */
	char *symfs, *vmlinux, *kallsyms; /* copies; NULL: not given */
	char *osrelease, *hostname;       /* this machine's */
	uint8_t kernel_build_id[20];
	bool inlines, lines;
	unsigned int threads;
	struct code_names files;     /* modules with a file, and the kernel's */
	pthread_mutex_t kernel_lock; /* held while `kernel` is made */
	struct sp_space *kernel;     /* serves the kernel addresses of processes; NULL: not made yet */
};

/* A module of a space, and the names that it belongs to. */
struct space_code {
	const struct module *module;
	struct code_names *names;
};

struct sp_space {
	struct sp_symbolizer *symbolizer;
	struct arena arena;
	struct mapping_node *mappings; /* mapping.module is an index of `codes` */
	VEC(struct space_code) codes;
	struct code_names generated;   /* code that the process made at run time */
	uint32_t pid;                  /* 0: no process */
	char *title;                   /* for messages: "process 12" */
};

/* A space's code at an address. */
struct space_place {
	struct location location; /* its module is NULL if no code is there */
	struct code_names *names; /* the names that have the module */
};

/* Finds the code at an address. Fails only when out of memory. */
struct sp_error *space_locate(struct sp_space *space, uint64_t ip,
			      struct space_place *ret) SP_MUST_CHECK;
