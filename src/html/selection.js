// SPDX-License-Identifier: GPL-2.0-or-later
// Trees and tables of the selected samples, from the state.
"use strict";

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

// Computes the selection's trees from the state. Unchanged parts are kept.
function derive() {
	const event = currentEvent(), last = derived;
	const key = JSON.stringify([state.event, state.from, state.to, state.thread, state.search, state.only, state.hide,
		state.mine, state.objects, state.focus, state.drop]);
	if (last.key === key)
		return;
	derived = {key, matches: state.search ? matchFunctions(profile, state.search) : null};
	let keep = state.only ? derived.matches : null, drop = null, hidden = null;
	if (state.drop.length) {
		const names = new Set(state.drop);
		drop = Uint8Array.from(profile.functions.name, (index) => names.has(profile.strings[index]) ? 1 : 0);
	}
	if (state.mine)
		hidden = notMine();
	if (state.hide && derived.matches)
		hidden = derived.matches.map((match, fn) => match || (hidden && hidden[fn]) ? 1 : 0);
	let own = ownOf(event, event.cell ? state.from : null, state.to, event.cell ? state.thread : -1);
	if (state.focus)
		own = filterStacks(event, own, namedFunctions(state.focus), null);
	own = filterStacks(event, own, keep, drop);
	derived.tree = calleesTree(event, own, hidden);
	derived.isWhole = own.samples === event.node.samples && !hidden;
	derived.samples = derived.tree.samples[0];
	derived.weight = derived.tree.weight[0];
	derived.whole = profile.relative ? event.shownWeight : event.weight;
	if (derived.matches)
		derived.found = weightOf(derived.tree, derived.matches);
	opened = new Set();
}

function shownTree() {
	if (!state.callers)
		return derived.tree;
	return derived.inverted = derived.inverted || callersTree(derived.tree);
}

function functionTable() {
	if (!derived.rows)
		derived.rows = derived.isWhole ? analysedRows(currentEvent(), derived.whole)
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
