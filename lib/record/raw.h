/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A record as it lies in a file or ring: its header in host order, its bytes as they are. */
#ifndef RECORD_RAW_H
#define RECORD_RAW_H

#include <stddef.h>
#include <stdint.h>

struct raw_record {
	uint32_t type;
	uint16_t misc;
	size_t size;          /* size of bytes; header included; at least 8 */
	const uint8_t *bytes; /* borrowed */
	uint64_t offset;      /* offset of the header in the file; for messages */
};

#endif
