/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage HOW FILE [STEP]: reads FILE, a recording, once for each way to damage it:
 *
 *	cut	its first N bytes alone, N = 0, STEP, 2 STEP, …
 *	flip	a byte changed, the first, the one STEP further, …
 *	zero	a block of zeros (512 bytes), STEP apart
 *	drop	such a block missing
 *	grow	a record's size made larger: of every STEP-th, in each of a few ways
 *
 * Where its records lie is known from headers that are read here, once more and without the
 * library. Of what is damaged all samples must be read that lie outside of the damage, but for
 * the few that stand between it and where reading may resume; of what was cut, exactly those that
 * are there. If fewer samples are read than there were, something must be said; and what cannot be
 * opened must be called damaged, with an offset. None may take a second, or memory of more than
 * ten times the file and 64 MB. Of a record that has become longer all records must be read, that
 * one among them, and it must be said, wherever what a record holds says how long it is.
 *
 * Prints what it did in one line; what went wrong, in others. Exit status 0: nothing did.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sprof/sprof.h>

#define BLOCK 512
#define PIPE_HEADER 16
#define FILE_HEADER 104
#define RECORD_SAMPLE 9
#define RECORD_COMPRESSED 81
#define RECORD_COMPRESSED2 83
#define RECORD_MAX 65536
#define LAST_KERNEL_TYPE 22
#define SIZE_OFFSET 6 /* in a record's header: the u16 that says how long it is */

/* Reading resumes at the first place where four headers in a row are plausible. */
#define RESUMES_WITHIN 6

/* Ways in which a record grows: by a word, by few, by many, over all of the next one or two. */
#define GROWTHS 5
#define TYPES 128

#define BATCH 500     /* cases of one process, so that memory is measured */
#define SHOWN 8       /* Number of failures to print. */

enum how { CUT, FLIP, ZERO, DROP, GROW, HOWS };
static const char *const how_names[HOWS] = {"cut", "flip", "zero", "drop", "grow"};

struct place {
	uint64_t begin, end;
	uint32_t type;
	bool sample;
};

struct recording {
	const char *path;
	uint8_t *bytes;
	uint64_t size;
	bool pipe, compressed;
	uint64_t data_begin, data_end;
	struct place *places;
	size_t count;
	uint64_t samples; /* the library's count in the undamaged file */
	uint64_t types[TYPES]; /* all records, the same */
};

/* Results of reading a file. */
struct got {
	bool opened;
	uint64_t samples, types[TYPES];
	size_t places; /* number of damaged places */
	double seconds;
	char why[256]; /* it did not open */
	enum sp_error_code code;
};

struct totals {
	uint64_t cases, refused, silent, wrong;
	double most_seconds;
};

static double cpu_seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "damage: %s\n", what);
	exit(2);
}

/* -- The recording as it is ------------------------------------------------ */

static uint64_t word(const struct recording *recording, uint64_t offset)
{
	uint64_t value = 0;
	if (offset + sizeof(value) <= recording->size)
		memcpy(&value, recording->bytes + offset, sizeof(value));
	return value;
}

static void load(const char *path, struct recording *ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < FILE_HEADER)
		die("cannot read the recording");
	*ret = (struct recording){.path = path, .size = (uint64_t)st.st_size};
	ret->bytes = malloc(ret->size);
	if (!ret->bytes || read(fd, ret->bytes, ret->size) != st.st_size)
		die("cannot read the recording");
	close(fd);
}

static void find_records(struct recording *recording)
{
	recording->pipe = word(recording, 8) == PIPE_HEADER;
	recording->data_begin = recording->pipe ? PIPE_HEADER : word(recording, 40);
	recording->data_end = recording->pipe ? recording->size
					      : recording->data_begin + word(recording, 48);
	/* A record takes 8 bytes at least. */
	recording->places = calloc(recording->size / 8 + 1, sizeof(*recording->places));
	if (!recording->places || recording->data_end > recording->size)
		die("no whole recording");
	for (uint64_t at = recording->data_begin; at + 8 <= recording->data_end;) {
		uint64_t header = word(recording, at), size = header >> 48;
		uint32_t type = (uint32_t)header;
		if (size < 8)
			die("a record of no size");
		if (type == RECORD_COMPRESSED2)
			size += (word(recording, at + 8) + 7) & ~UINT64_C(7);
		recording->compressed |= type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
		recording->places[recording->count++] =
			(struct place){at, at + size, type, type == RECORD_SAMPLE};
		at += size;
	}
}

