// SPDX-License-Identifier: GPL-2.0-or-later
// Trees and tables of the selected samples, from the state.
"use strict";

// A zoomed part of less than this share of the tree of callers has a tree of its own.
const NARROW_PART = 0.05;

// Returns the functions of that name as flags.
function namedFunctions(name) {
	return Uint8Array.from(profile.functions.name, (index) => profile.strings[index] === name ? 1 : 0);
}

// Returns by function whether "my code only" hides it. The user's choice of objects reverses the default.
function notMine() {
	const chosen = new Set(state.objects);
	const reversed = profile.strings.map((name) => chosen.has(name));
	const {dso} = profile.functions;
	const isOther = (group, fn) => group === LIBRARY || group === KERNEL || !dso[fn];
	return Uint8Array.from(groups, (group, fn) =>
		group !== NOTE && isOther(group, fn) !== reversed[dso[fn]] ? 1 : 0);
}

// Returns own samples and weight of the event's nodes with all filters; null: there are none.
function selectedOwn(matches) {
	const event = currentEvent(), keep = state.only ? matches : null;
	const names = new Set(state.drop);
	const drop = names.size ? Uint8Array.from(profile.functions.name, (index) =>
		names.has(profile.strings[index]) ? 1 : 0) : null;
	const from = event.cell ? state.from : null, thread = event.cell ? state.thread : -1;
	if (from === null && thread < 0 && !state.focus && !keep && !drop)
		return null;
	let own = ownOf(event, from, state.to, thread);
	if (state.focus)
		own = filterStacks(event, own, namedFunctions(state.focus), null);
	return filterStacks(event, own, keep, drop);
}

// Computes the tree of the selected samples.
function deriveTree(matches) {
	const event = currentEvent(), own = selectedOwn(matches);
	let hidden = state.mine ? notMine() : null;
	if (state.hide && matches)
		hidden = matches.map((match, fn) => match || (hidden && hidden[fn]) ? 1 : 0);
	const tree = calleesTree(event, own, hidden);
	return {tree, hidden, isAll: !own, isWhole: !own && !hidden,
		samples: tree.samples[0], weight: tree.weight[0],
		whole: profile.relative ? event.shownWeight : event.weight};
}

// Computes the selection from the state. A search that filters nothing keeps the tree.
function derive() {
	const filters = [state.event, state.from, state.to, state.thread, state.only, state.hide,
		state.mine, state.objects, state.focus, state.drop,
		state.only || state.hide ? state.search : ""];
	const key = JSON.stringify(filters), searched = `${state.event} ${state.search}`;
	if (derived.key === key && derived.searched === searched)
		return;
	const matches = state.search ? matchFunctions(profile, state.search) : null;
	if (derived.key !== key) {
		derived = {key, ...deriveTree(matches)};
		opened = new Set();
	}
	const found = matches && weightOf(derived.tree, matches);
	derived = {...derived, searched, matches, found};
}

// Returns whether the view is the stacks of one thread in order of time.
function isOrdered() {
	return state.ordered && state.view === "flame" && state.thread >= 0 &&
		Boolean(currentEvent().cell);
}

// Returns whether the tree has a node for each process.
function hasProcesses() {
	return state.processes && !state.callers && !isOrdered() && profile.processCount > 1 &&
		Boolean(currentEvent().cell);
}

// Returns the shown tree. The tree of callers is made again for a narrow part, with its details.
function shownTree() {
	if (isOrdered())
		return derived.ordered = derived.ordered || timeTree(currentEvent(),
			selectedOwn(derived.matches), state.thread, state.from, state.to,
			derived.hidden);
	if (hasProcesses())
		return derived.processes = derived.processes || processTree(currentEvent(),
			selectedOwn(derived.matches), state.thread, state.from, state.to,
			derived.hidden, profile.processOf);
	if (!state.callers)
		return derived.tree;
	derived.inverted = derived.inverted || callersTree(derived.tree);
	const {zoom} = state, key = JSON.stringify(zoom), whole = derived.inverted;
	if (!zoom.length || state.view !== "flame" ||
		whole.weight[nodeOfPath(whole, zoom)] > NARROW_PART * whole.weight[0])
		return whole;
	if (derived.zoomKey !== key) {
		derived.zoomKey = key;
		derived.zoomTree = callersTree(derived.tree, zoom.length,
			(fn, i) => functionName(fn) === zoom[i]);
	}
	return derived.zoomTree;
}

function functionTable() {
	if (!derived.rows)
		derived.rows = profile.comparison ? changedRows() : derived.isWhole ? analysedRows(currentEvent(), derived.whole)
			: functionRows(derived.tree, profile.functionCount, derived.whole, partInterval)
				.filter((row) => !(profile.functions.kind[row.fn] & (MISSING | LIGHT)));
	return derived.rows;
}

// Returns the node that a path of names leads to, or its last ancestor that exists.
function nodeOfPath(tree, names) {
	let node = 0;
	for (const name of names) {
		const next = tree.childrenOf(node).find((child) => functionName(tree.fn[child]) === name);
		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

function pathOfNode(tree, node) {
	const names = [];
	for (; node; node = tree.parent[node])
		names.push(functionName(tree.fn[node]));
	return names.reverse();
}

// Returns the function of that name with most weight in the tree; -1: there is none.
function functionOfName(name) {
	const flags = namedFunctions(name), tree = derived.tree;
	let best = -1, most = -1;
	const sums = new Map();
	for (let i = 1; i < tree.count; i++)
		if (flags[tree.fn[i]])
			sums.set(tree.fn[i], (sums.get(tree.fn[i]) || 0) + tree.weight[i]);
	for (const [fn, sum] of sums)
		if (sum > most)
			[best, most] = [fn, sum];
	return best;
}
