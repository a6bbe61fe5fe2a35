/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "binary/vdso.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define VDSO_SIZE_MAX ((size_t)1 << 20)

static struct sp_error *open_copy(const void *bytes, size_t size, struct image **ret)
{
	void *copy = malloc(size);
	NEED(copy);
	memcpy(copy, bytes, size);
	return image_open_memory(copy, size, "[vdso]", ret);
}

struct sp_error *vdso_own(struct image **ret)
{
	const uint8_t *mapped = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) header;
	if (!mapped)
		return NULL;
	memcpy(&header, mapped, sizeof(header));
	/* The section headers are at its end, as ld arranges it. */
	size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || size < sizeof(header) ||
	    size > VDSO_SIZE_MAX)
		return NULL;
	return open_copy(mapped, size, ret);
}

static bool is_recorded(const struct binary_env *env, const struct module *module,
			const struct image *image)
{
	/* This process has no copy of the vdso of 32-bit processes. */
	if (strcmp(module->path, "[vdso]"))
		return false;
	if (module->build_id_size == 0 || image->build_id_size == 0)
		return env->provenance.same_kernel;
	return image_has_build_id(image, module->build_id, module->build_id_size);
}

struct sp_error *vdso_open(const struct binary_env *env, const struct module *module,
			   struct image **ret)
{
	CLEANUP(cleanup_image_free) struct image *kept = NULL;
	CLEANUP(cleanup_image_free) struct image *image = NULL;

	/* Opens the vdso image in the recording; NULL if there is none, or it is damaged. */
	if (module->kept_size)
		TRY(error_if_no_memory(open_copy(module->kept, module->kept_size, &kept)));
	if (kept && (!module->build_id_size ||
		     image_has_build_id(kept, module->build_id, module->build_id_size))) {
		*ret = take_ptr(kept);
		return NULL;
	}
	TRY(vdso_own(&image));
	if (image && is_recorded(env, module, image)) {
		*ret = take_ptr(image);
		return NULL;
	}
	struct debugfile_places places = {.cache = env->build_id_cache,
					  .proxies = env->proxies};
	return debugfile_cached(&places, module->build_id, module->build_id_size, "vdso", ret);
}
