/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A jitdump has a header of at least 40 bytes, in the writer's byte order:
 *
 *	u32 magic "JiTD"  u32 version (1)  u32 header's size  u32 ELF machine
 *	u32 0  u32 pid  u64 time  u64 flags (1: times are in ticks)
 *
 * Records follow. The last one may be incomplete while the process writes. Each begins with:
 *
 *	u32 id  u32 record's size  u64 time, and then
 *	LOAD 0:   u32 pid, tid  u64 vma, address, size of code, index  name, NUL  …  its code
 *	MOVE 1:   u32 pid, tid  u64 vma, old address, new address, size of code, index
 *	LINES 2:  u64 address of code, n  n times: u64 address  u32 line, discriminator  file, NUL
 *	CLOSE 3
 *	UNWIND 4: u64 size, size of .eh_frame_hdr, mapped size  .eh_frame, .eh_frame_hdr, padding
 *
 * LINES and UNWIND precede the LOAD of their code. A file name "\xff" repeats the one of the entry
 * before. Unknown records are skipped by their size.
 */
#include "symbol/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/io.h"

#define MAGIC 0x4a695444
#define FORMAT_VERSION 1
#define HEADER_SIZE 40
#define PREFIX_SIZE 16
#define FLAG_IN_TICKS 1

enum record_id { RECORD_LOAD, RECORD_MOVE, RECORD_LINES, RECORD_CLOSE, RECORD_UNWIND };

/* Largest record that is read whole, except LINES. Of a larger LOAD, the first 64 KiB are read. */
#define HEAD_SIZE (64 << 10)
#define LINES_SIZE_MAX (64 << 20)
#define AHEAD_SIZE (256 << 10) /* bytes read at a time */

/*
 * Size of the ELF header before the code in the ELF file that `perf inject` makes of each function. V8
 * adds it to the addresses of LINES, because perf does not.
 */
#define ELF_HEADER_SIZE 0x40
#define SHIFTED_ENOUGH 16

#define NO_CODE UINT32_MAX

/* Most time between the times of the header and of the first record, if their clock is the same. */
#define HEADER_BEFORE_NS 60000000000

struct input {
	int fd;
	const char *path;
	uint64_t size;
	bool swap;
	uint8_t *buffer; /* the file's bytes from `offset` on */
	uint64_t offset;
	size_t filled, capacity;
};

/* Lines of a LINES record; its code has not been loaded yet. */
struct pending {
	uint32_t first, count;
};

struct jitdump_reader {
	struct jitdump *dump;
	struct input input;
	struct u64map by_index;      /* index field of LOAD -> last element of `codes` with it */
	struct u64map lines_of;      /* code address -> index in pending, + 1; 0: already assigned */
	VEC(struct pending) pending;
	uint64_t frames_offset;      /* .eh_frame of the next LOAD record's code */
	uint32_t frames_size;        /* 0: none */
	uint64_t timestamp;          /* time in the file's header */
	bool timed;                  /* dump->began is set */
	uint64_t with_lines;               /* number of codes that have lines */
	bool below, beyond;          /* a line is in the first ELF_HEADER_SIZE bytes; after the code */
};

void jitdump_free(struct jitdump *dump)
{
	if (!dump)
		return;
	vec_deinit(&dump->codes);
	vec_deinit(&dump->places);
	vec_deinit(&dump->lines);
	strtab_deinit(&dump->strings);
	free(dump->path);
	free(dump->root);
	free(dump);
}

static void reading_deinit(struct jitdump_reader *reading)
{
	free(reading->input.buffer);
	u64map_deinit(&reading->by_index);
	u64map_deinit(&reading->lines_of);
	vec_deinit(&reading->pending);
}

/* Reads up to `size` bytes of the file at `offset` into the buffer. */
static struct sp_error *fetch(struct input *input, uint64_t offset, size_t size,
			      struct cursor *ret)
{
	uint64_t left = input->size - offset;
	if (size > left)
		size = left;
	/* An empty file has no buffer. */
	if (!size) {
		*ret = cursor_make(NULL, 0, input->swap, input->path, offset);
		return NULL;
	}
	bool there = offset >= input->offset && offset - input->offset <= input->filled &&
		     input->filled - (offset - input->offset) >= size;
	if (!there) {
		size_t want = left < AHEAD_SIZE ? (size_t)left : AHEAD_SIZE;
		if (want < size)
			want = size;
		if (want > input->capacity) {
			uint8_t *grown = realloc(input->buffer, want);
			NEED(grown);
			input->buffer = grown;
			input->capacity = want;
		}
		int code = io_pread(input->fd, input->buffer, want, offset, &input->filled);
		if (code)
			return error_os(code, "cannot read %s", input->path);
		input->offset = offset;
		if (size > input->filled)
			size = input->filled; /* the file was truncated while it was read */
	}
	*ret = cursor_make(input->buffer + (offset - input->offset), size, input->swap,
			   input->path, offset);
	return NULL;
}

