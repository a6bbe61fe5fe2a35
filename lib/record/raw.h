/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A record as in a file or ring buffer: its header in host order, its bytes unchanged. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct raw_record {
	uint32_t type;
	uint16_t misc;
	size_t size;          /* number of bytes, header included; at least 8 */
	const uint8_t *bytes; /* the record, header included; borrowed */
	uint64_t offset;      /* offset of the header in the file, for messages */
};
