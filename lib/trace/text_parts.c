/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/text_parts.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Limit of the text: kernels print a field about once, and in at most 4 characters a byte. */
#define TEXT_TIMES 64

void text_begin(struct trace_text *text, size_t size)
{
	text->chars.count = 0;
	text->most = size * TEXT_TIMES + TEXT_LEAST;
	text->invalid = text->no_memory = false;
	text_add(text, "%s", "");
}

void text_add(struct trace_text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || text->chars.count + (size_t)length > text->most) {
		text->invalid = true;
		return;
	}
	if (!vec_reserve(&text->chars, text->chars.count + (size_t)length + 1)) {
		text->no_memory = true;
		return;
	}
	va_start(args, format);
	vsnprintf(text->chars.items + text->chars.count, (size_t)length + 1, format, args);
	va_end(args);
	text->chars.count += (size_t)length;
}

static bool is_big_endian(const struct trace_sample *sample)
{
	return sample->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* Returns a byte of a mask, with the lowest bits at index 0. */
static uint8_t byte_at(const struct trace_sample *sample, const struct extent *mask, size_t index)
{
	return mask->bytes[is_big_endian(sample) ? mask->size - 1 - index : index];
}

void text_add_bitmask(struct trace_text *text, const struct trace_sample *sample,
		      const struct extent *mask)
{
	for (size_t i = mask->size; i > 0; i--)
		text_add(text, "%02x%s", byte_at(sample, mask, i - 1),
			 i % 4 == 1 && i > 1 ? "," : "");
}

void text_add_cpus(struct trace_text *text, const struct trace_sample *sample,
		   const struct extent *mask)
{
	size_t begin = 0;
	bool inside = false;
	for (size_t bit = 0; bit <= mask->size * 8; bit++) {
		bool is_set = bit < mask->size * 8 && byte_at(sample, mask, bit / 8) >> bit % 8 & 1;
		if (is_set == inside)
			continue;
		inside = is_set;
		if (is_set) {
			text_add(text, text->chars.count ? ",%zu" : "%zu", bit);
			begin = bit;
		} else if (bit > begin + 1) {
			text_add(text, "-%zu", bit - 1);
		}
	}
}

void text_add_raw(struct trace_text *text, char letter, const struct extent *bytes, size_t most)
{
	const char *delimiter = letter == 'C'	? ":"
				: letter == 'D' ? "-"
				: letter == 'N' ? ""
						: " ";
	for (size_t i = 0; i < bytes->size && i < most; i++)
		text_add(text, "%s%02x", i ? delimiter : "", bytes->bytes[i]);
}

static void add_ethernet(struct trace_text *text, const char *letters, const struct extent *address)
{
	const char *delimiter = *letters == 'm' ? "" : letters[1] == 'F' ? "-" : ":";
	if (address->size != 6)
		return text_add(text, "INVALIDMAC");
	for (size_t i = 0; i < 6; i++)
		text_add(text, "%s%02x", i ? delimiter : "",
			 address->bytes[letters[1] == 'R' ? 5 - i : i]);
}

static void add_ip4(struct trace_text *text, bool padded, bool reverse, const uint8_t *bytes)
{
	for (size_t i = 0; i < 4; i++)
		text_add(text, padded ? "%s%03d" : "%s%d", i ? "." : "",
			 bytes[reverse ? 3 - i : i]);
}

static unsigned int word_at(const uint8_t *bytes, size_t index)
{
	return (unsigned int)bytes[2 * index] << 8 | bytes[2 * index + 1];
}

/* Finds the longest run of zero words; the first of equals, and none of one word. */
static void find_zeros(const uint8_t *bytes, size_t count, size_t *at, size_t *length)
{
	*at = count;
	*length = 1;
	for (size_t i = 0; i < count; i++) {
		size_t end = i;
		while (end < count && !word_at(bytes, end))
			end++;
		if (end - i > *length) {
			*at = i;
			*length = end - i;
		}
	}
}

/* Adds an IPv6 address as RFC 5952 has it. IPv4-mapped and ISATAP addresses end as IPv4 addresses.
 */
static void add_short_ip6(struct trace_text *text, const uint8_t *bytes)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t isatap[3] = {0, 0x5e, 0xfe};
	bool is_ip4 = !memcmp(bytes, mapped, 12) ||
		      ((bytes[8] & ~2) == 0 && !memcmp(bytes + 9, isatap, 3));
	size_t count = is_ip4 ? 6 : 8, zeros, length;
	bool colon = false;
	find_zeros(bytes, count, &zeros, &length);
	for (size_t i = 0; i < count; i++) {
		if (i == zeros) {
			text_add(text, colon || !i ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		text_add(text, colon ? ":%x" : "%x", word_at(bytes, i));
		colon = true;
	}
	if (!is_ip4)
		return;
	text_add(text, colon ? ":" : "");
	add_ip4(text, false, false, bytes + 12);
}

static void add_ip6(struct trace_text *text, char first, bool is_short, const uint8_t *bytes)
{
	if (is_short)
		return add_short_ip6(text, bytes);
	for (size_t i = 0; i < 8; i++)
		text_add(text, i && first == 'I' ? ":%04x" : "%04x", word_at(bytes, i));
}

/* Whether "h" or "l" asks for the lowest byte first. */
static bool is_reversed(char letter, const struct trace_sample *sample)
{
	return letter == 'l' || (letter == 'h' && !is_big_endian(sample));
}

/* Adds the address of a struct sockaddr, for "%pISpc"; nothing of another family. */
static void add_socket(struct trace_text *text, const char *letters,
		       const struct trace_sample *sample, const struct extent *socket)
{
	const char *options = letters + 2;
	bool port = *letters == 'I' && *options == 'p';
	options += port;
	bool is_short = *letters == 'I' && *options == 'c';
	options += is_short;
	uint64_t family = socket->size < 2 ? AF_UNSPEC : value_read(sample, socket->bytes, 2);
	if (family == AF_INET) {
		if (socket->size < sizeof(struct sockaddr_in))
			return text_add(text, "INVALIDIPv4");
		add_ip4(text, *letters == 'i', is_reversed(*options, sample), socket->bytes + 4);
		if (port)
			text_add(text, ":%u", word_at(socket->bytes, 1));
	} else if (family == AF_INET6) {
		if (socket->size < sizeof(struct sockaddr_in6))
			return text_add(text, "INVALIDIPv6");
		text_add(text, port ? "[" : "");
		add_ip6(text, *letters, is_short, socket->bytes + 8);
		if (port)
			text_add(text, "]:%u", word_at(socket->bytes, 1));
	}
}

static void add_uuid(struct trace_text *text, char letter, const struct extent *id)
{
	static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool swaps = letter == 'L' || letter == 'l', large = letter == 'L' || letter == 'B';
	if (id->size != 16)
		return text_add(text, "INVALIDUUID");
	for (size_t i = 0; i < 16; i++) {
		text_add(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
		text_add(text, large ? "%02X" : "%02x", id->bytes[swaps ? little[i] : i]);
	}
}

void text_add_address(struct trace_text *text, const char *letters,
		      const struct trace_sample *sample, const struct extent *bytes)
{
	if (*letters == 'M' || *letters == 'm')
		add_ethernet(text, letters, bytes);
	else if (*letters == 'U')
		add_uuid(text, letters[1], bytes);
	else if (letters[1] == 'S')
		add_socket(text, letters, sample, bytes);
	else if (letters[1] == '4' && bytes->size != 4)
		text_add(text, "INVALIDIPv4");
	else if (letters[1] == '4')
		add_ip4(text, *letters == 'i', is_reversed(letters[2], sample), bytes->bytes);
	else if (bytes->size != 16)
		text_add(text, "INVALIDIPv6");
	else
		add_ip6(text, *letters, *letters == 'I' && letters[2] == 'c', bytes->bytes);
}
