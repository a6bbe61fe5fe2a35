/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints code around a sample as perf script does: the instruction at the sampled address, and the
 * instructions between the branches of its branch stack, oldest first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cmd/script/script.h"
#include "memory.h"

/* Limit on the bytes of code between two branches, as in perf: 16 KiB, less the longest instruction. */
#define BLOCK_MAX (16384 - SP_INSTRUCTION_MAX)

/*
 * Bytes of code printed from the newest branch's target on if the sampled address is before it: a later
 * branch was not recorded then.
 */
#define TAIL_SIZE 128

/*
 * Limit of instructions printed for one sample. Branch stacks have some dozen entries, but a damaged
 * one may have thousands, each with a block of maximal size: gigabytes of text.
 */
#define STEPS_MAX (1u << 16)

/* Width of a branch instruction, as in perf. */
#define INSTRUCTION_WIDTH 30

/* State while the blocks of a sample are printed. */
struct block_walk {
	struct printer *printer;
	const struct sp_sample *sample;
	const struct sp_event *event;
	uint64_t fields;
	uint64_t symbol_start; /* start of the function printed last */
	const char *symbol;    /* NULL: none */
	uint64_t cycles;       /* sum of cycles of the branches printed so far */
	unsigned int steps;    /* instructions printed so far */
	uint16_t machine;
	size_t size;           /* valid bytes in `code` */
	uint8_t code[BLOCK_MAX + SP_INSTRUCTION_MAX];
};

/* Prints the instruction at offset `at` of the block. Returns its length; 0: invalid. */
static size_t put_instruction(struct block_walk *walk, uint64_t ip, size_t at, size_t width)
{
	struct buffer *out = &walk->printer->out;
	size_t begin = out->count, length = 0, left = walk->size - at;
	const uint8_t *code = walk->code + at;
	const char *text = walk->fields & FIELD(BRSTACKDISASM) ?
				   disassembly_text(&walk->printer->disassembly, walk->machine, ip,
						    (struct sp_bytes){code, left}, &length) : NULL;
	if (text) {
		buffer_string(out, text);
	} else {
		length = sp_instruction_length(walk->machine, code, left);
		buffer_string(out, length ? "insn: " : "<bad>");
		for (size_t i = 0; i < length; i++)
			buffer_format(out, "%02x ", code[i]);
	}
	buffer_pad(out, begin, width);
	return length;
}

/*
 * Reads the code from `start` up to and including the instruction at `end`. Returns false if the code
 * is not available.
 */
static bool read_block(struct block_walk *walk, uint64_t start, uint64_t end)
{
	walk->size = 0;
	if (!start || !end || end < start || end - start > BLOCK_MAX)
		return false;
	size_t size = (size_t)(end - start) + SP_INSTRUCTION_MAX;
	if (!sp_teller_code(walk->printer->teller, start, walk->code, size, &walk->machine))
		return false;
	walk->size = size;
	return true;
}

/* Prints the source line, if requested and known. */
static void put_line(struct block_walk *walk, const char *before, const struct sp_place *place)
{
	const struct sp_place_frame *inner = place ? sp_place_frame(place, 0) : NULL;
	if (!(walk->fields & FIELD(SRCLINE)) || !inner || !inner->file || !inner->line)
		return;
	bool whole = walk->printer->view->arguments->selection.whole_paths;
	buffer_string(&walk->printer->out, before);
	buffer_name(&walk->printer->out, whole ? inner->file : text_base_name(inner->file));
	buffer_format(&walk->printer->out, ":%u", inner->line);
}

/* Prints "\tfunction+12:" if the address is not in the function printed last. */
static void put_function(struct block_walk *walk, uint64_t ip)
{
	struct buffer *out = &walk->printer->out;
	const struct sp_place *place = sp_teller_place(walk->printer->teller, ip);
	if (!place)
		memory_end();
	const struct sp_place_frame *frame = sp_place_frame(place, place->frame_count - 1);
	if (!frame->name ||
	    (walk->symbol == frame->name && walk->symbol_start == ip - frame->offset))
		return;
	walk->symbol = frame->name;
	walk->symbol_start = ip - frame->offset;
	buffer_char(out, '\t');
	buffer_name(out, frame->name);
	if (frame->offset)
		buffer_format(out, "+%" PRIu64, frame->offset);
	buffer_char(out, ':');
	put_line(walk, "\t", place);
	buffer_char(out, '\n');
}

