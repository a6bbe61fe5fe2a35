/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source for BPF programs and trampolines; the recording's metadata records have their names. */
#include "symbol/source.h"

#include "base/error.h"

static struct sp_error *bpf_open(const struct source_env *env, const struct module *module,
				 uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)env, (void)pid, (void)diagnosis;
	if (module->kind != MODULE_KERNEL_CODE)
		return NULL;
	*ret = (void *)(uintptr_t)module;
	return NULL;
}

static bool bpf_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		     struct found *ret)
{
	(void)diagnosis;
	const struct module *module = opened;
	if (location->offset < module->start || location->offset >= module->end)
		return false;
	*ret = (struct found){
		.key = module->start,
		.raw_name = module->path,
		.start = module->start,
		.size = module->end - module->start,
	};
	return true;
}

const struct source source_bpf = {
	.name = "code",
	.open = bpf_open,
	.find = bpf_find,
};
