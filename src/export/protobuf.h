/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writer of Protocol Buffers: fields of a message are appended to a buffer. Fields with the default value
 * (0, empty) are left out, as in proto3.
 */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include "buffer.h"

/* Appends a number as a base-128 varint of 1 to 10 bytes. */
void protobuf_varint(struct buffer *buffer, uint64_t number);

/* Appends a field with a number. */
void protobuf_number(struct buffer *buffer, unsigned int field, uint64_t number);

/* Appends a field with bytes: a string, a message, or packed numbers. */
void protobuf_bytes(struct buffer *buffer, unsigned int field, const char *bytes, size_t size);

/* Appends an element of a repeated field of bytes, which may be empty. */
void protobuf_element(struct buffer *buffer, unsigned int field, const char *bytes, size_t size);

#endif