/* -- Reading --------------------------------------------------------------- */

static void read_records(struct sp_reader *reader, struct got *got)
{
	for (;;) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error && sp_error_code(error) != SP_ERROR_FORMAT) {
			snprintf(got->why, sizeof(got->why), "%s", sp_error_message(error));
			got->code = sp_error_code(error);
		}
		bool over = error ? sp_error_code(error) != SP_ERROR_FORMAT : !record;
		sp_error_free(error);
		if (over)
			return;
		got->samples += record && record->type == RECORD_SAMPLE;
		if (record && record->type < TYPES)
			got->types[record->type]++;
	}
}

static void read_file(struct sp_ctx *ctx, const char *path, struct got *ret)
{
	struct sp_reader *reader = NULL;
	struct got got = {0};
	double begin = cpu_seconds();
	struct sp_error *error = sp_reader_open(ctx, path, &reader);
	if (error) {
		snprintf(got.why, sizeof(got.why), "%s", sp_error_message(error));
		got.code = sp_error_code(error);
		sp_error_free(error);
	} else {
		got.opened = true;
		read_records(reader, &got);
		got.places = sp_reader_damage_count(reader);
		sp_reader_free(reader);
	}
	got.seconds = cpu_seconds() - begin;
	*ret = got;
}

/* -- Damage ---------------------------------------------------------------- */

static bool put(int fd, const uint8_t *bytes, uint64_t size)
{
	return write(fd, bytes, size) == (ssize_t)size;
}

/* Whether what a record holds says how long it is; not so attrs, features, traces and what is packed. */
static bool has_length(uint32_t type)
{
	return type <= LAST_KERNEL_TYPE || type == SP_RECORD_FINISHED_ROUND ||
	       type == SP_RECORD_ID_INDEX || (type >= SP_RECORD_THREAD_MAP && type <= SP_RECORD_TIME_CONV) ||
	       type == SP_RECORD_FINISHED_INIT || type == SP_RECORD_HEADER_BUILD_ID;
}

/* The record that case `at` makes grow, or NULL where it cannot: how long it says to be then. */
static const struct place *growth(const struct recording *recording, uint64_t at, uint64_t *size_ret)
{
	uint64_t index = at / GROWTHS, random = at * 2654435761u >> 8;
	const struct place *place = &recording->places[index];
	uint64_t size = place->end - place->begin, behind = recording->count - index - 1;
	const uint64_t by[GROWTHS] = {8, 8 + random % 16 * 8, 8 + random % 1024 * 8,
				      behind > 0 ? place[1].end - place->end : 0,
				      behind > 1 ? place[2].end - place->end : 0};
	*size_ret = size + by[at % GROWTHS];
	/* A size that no record of the kernel's has makes it be skipped, and what is behind it read. */
	bool odd = place->type <= LAST_KERNEL_TYPE && *size_ret & 7;
	bool fits = !odd && *size_ret < RECORD_MAX &&
		    place->begin + *size_ret <= recording->data_end;
	return has_length(place->type) && fits && *size_ret > size ? place : NULL;
}

static void make_grown(const struct recording *recording, uint64_t at, const char *path)
{
	uint64_t size;
	const struct place *place = growth(recording, at, &size);
	uint16_t said = (uint16_t)size;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || !put(fd, recording->bytes, recording->size) ||
	    pwrite(fd, &said, sizeof(said), (off_t)place->begin + SIZE_OFFSET) != sizeof(said) ||
	    close(fd))
		die("cannot write a damaged copy");
}

/* The file at `path` is the recording with this damage. */
static void make(const struct recording *recording, enum how how, uint64_t at, const char *path)
{
	static const uint8_t zeros[BLOCK];
	uint64_t left = recording->size - at, block = left < BLOCK ? left : BLOCK;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool good = fd >= 0 && put(fd, recording->bytes, at);
	uint8_t other = recording->bytes[at < recording->size ? at : 0];
	/* Another value each time, the same in each run. */
	other ^= (uint8_t)(1 + at * 2654435761u % 255);
	if (how == FLIP)
		good = good && put(fd, &other, 1) && put(fd, recording->bytes + at + 1, left - 1);
	else if (how == ZERO)
		good = good && put(fd, zeros, block) &&
		       put(fd, recording->bytes + at + block, left - block);
	else if (how == DROP)
		good = good && put(fd, recording->bytes + at + block, left - block);
	if (!good || close(fd))
		die("cannot write a damaged copy");
}