/*
 * Prints how often each event occurred before the branch, by the branch's counters. "+" after a count:
 * the counter was at its maximum.
 */
static void put_counters(struct block_walk *walk, size_t index)
{
	const struct sp_reader *reader = walk->printer->view->reader;
	unsigned int width = walk->printer->view->branch_counter_width, shift = 0;
	uint64_t most = (UINT64_C(1) << width) - 1;
	struct buffer *out = &walk->printer->out;
	if (!(walk->fields & FIELD(BRCNTR)) || !walk->sample->branch_counters)
		return;
	buffer_string(out, "br_cntr:");
	for (size_t i = 0; i < sp_reader_event_count(reader) && shift + width <= 64; i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		if (!(event->attr.branch_sample_type & SCRIPT_BRANCH_COUNTERS))
			continue;
		uint64_t count = walk->sample->branch_counters[index] >> shift & most;
		buffer_char(out, ' ');
		buffer_name(out, event->name);
		buffer_format(out, " %" PRIu64 "%s", count, count == most ? "+" : "");
		shift += width;
	}
	buffer_char(out, '\t');
}

/*
 * Prints a branch with its flags, cycles and IPC. `number`: count of instructions since the previous
 * branch; 0: unknown.
 */
static void put_branch(struct block_walk *walk, uint64_t ip, size_t at, size_t index,
		       unsigned int number)
{
	struct buffer *out = &walk->printer->out;
	uint64_t flags = walk->sample->branches[index].flags;
	/*
	 * Bits of perf_event.h: mispredicted, predicted, in transaction, aborted; then 16 bits of
	 * cycles.
	 */
	uint64_t cycles = flags >> 4 & 0xffff;
	buffer_format(out, "\t%016" PRIx64 "\t", ip);
	size_t length = put_instruction(walk, ip, at, INSTRUCTION_WIDTH);
	buffer_char(out, '\t');
	if (walk->fields & FIELD(BRSTACKINSNLEN))
		buffer_format(out, "ilen: %zu\t", length);
	if (walk->fields & FIELD(SRCLINE)) {
		size_t begin = out->count;
		put_line(walk, " srcline: ", sp_teller_place(walk->printer->teller, ip));
		if (out->count > begin)
			buffer_char(out, '\t');
	}
	put_counters(walk, index);
	buffer_format(out, "#%s%s%s%s", flags & 2 ? " PRED" : "", flags & 1 ? " MISPRED" : "",
		      flags & 4 ? " INTX" : "", flags & 8 ? " ABORT" : "");
	if (cycles) {
		walk->cycles += cycles;
		buffer_format(out, " %" PRIu64 " cycles [%" PRIu64 "]", cycles, walk->cycles);
		if (number)
			buffer_format(out, " %.2f IPC", (double)number / (double)cycles);
	}
	buffer_char(out, '\n');
}

/* Prints an instruction on its own line. Returns its length; 0: invalid. */
static size_t put_step(struct block_walk *walk, uint64_t ip, size_t at)
{
	struct buffer *out = &walk->printer->out;
	buffer_format(out, "\t%016" PRIx64 "\t", ip);
	size_t length = put_instruction(walk, ip, at, 0);
	if (walk->fields & FIELD(BRSTACKINSNLEN))
		buffer_format(out, "\tilen: %zu", length);
	buffer_char(out, '\n');
	return length;
}

/* Prints the code from the target of a branch to branches[index], the next one in time. */
static void put_block(struct block_walk *walk, uint64_t start, uint64_t end, size_t index)
{
	uint64_t at = 0;
	for (unsigned int number = 1; at < walk->size && walk->steps < STEPS_MAX; number++) {
		walk->steps++;
		put_function(walk, start + at);
		if (start + at == end) {
			put_branch(walk, end, (size_t)at, index, number);
			break;
		}
		size_t length = put_step(walk, start + at, (size_t)at);
		if (!length)
			break;
		at += length;
	}
	if (at != end - start && walk->steps < STEPS_MAX)
		buffer_string(&walk->printer->out,
			      "\tmismatch of LBR data and executable\n");
}

