/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads ncurses when a screen is opened: linking it would cost every command, such as `sprof
 * record`, the relocation of two libraries.
 */
#include "tui/screen.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>
#include "diag.h"
#include "memory.h"
#include "text.h"

/* Declared by ncurses' term.h, which has the name of a header of ours. */
char *tigetstr(const char *name);

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define LIBRARY "libncursesw.so." TEXT(NCURSES_VERSION_MAJOR)

/* Functions of ncurses that are used here. */
/* clang-format off */
#define FUNCTIONS(X)                                                                       \
	X(cbreak) X(curs_set) X(define_key) X(delscreen) X(doupdate) X(endwin)             \
	X(getmaxx) X(getmaxy) X(getmouse) X(has_colors) X(init_pair) X(intrflush)          \
	X(keypad) X(mousemask) X(mouseinterval) X(newterm) X(newwin) X(noecho)             \
	X(nonl) X(set_escdelay) X(start_color) X(tigetstr) X(use_default_colors)           \
	X(waddnwstr) X(wattr_set) X(wclrtoeol) X(werase) X(wget_wch) X(wmove)              \
	X(wnoutrefresh) X(wresize) X(wtimeout)
/* clang-format on */

struct curses {
#define POINTER(name) typeof(name) *name;
	FUNCTIONS(POINTER)
#undef POINTER
};

/* Least size of a screen: smaller ones show a part of the lines. */
#define LEAST_COLUMNS 20

/* Delay in ms after which an escape character is a key of its own. */
#define ESCAPE_MS 25

struct screen {
	struct curses curses;
	SCREEN *terminal;
	WINDOW *window;
	FILE *keys; /* /dev/tty; NULL: standard input */
	bool colour, utf8;
	bool own_colours;  /* the terminal's own text and background are colours, too */
	short pairs[9][9]; /* by text and background, in SGR's number and one; 0: not made */
	short pair_count;
};

/* State for the handler of signals that end the process. */
static struct {
	struct termios modes; /* modes of the terminal before the screen was opened */
	char text[256];	      /* sequences that restore the terminal */
	size_t size;
} restoration;

static const int fatal_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGSEGV,
				    SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGUSR1,
				    SIGUSR2, SIGALRM, SIGPIPE, SIGXCPU, SIGXFSZ};

static void restore(void)
{
	ssize_t written = write(STDOUT_FILENO, restoration.text, restoration.size);
	(void)written;
	(void)tcsetattr(STDOUT_FILENO, TCSANOW, &restoration.modes);
}

/* Restores the terminal and ends the process by the signal. Its default action is set already. */
static void on_fatal_signal(int number)
{
	restore();
	(void)raise(number);
}

/* Sets or removes the handler, except for signals that are ignored or have another handler. */
static void handle_fatal_signals(bool set)
{
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(*fatal_signals); i++) {
		struct sigaction action, wanted = {.sa_flags = SA_RESETHAND | SA_NODEFER};
		sigaction(fatal_signals[i], NULL, &action);
		void (*from)(int) = set ? SIG_DFL : on_fatal_signal;
		if (action.sa_handler != from)
			continue;
		wanted.sa_handler = set ? on_fatal_signal : SIG_DFL;
		sigaction(fatal_signals[i], &wanted, NULL);
	}
}

/* Appends a capability's sequence without its delays ("$<5>"). */
static void add_sequence(const struct screen *screen, const char *capability)
{
	const char *text = screen->curses.tigetstr(capability);
	if (!text || text == (char *)-1)
		return;
	while (*text && restoration.size + 1 < sizeof(restoration.text)) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
		if (end)
			text = end + 1;
		else
			restoration.text[restoration.size++] = *text++;
	}
}

static bool load(struct curses *curses)
{
	bool found = true;
#ifdef SP_STATIC
#define LOAD(name) curses->name = name;
	FUNCTIONS(LOAD)
#else
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
#define LOAD(name) found = found && (*(void **)&curses->name = dlsym(library, #name)) != NULL;
	found = library != NULL;
	FUNCTIONS(LOAD)
	if (library)
		dlclose(library);
#endif
#undef LOAD
	if (!found) {
		diag_print("the browser needs %s, which cannot be loaded", LIBRARY);
		diag_more("install libncursesw%d", NCURSES_VERSION_MAJOR);
	}
	return found;
}

static void set_colours(struct screen *screen)
{
	const char *no_color = getenv("NO_COLOR");
	const struct curses *curses = &screen->curses;
	screen->colour = !(no_color && *no_color) && curses->has_colors();
	if (!screen->colour)
		return;
	curses->start_color();
	screen->own_colours = curses->use_default_colors() == OK;
}

/*
 * Returns the pair of two colours, by SGR's number and one; 0: the terminal's own. Pairs are made
 * when they are used first, because a terminal of 8 colours has only 64 of them.
 */
