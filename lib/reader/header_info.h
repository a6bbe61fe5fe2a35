/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Header of a perf.data file, as far as the reader uses it. */
#ifndef READER_HEADER_INFO_H
#define READER_HEADER_INFO_H

#include "file/format.h"

struct header_info {
	uint64_t size, attr_size;
	struct file_section attrs, data; /* data lies within the file */
	struct feature_bits features;
	bool data_ends_unknown; /* data.size was not written, or is wrong */
	bool data_never_ended;  /* data.size was not written: the recorder did not end */
};

#endif
