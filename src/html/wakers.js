// SPDX-License-Identifier: GPL-2.0-or-later
// View of wake-ups: a row for each pair of threads, one that woke and one that waited.
"use strict";

const PAIR_COLUMNS = [["self", "Share", "number"], ["", "Blocked", "number wide"],
	["waits", "Wake-ups", "number wide"], ["longest", "Longest", "number wide"],
	["", "Runnable", "number wide"], ["name", "Waker", ""], ["dso", "Wakee", ""]];

// Returns a thread's name as wakers have it.
function threadText(index) {
	const {name, tid, merged} = profile.threads[index];
	return merged || tid < 0 ? threadName(profile, index) : `${profile.strings[name]}[${tid}]`;
}

// Returns the pairs of the selected wake-ups. The longest waits, and the time from wake-up to
// running, are known for the whole recording only.
function pairTable() {
	const event = currentEvent();
	if (derived.isAll)
		return event.pairs.map(([waker, wakee, weight, waits, longest, runnable]) =>
			({waker, wakee, weight, waits, longest, runnable}));
	return pairsOf(event, selectedOwn(derived.matches), state.thread, state.from, state.to)
		.map(({fn, thread, weight, samples}) => ({waker: functionName(fn),
			wakee: threadText(thread), weight, waits: samples}));
}

function showWakers(panel) {
	const order = {waits: (a, b) => b.waits - a.waits,
		longest: (a, b) => (b.longest || 0) - (a.longest || 0),
		name: (a, b) => a.waker < b.waker ? -1 : 1,
		dso: (a, b) => a.wakee < b.wakee ? -1 : 1};
	const pattern = state.search && !state.hide && !state.only ? patternOf(state.search) : null;
	derived.pairs = derived.pairs || pairTable();
	const rows = derived.pairs.filter(({waker, wakee}) =>
		!pattern || pattern.test(waker) || pattern.test(wakee));
	derived.shownPairs = rows.sort(order[state.sort] || ((a, b) => b.weight - a.weight));
	derived.mostPair = rows.reduce((most, row) => Math.max(most, row.weight), 0);
	// Without context switches, the weight is the number of wake-ups.
	const columns = PAIR_COLUMNS.filter(([, title]) => currentEvent().unit === "ns" ||
		!["Blocked", "Longest", "Runnable"].includes(title));
	list = list || new List(panel, "grid", "Wake-ups", {
		head: () => headOf(columns, state.sort, (key) => change({sort: key})),
		fill: (i) => pairRow(derived.shownPairs[i], columns),
		key: (key, i) => key === "Enter" && openPair(derived.shownPairs[i]),
	});
	list.grid.classList.add(columns.length < PAIR_COLUMNS.length ? "counts" : "pairs");
	list.show(rows.length);
}

function pairRow(row, columns) {
	const made = element("div", "row body"), whole = derived.weight || 1;
	const texts = {Blocked: formatMs(row.weight), "Wake-ups": grouped(row.waits),
		Longest: row.longest ? formatMs(row.longest) : "",
		Runnable: row.runnable ? formatMs(row.runnable) : "",
		Waker: row.waker, Wakee: row.wakee};
	made.setAttribute("role", "row");
	made.append(...columns.map(([, title, kind]) => title === "Share"
		? shareCell(row.weight / whole, NaN, NaN, derived.mostPair / whole)
		: cellOf(kind, texts[title])));
	made.title = `${row.waker} woke ${row.wakee}: Enter shows the code`;
	made.addEventListener("click", () => {
		list.grid.focus();
		list.draw();
	});
	made.addEventListener("dblclick", () => openPair(row));
	return made;
}

// Shows the waker's code that woke the other thread.
function openPair({waker, wakee}) {
	const thread = profile.threads.findIndex((_, index) => threadText(index) === wakee);
	change({view: "flame", focus: waker, thread, callers: false, ordered: false, zoom: []});
	return true;
}