static short pair_of(struct screen *screen, unsigned int text, unsigned int background)
{
	short *pair = &screen->pairs[text][background];
	short missing = screen->own_colours ? -1 : COLOR_WHITE;
	if (!screen->colour || (!text && !background))
		return 0;
	if (!*pair && screen->curses.init_pair((short)(screen->pair_count + 1),
					       text ? (short)(text - 1) : missing,
					       background	   ? (short)(background - 1)
					       : screen->own_colours ? -1
								     : COLOR_BLACK) == OK)
		*pair = ++screen->pair_count;
	return *pair;
}

/* Terminals send other sequences for Home and End than their type has, such as tmux for xterm. */
static void define_keys(const struct curses *curses)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = {{"\033[H", KEY_HOME}, {"\033OH", KEY_HOME}, {"\033[1~", KEY_HOME},
		    {"\033[F", KEY_END},  {"\033OF", KEY_END},  {"\033[4~", KEY_END}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		curses->define_key(keys[i].sequence, keys[i].key);
}

static void set_up(struct screen *screen)
{
	const struct curses *curses = &screen->curses;
	const char *reports = curses->tigetstr("kmous");
	curses->cbreak();
	curses->noecho();
	curses->nonl();
	curses->set_escdelay(ESCAPE_MS);
	curses->intrflush(screen->window, false);
	curses->keypad(screen->window, true);
	define_keys(curses);
	set_colours(screen);
	curses->curs_set(0);
	add_sequence(screen, "sgr0");
	add_sequence(screen, "rmkx");
	add_sequence(screen, "cnorm");
	add_sequence(screen, "rmcup");
	if (!reports || reports == (char *)-1)
		return;
	curses->mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED,
			  NULL);
	curses->mouseinterval(0);
	static const char off[] = "\033[?1006;1000l";
	if (restoration.size + sizeof(off) <= sizeof(restoration.text)) {
		memcpy(restoration.text + restoration.size, off, sizeof(off) - 1);
		restoration.size += sizeof(off) - 1;
	}
}

/* Returns false after printing why the terminal cannot be opened. */
static bool open_terminal(struct screen *screen)
{
	const char *name = getenv("TERM");
	if (!isatty(STDIN_FILENO))
		screen->keys = fopen("/dev/tty", "r");
	restoration.size = 0;
	if (!isatty(STDOUT_FILENO) || (!isatty(STDIN_FILENO) && !screen->keys) ||
	    tcgetattr(STDOUT_FILENO, &restoration.modes)) {
		diag_print("the browser needs a terminal; 'sprof report' prints text");
		return false;
	}
	/* ncurses would prefer these to the terminal's size, which changes. */
	unsetenv("COLUMNS");
	unsetenv("LINES");
	/* ncurses does not replace these handlers by its own, which would hide the signal. */
	handle_fatal_signals(true);
	screen->terminal = name && strcmp(name, "dumb") != 0
				   ? screen->curses.newterm(NULL, stdout, screen->keys ?: stdin)
				   : NULL;
	if (screen->terminal)
		screen->window = screen->curses.newwin(0, 0, 0, 0);
	if (screen->window)
		return true;
	if (screen->terminal)
		screen->curses.endwin();
	handle_fatal_signals(false);
	diag_print("the browser cannot use a terminal of type '%s' (TERM)", name ?: "");
	diag_more("set TERM to the terminal's type, or use 'sprof report'");
	return false;
}

struct screen *screen_open(void)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));
	if (!load(&screen->curses) || !open_terminal(screen)) {
		if (screen->keys)
			fclose(screen->keys);
		free(screen);
		return NULL;
	}
	screen->utf8 = text_form_shown() == TEXT_SHOWN;
	set_up(screen);
	memory_at_end(restore);
	return screen;
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	screen->curses.endwin();
	handle_fatal_signals(false);
	screen->curses.delscreen(screen->terminal);
	if (screen->keys)
		fclose(screen->keys);
	free(screen);
}

int screen_rows(const struct screen *screen)
{
	return screen->curses.getmaxy(screen->window);
}

bool screen_has_colours(const struct screen *screen)
{
	return screen->colour;
}

struct term screen_term(const struct screen *screen)
{
	int width = screen->curses.getmaxx(screen->window);
	return (struct term){
		.colour = true,
		.utf8 = screen->utf8,
		.terminal = true,
		.width = width < LEAST_COLUMNS ? LEAST_COLUMNS : width,
	};
}

void screen_clear(struct screen *screen)
{
	screen->curses.werase(screen->window);
}

/* Text attributes, as set by the sequences of term_begin(). */
struct style {
	attr_t attributes;
	unsigned int text, background; /* SGR's number and one; 0: the terminal's own */
};

/* Reads the sequence "\033[1;31m" at `text`. Returns the text after it. */
static const char *read_style(const char *text, struct style *style)
{
	text += text[1] == '[' ? 2 : 1;
	while (*text && *text != 'm') {
		char *end;
		long code = strtol(text, &end, 10);
		if (end == text)
			break;
		if (code == 0)
			*style = (struct style){0};
		else if (code == 1)
			style->attributes |= A_BOLD;
		else if (code == 2)
			style->attributes |= A_DIM;
		else if (code == 7)
			style->attributes |= A_REVERSE;
		else if (code >= 30 && code <= 37)
			style->text = (unsigned int)code - 29;
		else if (code >= 40 && code <= 47)
			style->background = (unsigned int)code - 39;
		text = end + (*end == ';');
	}
	return text + (*text == 'm');
}

