/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a recording ended, by the clock that files have their times of. */
#ifndef SIDEBAND_RECORDED_UNTIL_H
#define SIDEBAND_RECORDED_UNTIL_H

#include <sprof/reader.h>

/*
 * In ns since 1970: no module was mapped later. By CLOCK_DATA and SAMPLE_TIME where the recording
 * has them, else by when its file was last written to, which may be later; 0: not known.
 */
uint64_t recorded_until_ns(const struct sp_reader *reader);

#endif