static struct sp_error *read_header(struct jitdump_reader *reading, uint64_t *offset_ret)
{
	struct input *input = &reading->input;
	struct jitdump *dump = reading->dump;
	uint32_t magic = 0, version, size, machine, padding;
	uint64_t flags;
	struct cursor at;
	TRY(fetch(input, 0, HEADER_SIZE, &at));
	if (cursor_u32(&at, &magic) && magic == __builtin_bswap32(MAGIC))
		at.swap = input->swap = true;
	else if (magic != MAGIC)
		return error_new(SP_ERROR_FORMAT, "%s is not a jitdump", input->path);
	if (!cursor_u32(&at, &version) || !cursor_u32(&at, &size) || !cursor_u32(&at, &machine) ||
	    !cursor_u32(&at, &padding) || !cursor_u32(&at, &dump->pid) ||
	    !cursor_u64(&at, &reading->timestamp) || !cursor_u64(&at, &flags))
		return cursor_error(&at, "the header of a jitdump");
	if (version != FORMAT_VERSION || flags & ~(uint64_t)FLAG_IN_TICKS || size < HEADER_SIZE ||
	    machine > UINT16_MAX)
		return error_new(SP_ERROR_FORMAT,
				 "%s: unknown jitdump version %u (flags 0x%llx, header of %u bytes)",
				 input->path, version, (unsigned long long)flags, size);
	dump->machine = machine;
	dump->in_ticks = flags & FLAG_IN_TICKS;
	*offset_ret = size;
	return NULL;
}

/* Memory for a string in addition to its bytes, of a code's index, and of a place in a machine. */
#define TEXT_MEMORY 32
#define INDEX_MEMORY 32
#define PLACE_MEMORY 64

static const char *add_text(struct jitdump *dump, const char *text)
{
	size_t before = dump->strings.count;
	const char *copy = strtab_add(&dump->strings, text);
	if (dump->strings.count > before)
		dump->text_bytes += strlen(text) + TEXT_MEMORY;
	return copy;
}

uint64_t jitdump_memory(const struct jitdump *dump)
{
	return dump->text_bytes + dump->codes.capacity * sizeof(*dump->codes.items) +
	       dump->codes.count * INDEX_MEMORY + dump->places.count * PLACE_MEMORY +
	       dump->places.capacity * sizeof(*dump->places.items) +
	       dump->lines.capacity * sizeof(*dump->lines.items);
}

static bool add_place(struct jitdump *dump, uint64_t time, uint64_t start,
		      const struct jitdump_code *code, uint64_t size)
{
	return vec_append(&dump->places, (struct jitdump_place){
						 .time = time,
						 .start = start,
						 .size = size < code->size ? size : code->size,
						 .file_offset = code->file_offset,
					 });
}

static int compare_lines(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;
	return u64_order(x->offset, y->offset) ?: u64_order(x->order, y->order);
}

/* Assigns the pending lines of a LINES record to code that was loaded after it. */
static void take_lines(struct jitdump_reader *reading, struct jitdump_code *code)
{
	struct jitdump *dump = reading->dump;
	uint32_t *index = u64map_find(&reading->lines_of, code->start);
	if (!index || !*index)
		return;
	const struct pending *pending = &reading->pending.items[*index - 1];
	*index = 0;
	code->first_line = pending->first;
	code->line_count = pending->count;
	struct jitdump_line *lines = &dump->lines.items[pending->first];
	qsort(lines, pending->count, sizeof(*lines), compare_lines);
	reading->with_lines++;
	reading->below |= lines[0].offset < ELF_HEADER_SIZE;
	reading->beyond |= lines[pending->count - 1].offset >= code->size;
}

