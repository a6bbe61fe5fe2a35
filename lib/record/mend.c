/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/mend.h"

#include <linux/perf_event.h>

bool record_size_is_doubtful(uint32_t type)
{
	return type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT ||
	       type == PERF_RECORD_TEXT_POKE;
}