/* Returns the end of the damaged bytes, or of the record that they seem to form. */
static uint64_t damage_end(const struct recording *recording, enum how how, uint64_t at)
{
	uint64_t end = how == FLIP ? at + 1 : at + BLOCK;
	for (size_t i = 0; how == FLIP && i < recording->count; i++) {
		uint64_t header = recording->places[i].begin;
		if (at >= header + SIZE_OFFSET && at < header + 8)
			end = header + RECORD_MAX;
	}
	return end < recording->size ? end : recording->size;
}

/* How many samples must be read at least, and may at most. */
static void expect(const struct recording *recording, enum how how, uint64_t at, uint64_t *least_ret,
		   uint64_t *most_ret)
{
	uint64_t end = damage_end(recording, how, at), before = 0, behind = 0;
	for (size_t i = 0; i < recording->count; i++) {
		const struct place *place = &recording->places[i];
		if (!place->sample)
			continue;
		before += place->end <= at;
		behind += place->begin >= end;
	}
	if (how == CUT) {
		*least_ret = *most_ret = before;
		return;
	}
	uint64_t lost = behind < RESUMES_WITHIN ? behind : RESUMES_WITHIN;
	*least_ret = before + behind - lost;
	*most_ret = UINT64_MAX;
}

/* Whether the damage is in what the samples cannot be read without. */
static bool hits_header(const struct recording *recording, uint64_t at)
{
	uint64_t first = recording->data_begin;
	/* In a stream the first records describe the events. */
	for (size_t i = 0; recording->pipe && i < recording->count; i++)
		if (recording->places[i].sample) {
			first = recording->places[i].begin;
			break;
		}
	return at < first;
}

static bool said(const struct got *got)
{
	return got->opened ? got->places > 0 : got->code == SP_ERROR_FORMAT && got->why[0];
}

static const char *judge(const struct recording *recording, enum how how, uint64_t at,
			 const struct got *got, struct totals *totals)
{
	uint64_t least, most;
	bool vital = hits_header(recording, at);
	expect(recording, how, at, &least, &most);
	if (got->seconds > 1)
		return "more than a second";
	if (!got->opened && got->code != SP_ERROR_FORMAT)
		return "not called damaged";
	if (!got->opened && !vital)
		return "not opened";
	if (got->opened && got->why[0])
		return "reading failed";
	if (how == CUT && !recording->pipe && at < recording->size && !said(got))
		return "a cut that is not told";
	if (got->samples < recording->samples && !recording->pipe && !said(got)) {
		/* A changed byte in a header may make the record a different one. */
		totals->silent++;
		if (how != FLIP)
			return "samples are missing, and it is not told";
	}
	if (vital || recording->compressed)
		return NULL;
	if (got->samples < least)
		return "too few samples";
	return got->samples > most ? "too many samples" : NULL;
}

/* Nothing is missing: what has become longer is read as it was, and all behind it. */
static const char *judge_grown(const struct recording *recording, const struct got *got)
{
	if (got->seconds > 1)
		return "more than a second";
	if (!got->opened || got->why[0])
		return "not read";
	if (!got->places)
		return "not told";
	return memcmp(got->types, recording->types, sizeof(got->types)) ? "other records" : NULL;
}

/* -- Compressed records: what is whole is read ------------------------------ */

/* Cut at the end of a record, and then anywhere in the next one: never fewer. */
static const char *judge_growth(const struct recording *recording, uint64_t at,
				const struct got *got, uint64_t *samples, uint64_t *whole)
{
	static size_t next;
	const char *wrong = got->samples < *whole ? "fewer samples than in the whole records" : NULL;
	if (at < recording->data_begin)
		return NULL;
	while (next < recording->count && recording->places[next].end <= at) {
		*whole = *samples = got->samples;
		next++;
	}
	if (got->samples > recording->samples)
		return "too many samples";
	return wrong;
}

static uint64_t case_count(const struct recording *recording, enum how how)
{
	return how == GROW ? recording->count * GROWTHS : recording->size;
}

