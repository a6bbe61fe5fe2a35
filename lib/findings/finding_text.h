/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers in the sentences of findings. */
#pragma once

#include <stdint.h>

/* Write "1,234", "12.3%" or "1.25 s" to a buffer of FINDING_TEXT bytes, which is returned. */
#define FINDING_TEXT 32
const char *count_text(uint64_t count, char *text);
const char *share_text(double share, char *text);
const char *time_text(uint64_t time_ns, char *text);

/* Returns "s", or "" for 1. */
const char *plural(uint64_t count);