/*
 * Prints the code from the newest branch's target to the sampled address. If an instruction leaves this
 * code before, stops there: its branch was not recorded.
 */
static void put_last_block(struct block_walk *walk)
{
	uint64_t start = walk->sample->branches[0].to, end = walk->sample->ip;
	uint64_t kinds = walk->event->attr.branch_sample_type;
	bool all = !kinds || kinds & PERF_SAMPLE_BRANCH_ANY;
	if (end < start)
		end = start + TAIL_SIZE;
	bool read = read_block(walk, start, end);
	put_function(walk, start);
	if (!read) {
		if (read_block(walk, walk->sample->ip, walk->sample->ip))
			put_step(walk, walk->sample->ip, 0);
		return;
	}
	for (uint64_t at = 0; at <= end - start;) {
		size_t length = put_step(walk, start + at, (size_t)at);
		if (!length)
			break;
		if (all && start + at != walk->sample->ip &&
		    sp_instruction_leaves(walk->machine, walk->code + at, walk->size - (size_t)at)) {
			buffer_string(&walk->printer->out, "\t... not reaching sample ...\n");
			break;
		}
		at += length;
	}
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

void script_put_blocks(struct printer *printer, const struct sp_event *event,
		       const struct sp_sample *sample, uint64_t fields)
{
	uint64_t most = printer->view->arguments->max_blocks;
	size_t count = sample->branch_count;
	struct block_walk walk = {
		.printer = printer, .sample = sample, .event = event, .fields = fields};
	if (!count)
		return;
	if (most && count > most + 1)
		count = (size_t)most + 1;
	buffer_char(&printer->out, '\n');
	/* The code that was executed before the oldest branch is unknown: prints only the branch. */
	const struct sp_branch *oldest = &sample->branches[count - 1];
	if (read_block(&walk, oldest->from, oldest->from)) {
		put_function(&walk, oldest->from);
		put_branch(&walk, oldest->from, 0, count - 1, 0);
	}
	for (size_t i = count - 1; i-- > 0 && walk.steps < STEPS_MAX;) {
		uint64_t start = sample->branches[i + 1].to, end = sample->branches[i].from;
		/*
		 * If the event records no branches in the kernel, entry to it and exit from it are
		 * missing: continues at the next branch.
		 */
		if (is_kernel(start) != is_kernel(end) && i > 0)
			end = sample->branches[--i].from;
		if (is_kernel(start) == is_kernel(end) && read_block(&walk, start, end))
			put_block(&walk, start, end, i);
	}
	if (walk.steps >= STEPS_MAX)
		buffer_string(&printer->out, "\t... and more code than is shown ...\n");
	else if (sample->branches[0].from != sample->ip && !(sample->branches[0].flags & 8))
		put_last_block(&walk);
}

void script_put_instruction(struct printer *printer, const struct sp_sample *sample,
			    uint64_t fields)
{
	uint8_t code[SP_INSTRUCTION_MAX];
	struct buffer *out = &printer->out;
	uint16_t machine = 0;
	size_t length = 0;
	if (sp_teller_code(printer->teller, sample->ip, code, sizeof(code), &machine))
		length = sp_instruction_length(machine, code, sizeof(code));
	if (fields & FIELD(INSNLEN))
		buffer_format(out, " ilen: %zu", length);
	if (fields & FIELD(INSN) && length) {
		buffer_string(out, " insn:");
		for (size_t i = 0; i < length; i++)
			buffer_format(out, " %02x", code[i]);
	}
	if (fields & FIELD(DISASM) && length) {
		const char *text = disassembly_text(&printer->disassembly, machine, sample->ip,
						    (struct sp_bytes){code, sizeof(code)}, &length);
		buffer_format(out, "\t\t%s", text ? text : "(unknown)");
	}
}
