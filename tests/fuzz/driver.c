/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main() of a fuzz target in an ordinary build: runs every seed of its corpus
 * (tests/fuzz/corpus/NAME for fuzz_NAME), then mutations of them, always the same
 * ones. With --enable-fuzzing, libFuzzer takes its place.
 *
 *	fuzz_NAME              the corpus and SPROF_FUZZ_RUNS (3000) mutations
 *	fuzz_NAME FILE...      these inputs alone
 *
 * An input that kills the target, or takes more than ten seconds, is left in
 * fuzz_NAME.crash in the working folder.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

#define SIZE_LIMIT (1 << 20)
#define SECONDS_LIMIT 10

struct input {
	uint8_t *bytes;
	size_t size;
};

/* The input at work, for the signal handler. */
static struct input current;
static char crash_path[4096];

static void keep_input(void)
{
	int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return;
	size_t done = 0;
	while (done < current.size) {
		ssize_t written = write(fd, current.bytes + done, current.size - done);
		if (written <= 0)
			break;
		done += (size_t)written;
	}
	close(fd);
	static const char text[] = "# the input is kept in ";
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDOUT_FILENO, crash_path, strlen(crash_path)) < 0 ||
	    write(STDOUT_FILENO, "\n", 1) < 0)
		_exit(1);
}

static void on_signal(int signal_number)
{
	keep_input();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void catch_signals(void)
{
	static const int always[] = {SIGABRT, SIGALRM};
	static const int without_sanitizer[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		signal(always[i], on_signal);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(keep_input);
		return;
	}
	for (size_t i = 0; i < sizeof(without_sanitizer) / sizeof(without_sanitizer[0]); i++)
		signal(without_sanitizer[i], on_signal);
}

/* The target gets a copy of exact size, so that a sanitizer sees a byte too far. */
static void run(struct input input)
{
	current.size = input.size;
	current.bytes = malloc(input.size ? input.size : 1);
	if (!current.bytes)
		abort();
	memcpy(current.bytes, input.bytes, input.size);
	alarm(SECONDS_LIMIT);
	LLVMFuzzerTestOneInput(current.bytes, current.size);
	alarm(0);
	free(current.bytes);
}

static bool read_input(const char *path, struct input *ret)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	ret->bytes = malloc(SIZE_LIMIT);
	ret->size = ret->bytes ? fread(ret->bytes, 1, SIZE_LIMIT, file) : 0;
	bool good = ret->bytes && !ferror(file);
	fclose(file);
	return good;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All files of the folder, in the order of their names. */
static size_t read_corpus(const char *folder, struct input **inputs_ret)
{
	char *names[1024];
	size_t count = 0;
	DIR *dir = opendir(folder);
	if (!dir)
		return 0;
	for (struct dirent *entry; (entry = readdir(dir)) && count < 1024;)
		if (entry->d_name[0] != '.' && !(names[count++] = strdup(entry->d_name)))
			abort();
	closedir(dir);
	qsort(names, count, sizeof(names[0]), by_name);
	struct input *inputs = calloc(count + 1, sizeof(*inputs));
	if (!inputs)
		abort();
	for (size_t i = 0; i < count; i++) {
		char path[8192];
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (!read_input(path, &inputs[i])) {
			perror(path);
			exit(99);
		}
		free(names[i]);
	}
	*inputs_ret = inputs;
	return count;
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static size_t random_below(size_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return limit ? (size_t)((random_state >> 11) % limit) : 0;
}

/* Numbers that code which trusts its input gets wrong. */
static uint64_t odd_number(void)
{
	static const uint64_t numbers[] = {
		0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		0xfffffff8, INT64_MAX, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63,
	};
	return numbers[random_below(sizeof(numbers) / sizeof(numbers[0]))];
}

/* One change in place; *size may shrink or grow up to SIZE_LIMIT. */
static void mutate(uint8_t *bytes, size_t *size, const struct input *other)
{
	size_t at = random_below(*size);
	size_t rest = *size - at;
	uint64_t number = odd_number();
	size_t width = (size_t)1 << random_below(4);
	size_t length = random_below(rest) + 1;
	switch (random_below(7)) {
	case 0:
		if (*size)
			bytes[at] ^= (uint8_t)(1 << random_below(8));
		break;
	case 1:
		if (*size)
			bytes[at] = (uint8_t)random_below(256);
		break;
	case 2: /* numbers lie aligned, mostly */
		at &= ~(width - 1);
		memcpy(bytes + at, &number, width < *size - at ? width : *size - at);
		break;
	case 3:
		*size = at;
		break;
	case 4: /* a piece less */
		if (*size) {
			memmove(bytes + at, bytes + at + length - 1, rest - length + 1);
			*size -= length - 1;
		}
		break;
	case 5: /* a piece twice */
		if (*size && *size + length <= SIZE_LIMIT) {
			memmove(bytes + at + length, bytes + at, rest);
			*size += length;
		}
		break;
	default: /* a piece of another seed */
		if (other->size) {
			size_t from = random_below(other->size);
			size_t piece = random_below(other->size - from) + 1;
			piece = piece < rest ? piece : rest;
			memcpy(bytes + at, other->bytes + from, piece);
		}
	}
}

static void run_mutations(const struct input *inputs, size_t count, size_t runs)
{
	uint8_t *bytes = malloc(SIZE_LIMIT);
	if (!bytes)
		abort();
	for (size_t i = 0; i < runs; i++) {
		struct input seed = inputs[random_below(count)];
		struct input mutant = {bytes, seed.size};
		memcpy(bytes, seed.bytes, seed.size);
		for (size_t changes = random_below(6) + 1; changes; changes--)
			mutate(bytes, &mutant.size, &inputs[random_below(count)]);
		run(mutant);
	}
	free(bytes);
}

static int run_files(int count, char **paths)
{
	for (int i = 0; i < count; i++) {
		struct input input;
		if (!read_input(paths[i], &input)) {
			perror(paths[i]);
			return 1;
		}
		run(input);
		printf("%s: survived\n", paths[i]);
		free(input.bytes);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	name = name ? name + 1 : argv[0];
	if (!strncmp(name, "lt-", 3))
		name += 3;
	snprintf(crash_path, sizeof(crash_path), "%s.crash", name);
	catch_signals();
	if (argc > 1)
		return run_files(argc - 1, argv + 1);

	const char *top = getenv("top_srcdir");
	const char *runs = getenv("SPROF_FUZZ_RUNS");
	char folder[4096];
	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", top ? top : ".",
		 strncmp(name, "fuzz_", 5) ? name : name + 5);
	struct input *inputs = NULL;
	size_t count = read_corpus(folder, &inputs);
	if (!count) {
		printf("not ok 1 - there are seeds in %s\n1..1\n", folder);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		run(inputs[i]);
	printf("ok 1 - %zu seeds\n", count);
	fflush(stdout);
	size_t mutations = runs ? strtoul(runs, NULL, 10) : 3000;
	run_mutations(inputs, count, mutations);
	printf("ok 2 - %zu mutations\n1..2\n", mutations);
	for (size_t i = 0; i < count; i++)
		free(inputs[i].bytes);
	free(inputs);
	return 0;
}