static bool read_load(struct jitdump_reader *reading, struct cursor *at, uint64_t time,
		      uint64_t end, bool *bad_ret)
{
	struct jitdump *dump = reading->dump;
	struct jitdump_code code = {0};
	uint64_t vma, index;
	uint32_t pid, tid;
	const char *name;
	bool whole = cursor_u32(at, &pid) && cursor_u32(at, &tid) && cursor_u64(at, &vma) &&
		     cursor_u64(at, &code.start) && cursor_u64(at, &code.size) &&
		     cursor_u64(at, &index) && cursor_text(at, &name);
	*bad_ret = !whole || code.size > end - cursor_offset(at) || dump->codes.count == NO_CODE;
	if (*bad_ret || code.size == 0)
		return true;
	code.file_offset = end - code.size;
	code.frames_offset = reading->frames_offset;
	code.frames_size = reading->frames_size;
	reading->frames_size = 0;
	code.name = add_text(dump, name);
	uint32_t *known = u64map_put(&reading->by_index, index, 0, NULL);
	struct jitdump_code *slot = code.name && known ? vec_push(&dump->codes) : NULL;
	if (!slot)
		return false;
	*known = dump->codes.count - 1;
	*slot = code;
	take_lines(reading, slot);
	return add_place(dump, time, code.start, slot, code.size);
}

static bool read_move(struct jitdump_reader *reading, struct cursor *at, uint64_t time,
		      bool *bad_ret)
{
	uint64_t vma, from, to, size, index;
	uint32_t pid, tid;
	const uint32_t *known = NULL;
	if (cursor_u32(at, &pid) && cursor_u32(at, &tid) && cursor_u64(at, &vma) &&
	    cursor_u64(at, &from) && cursor_u64(at, &to) && cursor_u64(at, &size) &&
	    cursor_u64(at, &index))
		known = u64map_find(&reading->by_index, index);
	*bad_ret = !known;
	if (!known)
		return true;
	return add_place(reading->dump, time, to, &reading->dump->codes.items[*known], size);
}

/* Reads entries of a LINES record up to the first incomplete one. */
static bool read_entries(struct jitdump *dump, struct cursor *at, uint64_t start, uint64_t count,
			 bool *bad_ret)
{
	const char *file = NULL, *text;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address;
		uint32_t number, discriminator;
		*bad_ret = !cursor_u64(at, &address) || !cursor_u32(at, &number) ||
			   !cursor_u32(at, &discriminator) || !cursor_text(at, &text) ||
			   dump->lines.count == UINT32_MAX;
		if (*bad_ret)
			return true;
		if (strcmp(text, "\xff") != 0)
			file = add_text(dump, text);
		else if (!file)
			continue;
		struct jitdump_line *line = file ? vec_push(&dump->lines) : NULL;
		if (!line)
			return false;
		*line = (struct jitdump_line){
			.offset = address - start,
			.file = file,
			.line = number,
			.order = i,
		};
		if (address < start)
			dump->lines.count--;
	}
	return true;
}

static bool read_lines(struct jitdump_reader *reading, struct cursor *at, bool *bad_ret)
{
	struct jitdump *dump = reading->dump;
	struct pending pending = {.first = dump->lines.count};
	uint64_t start, count;
	*bad_ret = !cursor_u64(at, &start) || !cursor_u64(at, &count) ||
		   reading->pending.count >= UINT32_MAX - 1;
	if (*bad_ret)
		return true;
	if (!read_entries(dump, at, start, count, bad_ret))
		return false;
	pending.count = dump->lines.count - pending.first;
	if (!pending.count)
		return true;
	uint32_t *index = u64map_put(&reading->lines_of, start, 0, NULL);
	struct pending *slot = index ? vec_push(&reading->pending) : NULL;
	if (!slot)
		return false;
	*slot = pending;
	*index = reading->pending.count;
	return true;
}

/*
 * Reads the sizes of an UNWIND record. Its content is read when a stack needs it. V8 states a mapped size
 * of 0, and CPython one that is rounded up.
 */
static bool read_unwind(struct jitdump_reader *reading, struct cursor *at, uint64_t end)
{
	uint64_t size, header, mapped;
	reading->frames_size = 0;
	if (!cursor_u64(at, &size) || !cursor_u64(at, &header) || !cursor_u64(at, &mapped) ||
	    header > size || size > end - cursor_offset(at))
		return false;
	if (size - header > JITDUMP_FRAMES_MAX)
		return true;
	reading->frames_offset = cursor_offset(at);
	reading->frames_size = size - header;
	return true;
}

/*
 * Sets dump->began from the first record. The header's time may be of another clock (V8 writes
 * microseconds since 1970), so it is used only if it is shortly before the first record's time.
 */
static void set_begin(struct jitdump_reader *reading, uint64_t time)
{
	uint64_t before = time - reading->timestamp;
	if (reading->timed)
		return;
	reading->timed = true;
	reading->dump->began = reading->timestamp <= time && before < HEADER_BEFORE_NS ?
				       reading->timestamp : time;
}

