/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Demangles with libiberty, as perf and binutils do, so that names are the same. Its callback interface
 * allocates only stack memory. libiberty cannot be stopped, and 20 bytes of back references can expand
 * to gigabytes, so the callback leaves it by longjmp() when the name gets too long.
 */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <string.h>
#include SP_DEMANGLE_H

/*
 * Longest mangled name in bytes. libiberty's own limit of 1,024 is too small for real templates.
 * Without that limit its stack use grows with the name: at most about 2 MB for 4,096 bytes.
 */
#define MANGLED_MAX 4096
#define PLT "@plt"
#define SHOWN_MAX ((size_t)1 << 15)

struct output {
	jmp_buf overflow;
	size_t size;
	char text[SHOWN_MAX];
};

static void collect(const char *text, size_t size, void *arg)
{
	struct output *output = arg;
	if (size > SHOWN_MAX - output->size)
		longjmp(output->overflow, 1);
	if (size > 0)
		memcpy(output->text + output->size, text, size);
	output->size += size;
}

static bool run(const char *name, bool whole, struct output *output)
{
	if (setjmp(output->overflow))
		return false;
	int flags = DMGL_NO_RECURSE_LIMIT | (whole ? DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP : 0);
	/*
	 * Names by Rust's older scheme end with a hash of 17 characters, "17h…". libiberty looks
	 * for it after all else: an eighth of the time for names of C++.
	 */
	if ((name[1] != 'Z' || strstr(name, "17h")) &&
	    rust_demangle_callback(name, whole ? DMGL_VERBOSE : 0, collect, output))
		return output->size > 0;
	output->size = 0;
	return cplus_demangle_v3_callback(name, flags, collect, output) && output->size > 0;
}

/* Returns the size of the name before "@plt", which libiberty does not demangle. */
static size_t size_before_plt(const char *name)
{
	size_t size = strlen(name);
	return size > strlen(PLT) && !strcmp(name + size - strlen(PLT), PLT) ? size - strlen(PLT)
									     : size;
}

static const char *demangle_form(const char *name, bool whole, struct arena *arena)
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' && name[1] != '_') ||
	    strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return NULL;
	char mangled[MANGLED_MAX + 1];
	struct output output;
	size_t size = size_before_plt(name);
	memcpy(mangled, name, size);
	mangled[size] = '\0';
	output.size = 0;
	if (!run(mangled, whole, &output) || output.size + strlen(name + size) > SHOWN_MAX)
		return NULL;
	memcpy(output.text + output.size, name + size, strlen(name + size));
	return arena_copy_string(arena, output.text, output.size + strlen(name + size));
}

const char *demangle(const char *name, struct arena *arena)
{
	return demangle_form(name, false, arena);
}

const char *demangle_whole(const char *name, struct arena *arena)
{
	return demangle_form(name, true, arena);
}

bool demangle_available(void)
{
	return true;
}
