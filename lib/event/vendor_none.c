/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Built without libpfm. */
#include "event/vendor.h"

enum vendor_answer libpfm_event_find(const char *name, struct perf_event_attr *ret,
				     const char **why_ret)
{
	(void)name, (void)ret, (void)why_ret;
	return VENDOR_NO_LIBRARY;
}

enum vendor_answer libpfm_events_list(vendor_event_fn *event, void *arg)
{
	(void)event, (void)arg;
	return VENDOR_NO_LIBRARY;
}