/*
 * Reads the record at *offset and advances *offset to the next one. *end_ret: there is no further
 * record.
 */
static struct sp_error *read_next(struct jitdump_reader *reading, uint64_t *offset, bool *end_ret)
{
	struct input *input = &reading->input;
	uint32_t id, size;
	uint64_t time;
	struct cursor at;
	*end_ret = true;
	if (*offset >= input->size)
		return NULL;
	reading->dump->cut_at = *offset;
	struct sp_error *error = fetch(input, *offset, PREFIX_SIZE, &at);
	if (error || !cursor_u32(&at, &id) || !cursor_u32(&at, &size) || !cursor_u64(&at, &time) ||
	    size > input->size - *offset)
		return error;
	if (size < PREFIX_SIZE) {
		reading->dump->bad_records++;
		return NULL;
	}
	size_t limit = id == RECORD_LINES ? LINES_SIZE_MAX : HEAD_SIZE;
	error = fetch(input, *offset, size < limit ? size : limit, &at);
	if (error || !cursor_skip(&at, PREFIX_SIZE))
		return error;

	/* File offset after the record: a LOAD record's code bytes end there. */
	uint64_t end = *offset + size;
	bool bad = false, good = true;
	set_begin(reading, time);
	switch (id) {
	case RECORD_LOAD:
		good = read_load(reading, &at, time, end, &bad);
		break;
	case RECORD_MOVE:
		good = read_move(reading, &at, time, &bad);
		break;
	case RECORD_LINES:
		good = read_lines(reading, &at, &bad);
		break;
	case RECORD_UNWIND:
		bad = !read_unwind(reading, &at, end);
		break;
	case RECORD_CLOSE:
	default:
		break;
	}
	reading->dump->bad_records += bad;
	NEED(good);
	reading->dump->cut_at = 0;
	*offset += size;
	*end_ret = false;
	return NULL;
}

/*
 * Subtracts the ELF header size that V8 adds, if no line is at the beginning of any code and some are
 * after their code, or many codes have lines.
 */
static void shift_lines(const struct jitdump_reader *reading)
{
	struct jitdump *dump = reading->dump;
	if (reading->below || !(reading->beyond || reading->with_lines >= SHIFTED_ENOUGH))
		return;
	vec_each (line, &dump->lines)
		if (line->offset >= ELF_HEADER_SIZE)
			line->offset -= ELF_HEADER_SIZE;
}

struct sp_error *jitdump_read(int fd, const char *path, uint64_t memory, struct jitdump **ret)
{
	CLEANUP(cleanup_jitdump_free) struct jitdump *dump = calloc(1, sizeof(*dump));
	CLEANUP(reading_deinit) struct jitdump_reader reading = {
		.dump = dump,
		.input = {.fd = fd, .path = path},
	};
	struct stat status;
	uint64_t offset = 0;
	bool end = false;
	if (!dump || !(dump->path = strdup(path)))
		return error_no_memory();
	if (fstat(fd, &status))
		return error_os(errno, "cannot read %s", path);
	dump->held_fd = -1;
	dump->device = status.st_dev;
	dump->inode = status.st_ino;
	reading.input.size = status.st_size > 0 ? (uint64_t)status.st_size : 0;
	struct sp_error *error = read_header(&reading, &offset);
	while (!error && !end) {
		error = read_next(&reading, &offset, &end);
		if (!error && jitdump_memory(dump) > memory)
			error = error_new(SP_ERROR_LIMIT, "%s is too large", path);
	}
	if (error)
		return error;
	shift_lines(&reading);
	*ret = take_ptr(dump);
	return NULL;
}

const struct jitdump_code *jitdump_find(const struct jitdump *dump, uint64_t file_offset)
{
	size_t count = sorted_up_to(dump->codes.items, dump->codes.count, .file_offset, file_offset);
	if (!count)
		return NULL;
	const struct jitdump_code *code = &dump->codes.items[count - 1];
	return file_offset - code->file_offset < code->size ? code : NULL;
}

const struct jitdump_line *jitdump_line_at(const struct jitdump *dump,
					   const struct jitdump_code *code, uint64_t file_offset)
{
	if (!code->line_count)
		return NULL;
	const struct jitdump_line *lines = &dump->lines.items[code->first_line];
	size_t count = sorted_up_to(lines, code->line_count, .offset, file_offset - code->file_offset);
	return count ? &lines[count - 1] : NULL;
}
