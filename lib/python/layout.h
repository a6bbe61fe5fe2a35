/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places of fields in the structures of CPython 3.11 to 3.14 on 64-bit machines. The layout of 3.11 and
 * 3.12 is that of their headers; later versions state their own (_Py_DebugOffsets).
 */
#pragma once

#include "python/process_memory.h"

/* Bytes of a frame that are read: its members must be there. */
#define PYTHON_FRAME_BYTES 128

/* Offsets in bytes. 0 in a member that says so: the version has no such field. */
struct python_layout {
	uint32_t interpreters;      /* the first interpreter, in the runtime */
	uint32_t interpreter_next, threads; /* in an interpreter */
	uint32_t thread_next, thread_native_id;
	uint32_t thread_frame;      /* the innermost frame; with `has_cframe` the innermost _PyCFrame */
	bool has_cframe;            /* 3.11, 3.12: each call of the evaluation function has a _PyCFrame */
	uint32_t cframe_frame, cframe_previous;
	uint32_t frame_code, frame_previous, frame_instr, frame_owner;
	uint32_t frame_is_entry;    /* 3.11: marks the outermost frame of a _PyCFrame; else 0 */
	uint32_t frame_size;        /* bytes with all of these; at most PYTHON_FRAME_BYTES */
	uint32_t code_units, code_first_line, code_file, code_name, code_lines, code_bytes;
	uint32_t text_length, text_state;
	uint32_t text_ascii, text_other; /* begin of a str's content */
	uint32_t bytes_size, bytes_data;
};

/* Addresses of an interpreter's data in a process. */
struct python_runtime {
	uint64_t runtime;   /* _PyRuntime */
	uint64_t code_type; /* PyCode_Type */
	struct python_layout layout;
};

/*
 * Sets the layout for a version as Py_Version has it (0x030b02f0: 3.11.2). From 3.13 on it is
 * read from the runtime. False: the version or the build is not supported, or the memory has something else.
 */
bool python_layout_make(struct python_memory *memory, uint32_t version, uint64_t runtime,
			struct python_layout *ret);