/* All ways in which one record grows, then those of the record that is `step` further. */
static uint64_t next_case(enum how how, uint64_t at, uint64_t step)
{
	if (how != GROW)
		return at + step;
	return (at + 1) % GROWTHS ? at + 1 : at + 1 + (step - 1) * GROWTHS;
}

static uint64_t run_batch(struct sp_ctx *ctx, const struct recording *recording, enum how how,
			  uint64_t begin, uint64_t step, const char *path, struct totals *totals)
{
	uint64_t at = begin, samples = 0, whole = 0;
	for (int i = 0; i < BATCH && at < case_count(recording, how); i++) {
		struct got got;
		uint64_t size, here = at;
		at = next_case(how, at, step);
		if (how == GROW && !growth(recording, here, &size))
			continue;
		if (how == GROW)
			make_grown(recording, here, path);
		else
			make(recording, how, here, path);
		read_file(ctx, path, &got);
		const char *wrong = how == GROW ? judge_grown(recording, &got)
						: judge(recording, how, here, &got, totals);
		if (!wrong && recording->compressed && how == CUT)
			wrong = judge_growth(recording, here, &got, &samples, &whole);
		totals->cases++;
		totals->refused += !got.opened;
		if (got.seconds > totals->most_seconds)
			totals->most_seconds = got.seconds;
		if (wrong && totals->wrong++ < SHOWN)
			printf("%s %" PRIu64 ": %s: %" PRIu64 " of %" PRIu64
			       " samples, %zu places of damage, %.3f s %s\n",
			       how_names[how], here, wrong, got.samples, recording->samples,
			       got.places, got.seconds, got.why);
	}
	fflush(stdout);
	return at;
}

/* Runs in a child with its own memory; results come by a pipe. */
static uint64_t run_apart(struct sp_ctx *ctx, const struct recording *recording, enum how how,
			  uint64_t begin, uint64_t step, const char *path, struct totals *totals)
{
	struct { struct totals totals; uint64_t at; } result = {*totals, begin};
	int ends[2], status;
	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC))
		die("no pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("no process");
	if (!pid) {
		result.at = run_batch(ctx, recording, how, begin, step, path, &result.totals);
		_exit(write(ends[1], &result, sizeof(result)) != sizeof(result));
	}
	close(ends[1]);
	bool good = read(ends[0], &result, sizeof(result)) == sizeof(result);
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (!good || status) {
		printf("%s, from %" PRIu64 " on: died, status %#x\n", how_names[how], begin,
		       (unsigned int)status);
		result.totals.wrong++;
		result.at = begin + BATCH * step * (how == GROW ? GROWTHS : 1);
	}
	*totals = result.totals;
	return result.at;
}

int main(int argc, char **argv)
{
	struct recording recording = {0};
	struct totals totals = {0};
	struct sp_ctx *ctx = NULL;
	struct got got;
	char path[4096];
	enum how how = HOWS;
	for (int i = 0; argc >= 3 && i < HOWS; i++)
		if (!strcmp(argv[1], how_names[i]))
			how = (enum how)i;
	uint64_t step = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	if (how == HOWS || !step || sp_ctx_new(&ctx))
		die("usage: damage cut|flip|zero|drop|grow FILE [STEP]");
	load(argv[2], &recording);
	find_records(&recording);
	read_file(ctx, argv[2], &got);
	if (!got.opened || !got.samples || got.places)
		die("the recording is not whole to begin with");
	recording.samples = got.samples;
	memcpy(recording.types, got.types, sizeof(recording.types));
	snprintf(path, sizeof(path), "%s.%s", argv[2], how_names[how]);
	for (uint64_t at = 0; at < case_count(&recording, how);)
		at = run_apart(ctx, &recording, how, at, step, path, &totals);
	unlink(path);
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	uint64_t memory_kb = (uint64_t)usage.ru_maxrss;
	printf("%s: %" PRIu64 " cases of %" PRIu64 " samples, %" PRIu64 " do not open, %" PRIu64
	       " silent, %" PRIu64 " wrong; %.3f s and %" PRIu64 " KB at most\n", how_names[how],
	       totals.cases, recording.samples, totals.refused, totals.silent, totals.wrong,
	       totals.most_seconds, memory_kb);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	totals.wrong += memory_kb > 10 * recording.size / 1024 + 65536;
#endif
	free(recording.places);
	free(recording.bytes);
	sp_ctx_free(ctx);
	return totals.wrong != 0;
}
