/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A strict reader of JSON, which shares nothing with what writes it. */
#ifndef FUZZ_RFC8259_H
#define FUZZ_RFC8259_H

#include <stdbool.h>
#include <stddef.h>

/* One value of RFC 8259 in well-formed UTF-8, and nothing after it. */
bool json_is_valid(const char *text, size_t size);

#endif
