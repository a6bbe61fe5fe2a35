/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/protobuf.h"

/* Wire types: how the value after a field's key is encoded. */
enum wire_type {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};

void protobuf_varint(struct buffer *buffer, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		buffer_char(buffer, (char)(number | 0x80));
	buffer_char(buffer, (char)number);
}

static void put_key(struct buffer *buffer, unsigned int field, enum wire_type type)
{
	protobuf_varint(buffer, (uint64_t)field << 3 | type);
}

void protobuf_number(struct buffer *buffer, unsigned int field, uint64_t number)
{
	if (!number)
		return;
	put_key(buffer, field, WIRE_VARINT);
	protobuf_varint(buffer, number);
}

void protobuf_bytes(struct buffer *buffer, unsigned int field, const char *bytes, size_t size)
{
	if (size)
		protobuf_element(buffer, field, bytes, size);
}

void protobuf_element(struct buffer *buffer, unsigned int field, const char *bytes, size_t size)
{
	put_key(buffer, field, WIRE_BYTES);
	protobuf_varint(buffer, size);
	buffer_put(buffer, bytes, size);
}
