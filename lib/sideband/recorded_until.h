/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* End of a recording, by the clock of file times. */
#ifndef SIDEBAND_RECORDED_UNTIL_H
#define SIDEBAND_RECORDED_UNTIL_H

#include <sprof/reader.h>

/*
 * Returns the time in ns since 1970 after which no module was mapped: by CLOCK_DATA and SAMPLE_TIME;
 * else the file's mtime, which may be later; 0: unknown.
 */
uint64_t recorded_until_ns(const struct sp_reader *reader);

#endif
