/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names as the processors' manuals have them, by libpfm4, which is loaded when it is asked for:
 * its tables are several megabytes to relocate.
 */
#include "event/vendor.h"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include "base/cleanup.h"

#define LIBRARY "libpfm.so.4"

/* What is used of it. */
struct library {
	pfm_err_t (*initialize)(void);
	pfm_err_t (*encode)(const char *str, int dfl_plm, pfm_os_t os, void *args);
	const char *(*strerror)(int code);
};

/* The library stays loaded: its state is its own. False where it is not there. */
static bool load(struct library *ret)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
	if (!handle)
		return false;
	*(void **)&ret->initialize = dlsym(handle, "pfm_initialize");
	*(void **)&ret->encode = dlsym(handle, "pfm_get_os_event_encoding");
	*(void **)&ret->strerror = dlsym(handle, "pfm_strerror");
	dlclose(handle);
	return ret->initialize && ret->encode && ret->strerror &&
	       ret->initialize() == PFM_SUCCESS;
}

enum vendor_answer vendor_event_find(const char *name, struct perf_event_attr *ret,
				     const char **why_ret)
{
	struct library library;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t args = {.attr = &attr, .size = sizeof(args)};
	if (!load(&library))
		return VENDOR_NO_LIBRARY;
	pfm_err_t answer = library.encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &args);
	if (answer == PFM_SUCCESS) {
		attr.size = 0;
		*ret = attr;
		return VENDOR_FOUND;
	}
	*why_ret = library.strerror(answer);
	return answer == PFM_ERR_ATTR || answer == PFM_ERR_ATTR_VAL || answer == PFM_ERR_ATTR_SET ||
	       answer == PFM_ERR_UMASK ||
	       answer == PFM_ERR_FEATCOMB ? VENDOR_BAD_ATTRIBUTE : VENDOR_UNKNOWN;
}
