/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields of a perf.data file's header that the reader uses. */
#ifndef READER_HEADER_INFO_H
#define READER_HEADER_INFO_H

#include "file/format.h"

struct header_info {
	uint64_t size, attr_size;
	struct file_section attrs, data; /* offsets and sizes; `data` is limited to the file */
	struct feature_bits features;
	bool data_ends_unknown; /* data.size is missing or wrong, so the end of the data was searched */
	bool data_never_ended;  /* data.size is missing, because the recorder did not end normally */
};

#endif
