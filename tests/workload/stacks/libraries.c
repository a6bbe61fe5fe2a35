/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared libraries: calls through PLT entries, symbols bound as they are used, twins. */
#include "library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stacks.h"

static OWN void plt_mid(void)
{
	uint64_t value = 1;
	for (unsigned int i = 0; i < 100000; i++)
		value += plt_leaf(value);
	__asm__ volatile("" : : "r"(value));
}

static OWN void run_plt(void)
{
	while (!is_over()) {
		plt_mid();
		STAY();
	}
}

/* The library's own path. */
static const char *library_path(void)
{
	Dl_info info;
	if (!dladdr((void *)(uintptr_t)plt_leaf, &info))
		exit(1);
	return info.dli_fname;
}

static uint64_t (*function_of(void *library, const char *name))(uint64_t)
{
	void *found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fprintf(stderr, "stacks: %s\n", dlerror());
		exit(1);
	}
	uint64_t (*function)(uint64_t);
	memcpy(&function, &found, sizeof(function));
	return function;
}

/* In a namespace of its own it is mapped again, and every symbol is bound again. */
static OWN void lazy_close(void *library)
{
	dlclose(library);
	STAY();
}

static OWN void *lazy_open(const char *path)
{
	void *library = dlmopen(LM_ID_NEWLM, path, RTLD_LAZY | RTLD_LOCAL);
	STAY();
	return library;
}

static OWN uint64_t (*lazy_find(void *library, const char *name))(uint64_t)
{
	uint64_t (*found)(uint64_t) = function_of(library, name);
	STAY();
	return found;
}

static OWN void lazy_round(const char *path)
{
	void *library = lazy_open(path);
	uint64_t (*calls)(uint64_t) = lazy_find(library, "lazy_calls");
	for (unsigned int i = 0; i < 100; i++)
		calls(1);
	lazy_close(library);
	STAY();
}

static OWN void run_lazy(void)
{
	const char *path = library_path();
	while (!is_over())
		lazy_round(path);
}

static OWN void run_twins(void)
{
	void *library = lazy_open(library_path());
	uint64_t (*enter)(uint64_t) = function_of(library, "twin_enter");
	while (!is_over()) {
		twin_enter(1);
		enter(2);
	}
}

const struct scenario library_scenarios[] = {
	{.name = "plt",
	 .run = run_plt,
	 .truth = "main run_plt plt_mid! plt_leaf!\nmain run_plt plt_mid! plt_leaf@plt!"},
	{.name = "lazy",
	 .run = run_lazy,
	 .truth = "main run_lazy lazy_round! lazy_open\nmain run_lazy lazy_round! lazy_close\n"
		  "main run_lazy lazy_round! lazy_find\nmain run_lazy lazy_round! lazy_calls"},
	{.name = "twins", .run = run_twins, .truth = "main run_twins twin_enter! twin_leaf!"},
	{0},
};
