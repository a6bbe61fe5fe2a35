/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of processor manuals, by libpfm4. It is loaded on first use, because relocating its tables of
 * several megabytes takes time.
 */
#include "event/vendor.h"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"

#define LIBRARY "libpfm.so.4"

/* Functions of libpfm that are used. */
struct library {
	pfm_err_t (*initialize)(void);
	pfm_err_t (*encode)(const char *str, int dfl_plm, pfm_os_t os, void *args);
	const char *(*strerror)(int code);
	pfm_err_t (*pmu_info)(pfm_pmu_t pmu, pfm_pmu_info_t *info);
	pfm_err_t (*event_info)(int index, pfm_os_t os, pfm_event_info_t *info);
	pfm_err_t (*attr_info)(int event, int attr, pfm_os_t os, pfm_event_attr_info_t *info);
	int (*event_next)(int index);
};

#ifdef SP_STATIC
/* Gets the functions that were linked. False if the library cannot be used. */
static bool load(struct library *ret)
{
	*ret = (struct library){pfm_initialize, pfm_get_os_event_encoding, pfm_strerror,
				pfm_get_pmu_info, pfm_get_event_info, pfm_get_event_attr_info,
				pfm_get_event_next};
	return ret->initialize() == PFM_SUCCESS;
}
#else
/* Loads the library, which stays loaded because it has global state. False if it is missing. */
static bool load(struct library *ret)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
	if (!handle)
		return false;
	*(void **)&ret->initialize = dlsym(handle, "pfm_initialize");
	*(void **)&ret->encode = dlsym(handle, "pfm_get_os_event_encoding");
	*(void **)&ret->strerror = dlsym(handle, "pfm_strerror");
	*(void **)&ret->pmu_info = dlsym(handle, "pfm_get_pmu_info");
	*(void **)&ret->event_info = dlsym(handle, "pfm_get_event_info");
	*(void **)&ret->attr_info = dlsym(handle, "pfm_get_event_attr_info");
	*(void **)&ret->event_next = dlsym(handle, "pfm_get_event_next");
	dlclose(handle);
	return ret->initialize && ret->encode && ret->strerror && ret->pmu_info &&
	       ret->event_info && ret->attr_info && ret->event_next &&
	       ret->initialize() == PFM_SUCCESS;
}
#endif

enum vendor_answer libpfm_event_find(const char *name, struct perf_event_attr *ret,
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

#define NAME_LIMIT 256

/* Lists an event once for each of its unit masks, or alone if it has none. */
static bool list_event(const struct library *library, const pfm_pmu_info_t *pmu,
		       const pfm_event_info_t *info, vendor_event_fn *event, void *arg)
{
	char name[NAME_LIMIT];
	bool has_masks = false;
	for (int i = 0; i < info->nattrs; i++) {
		pfm_event_attr_info_t attr = {.size = sizeof(attr)};
		if (library->attr_info(info->idx, i, PFM_OS_PERF_EVENT_EXT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		has_masks = true;
		snprintf(name, sizeof(name), "%s::%s:%s", pmu->name, info->name, attr.name);
		if (!event(arg, name, attr.desc))
			return false;
	}
	snprintf(name, sizeof(name), "%s::%s", pmu->name, info->name);
	return has_masks || event(arg, name, info->desc);
}

enum vendor_answer libpfm_events_list(vendor_event_fn *event, void *arg)
{
	struct library library;
	if (!load(&library))
		return VENDOR_NO_LIBRARY;
	for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof(info)};
		if (library.pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present ||
		    info.type == PFM_PMU_TYPE_OS_GENERIC || !strncmp(info.name, "perf", 4))
			continue; /* the kernel's events are listed already */
		for (int i = info.first_event; i != -1; i = library.event_next(i)) {
			pfm_event_info_t one = {.size = sizeof(one)};
			if (library.event_info(i, PFM_OS_PERF_EVENT_EXT, &one) == PFM_SUCCESS &&
			    !list_event(&library, &info, &one, event, arg))
				return VENDOR_BAD_ATTRIBUTE;
		}
	}
	return VENDOR_FOUND;
}
