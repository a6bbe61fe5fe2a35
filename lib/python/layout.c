/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "python/layout.h"

#include <string.h>

#define PYTHON_VERSION(minor) (UINT32_C(0x0300) | (minor))

/* An offset beyond is no field's: the largest struct, the interpreter's, is smaller. */
#define OFFSET_MAX UINT64_C(1000000)

#define TEXT_311 .text_length = 16, .text_state = 32, .text_ascii = 48, .text_other = 72
#define TEXT_312 .text_length = 16, .text_state = 32, .text_ascii = 40, .text_other = 56
#define BYTES .bytes_size = 16, .bytes_data = 32

static const struct python_layout layout_311 = {
	.interpreters = 40, .interpreter_next = 0, .threads = 16,
	.thread_next = 8, .thread_native_id = 160, .thread_frame = 56,
	.has_cframe = true, .cframe_frame = 8, .cframe_previous = 16,
	.frame_code = 32, .frame_previous = 48, .frame_instr = 56, .frame_owner = 69,
	.frame_is_entry = 68, .frame_size = 70,
	.code_units = 16, .code_first_line = 72, .code_file = 112, .code_name = 128,
	.code_lines = 136, .code_bytes = 184,
	TEXT_311, BYTES,
};

static const struct python_layout layout_312 = {
	.interpreters = 40, .interpreter_next = 0, .threads = 72,
	.thread_next = 8, .thread_native_id = 144, .thread_frame = 56,
	.has_cframe = true, .cframe_frame = 0, .cframe_previous = 8,
	.frame_code = 0, .frame_previous = 8, .frame_instr = 56, .frame_owner = 70,
	.frame_size = 71,
	.code_units = 16, .code_first_line = 68, .code_file = 112, .code_name = 128,
	.code_lines = 136, .code_bytes = 192,
	TEXT_312, BYTES,
};

/* The members of _Py_DebugOffsets that are used: indexes of words, from the cookie on. */
struct debug_words {
	uint8_t count;
	uint8_t interpreters, interpreter_next, threads;
	uint8_t thread_next, thread_frame, thread_native_id;
	uint8_t frame_previous, frame_code, frame_instr, frame_owner;
	uint8_t code_file, code_name, code_lines, code_first_line, code_bytes;
};

#define DEBUG_COOKIE "xdebugpy"
#define DEBUG_FREE_THREADED 2
#define DEBUG_WORDS_MAX 95

static const struct debug_words debug_313 = {
	.count = 73,
	.interpreters = 5, .interpreter_next = 8, .threads = 9,
	.thread_next = 21, .thread_frame = 23, .thread_native_id = 25,
	.frame_previous = 29, .frame_code = 30, .frame_instr = 31, .frame_owner = 33,
	.code_file = 35, .code_name = 37, .code_lines = 38, .code_first_line = 39, .code_bytes = 43,
};

static const struct debug_words debug_314 = {
	.count = 95,
	.interpreters = 5, .interpreter_next = 8, .threads = 9,
	.thread_next = 24, .thread_frame = 26, .thread_native_id = 28,
	.frame_previous = 32, .frame_code = 33, .frame_instr = 34, .frame_owner = 36,
	.code_file = 40, .code_name = 42, .code_lines = 43, .code_first_line = 44, .code_bytes = 48,
};

/* Bytes up to the end of the last member that is used. */
static uint64_t frame_size(const uint64_t *words, const struct debug_words *at)
{
	const uint8_t addresses[] = {at->frame_previous, at->frame_code, at->frame_instr};
	uint64_t size = words[at->frame_owner] + 1;
	for (size_t i = 0; i < sizeof(addresses); i++)
		if (size < words[addresses[i]] + sizeof(uint64_t))
			size = words[addresses[i]] + sizeof(uint64_t);
	return size;
}

static bool make_stated(struct python_memory *memory, uint64_t runtime,
			const struct debug_words *at, struct python_layout *ret)
{
	uint64_t words[DEBUG_WORDS_MAX];
	if (!python_memory_get(memory, runtime, words, at->count * sizeof(*words)) ||
	    memcmp(words, DEBUG_COOKIE, 8) || words[DEBUG_FREE_THREADED])
		return false;
	for (size_t i = DEBUG_FREE_THREADED; i < at->count; i++)
		if (words[i] > OFFSET_MAX)
			return false;
	if (frame_size(words, at) > PYTHON_FRAME_BYTES)
		return false;
	*ret = (struct python_layout){
		.interpreters = words[at->interpreters],
		.interpreter_next = words[at->interpreter_next],
		.threads = words[at->threads],
		.thread_next = words[at->thread_next],
		.thread_native_id = words[at->thread_native_id],
		.thread_frame = words[at->thread_frame],
		.frame_code = words[at->frame_code],
		.frame_previous = words[at->frame_previous],
		.frame_instr = words[at->frame_instr],
		.frame_owner = words[at->frame_owner],
		.frame_size = frame_size(words, at),
		.code_units = 16,
		.code_first_line = words[at->code_first_line],
		.code_file = words[at->code_file],
		.code_name = words[at->code_name],
		.code_lines = words[at->code_lines],
		.code_bytes = words[at->code_bytes],
		TEXT_312,
		BYTES,
	};
	return true;
}

bool python_layout_make(struct python_memory *memory, uint32_t version, uint64_t runtime,
			struct python_layout *ret)
{
	switch (version >> 16) {
	case PYTHON_VERSION(11):
		*ret = layout_311;
		return true;
	case PYTHON_VERSION(12):
		*ret = layout_312;
		return true;
	case PYTHON_VERSION(13):
		return make_stated(memory, runtime, &debug_313, ret);
	case PYTHON_VERSION(14):
		return make_stated(memory, runtime, &debug_314, ret);
	default:
		return false;
	}
}