void screen_line(struct screen *screen, int row, int column, const char *text, bool marked)
{
	const struct curses *curses = &screen->curses;
	struct style style = {0};
	int width = curses->getmaxx(screen->window);
	attr_t always = marked ? A_REVERSE : A_NORMAL;
	if (column >= width || curses->wmove(screen->window, row, column) == ERR)
		return;
	curses->wattr_set(screen->window, always, 0, NULL);
	while (*text && *text != '\n') {
		if (*text == '\033') {
			text = read_style(text, &style);
			curses->wattr_set(screen->window, style.attributes ^ always,
					  pair_of(screen, style.text, style.background), NULL);
			continue;
		}
		wchar_t code = (wchar_t)text_shown(text_next(&text),
						   screen->utf8 ? TEXT_SHOWN : TEXT_SHOWN_ASCII);
		int used = code < 0x80 ? 1 : wcwidth(code);
		/* The C library does not know all characters; term.c counts a column for each. */
		if (used < 0) {
			code = 0xfffd;
			used = 1;
		}
		if (column + used > width)
			break;
		curses->waddnwstr(screen->window, &code, 1);
		column += used;
	}
	curses->wattr_set(screen->window, always, 0, NULL);
	for (; marked && column < width; column++)
		curses->waddnwstr(screen->window, L" ", 1);
	curses->wattr_set(screen->window, A_NORMAL, 0, NULL);
}

void screen_update(struct screen *screen, int row, int column)
{
	const struct curses *curses = &screen->curses;
	int width = curses->getmaxx(screen->window);
	curses->curs_set(row >= 0);
	if (row >= 0)
		curses->wmove(screen->window, row, column < width ? column : width - 1);
	curses->wnoutrefresh(screen->window);
	curses->doupdate();
}

static uint32_t mouse_key(struct screen *screen, struct screen_event *event)
{
	MEVENT mouse;
	if (screen->curses.getmouse(&mouse) != OK)
		return SCREEN_KEY_NONE;
	event->row = mouse.y;
	event->column = mouse.x;
	return mouse.bstate & BUTTON4_PRESSED	? SCREEN_KEY_WHEEL_UP
	       : mouse.bstate & BUTTON5_PRESSED ? SCREEN_KEY_WHEEL_DOWN
	       : mouse.bstate & BUTTON1_PRESSED ? SCREEN_KEY_PRESS
	       : mouse.bstate & BUTTON1_RELEASED ? SCREEN_KEY_RELEASE
						 : SCREEN_KEY_NONE;
}

static uint32_t function_key(wint_t code)
{
	static const struct {
		wint_t code;
		enum screen_key key;
	} keys[] = {
		{KEY_UP, SCREEN_KEY_UP},	 {KEY_DOWN, SCREEN_KEY_DOWN},
		{KEY_LEFT, SCREEN_KEY_LEFT},	 {KEY_RIGHT, SCREEN_KEY_RIGHT},
		{KEY_PPAGE, SCREEN_KEY_PAGE_UP}, {KEY_NPAGE, SCREEN_KEY_PAGE_DOWN},
		{KEY_HOME, SCREEN_KEY_HOME},	 {KEY_END, SCREEN_KEY_END},
		{KEY_ENTER, SCREEN_KEY_ENTER},	 {KEY_BACKSPACE, SCREEN_KEY_BACKSPACE},
		{KEY_DC, SCREEN_KEY_BACKSPACE},	 {KEY_BTAB, SCREEN_KEY_BACK_TAB},
		{KEY_F(1), SCREEN_KEY_F1},	 {KEY_RESIZE, SCREEN_KEY_RESIZE},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return SCREEN_KEY_NONE;
}

struct screen_event screen_wait(struct screen *screen, int timeout_ms)
{
	struct screen_event event = {.key = SCREEN_KEY_NONE};
	wint_t code = 0;
	screen->curses.wtimeout(screen->window, timeout_ms);
	errno = 0;
	int kind = screen->curses.wget_wch(screen->window, &code);
	struct pollfd keys = {.fd = fileno(screen->keys ?: stdin)};
	/* ERR is the end of input if there was no timeout, or if poll(2) says so. */
	if (kind == ERR && errno != EINTR &&
	    (timeout_ms < 0 || (poll(&keys, 1, 0) > 0 && keys.revents & (POLLHUP | POLLERR))))
		event.key = SCREEN_KEY_END_OF_INPUT;
	else if (kind == KEY_CODE_YES)
		event.key = code == KEY_MOUSE ? mouse_key(screen, &event) : function_key(code);
	else if (kind == OK)
		event.key = code == '\r' || code == '\n'   ? SCREEN_KEY_ENTER
			    : code == '\033'		   ? SCREEN_KEY_ESCAPE
			    : code == 0x7f || code == '\b' ? SCREEN_KEY_BACKSPACE
							   : (uint32_t)code;
	return event;
}
