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
	.frame_is_entry = 68,
	.code_units = 16, .code_first_line = 72, .code_file = 112, .code_name = 128,
	.code_lines = 136, .code_bytes = 184,
	TEXT_311, BYTES,
};

static const struct python_layout layout_312 = {
	.interpreters = 40, .interpreter_next = 0, .threads = 72,
	.thread_next = 8, .thread_native_id = 144, .thread_frame = 56,
	.has_cframe = true, .cframe_frame = 0, .cframe_previous = 8,
	.frame_code = 0, .frame_previous = 8, .frame_instr = 56, .frame_owner = 70,
	.code_units = 16, .code_first_line = 68, .code_file = 112, .code_name = 128,
	.code_lines = 136, .code_bytes = 192,
	TEXT_312, BYTES,
};

/* Members of 3.13's _Py_DebugOffsets: words from the cookie on. */
enum {
	DEBUG_COOKIE = 0,
	DEBUG_VERSION = 1,
	DEBUG_FREE_THREADED = 2,
	DEBUG_INTERPRETERS = 5,
	DEBUG_INTERPRETER_NEXT = 8,
	DEBUG_THREADS = 9,
	DEBUG_THREAD_NEXT = 21,
	DEBUG_THREAD_FRAME = 23,
	DEBUG_NATIVE_ID = 25,
	DEBUG_FRAME_PREVIOUS = 29,
	DEBUG_FRAME_CODE = 30,
	DEBUG_FRAME_INSTR = 31,
	DEBUG_FRAME_OWNER = 33,
	DEBUG_CODE_FILE = 35,
	DEBUG_CODE_NAME = 37,
	DEBUG_CODE_LINES = 38,
	DEBUG_CODE_FIRST_LINE = 39,
	DEBUG_CODE_BYTES = 43,
	DEBUG_WORDS = 73,
};

static bool make_313(struct python_memory *memory, uint64_t runtime, struct python_layout *ret)
{
	uint64_t words[DEBUG_WORDS];
	if (!python_memory_get(memory, runtime, words, sizeof(words)) ||
	    memcmp(&words[DEBUG_COOKIE], "xdebugpy", 8) || words[DEBUG_FREE_THREADED])
		return false;
	for (size_t i = DEBUG_FREE_THREADED; i < DEBUG_WORDS; i++)
		if (words[i] > OFFSET_MAX)
			return false;
	*ret = (struct python_layout){
		.interpreters = (uint32_t)words[DEBUG_INTERPRETERS],
		.interpreter_next = (uint32_t)words[DEBUG_INTERPRETER_NEXT],
		.threads = (uint32_t)words[DEBUG_THREADS],
		.thread_next = (uint32_t)words[DEBUG_THREAD_NEXT],
		.thread_native_id = (uint32_t)words[DEBUG_NATIVE_ID],
		.thread_frame = (uint32_t)words[DEBUG_THREAD_FRAME],
		.frame_code = (uint32_t)words[DEBUG_FRAME_CODE],
		.frame_previous = (uint32_t)words[DEBUG_FRAME_PREVIOUS],
		.frame_instr = (uint32_t)words[DEBUG_FRAME_INSTR],
		.frame_owner = (uint32_t)words[DEBUG_FRAME_OWNER],
		.code_units = 16,
		.code_first_line = (uint32_t)words[DEBUG_CODE_FIRST_LINE],
		.code_file = (uint32_t)words[DEBUG_CODE_FILE],
		.code_name = (uint32_t)words[DEBUG_CODE_NAME],
		.code_lines = (uint32_t)words[DEBUG_CODE_LINES],
		.code_bytes = (uint32_t)words[DEBUG_CODE_BYTES],
		TEXT_312, BYTES,
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
		return make_313(memory, runtime, ret);
	default:
		return false;
	}
}
