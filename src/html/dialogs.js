// SPDX-License-Identifier: GPL-2.0-or-later
// Legend, help, choice of objects, and the printed table.
"use strict";

const HELP = [
	["Views", [["1, 2, \u2026", "the views, from left to right"],
		["c", "callers or callees"], ["o", "order of time (one thread)"], ["p", "processes"],
		["m, M", "my code only; choose its objects"], ["e", "next event"],
		["t", "next thread"]]],
	["Function", [["Enter, click", "zoom (flame graph); open or close (call tree); callers and callees (functions)"],
		["b", "callers and callees of the function"], ["f", "only stacks through the function"],
		["s", "source of the function, if the page has it"],
		["Delete, Alt+click", "drop stacks through the function"], ["arrows", "move"]]],
	["Search", [["/", "search names by a regular expression"],
		["Enter, Shift+Enter", "next or previous match"]]],
	["Time", [["drag", "select a range"], ["click on a thread", "only this thread"],
		["arrows on the strip", "move the range; with Shift widen it; Enter begins one"]]],
	["Other", [["z, Backspace", "undo"], ["Escape", "leave the last filter"], ["?", "this help"]]],
];

const PRINTED = 40; // functions in print

function showLegend() {
	const present = new Set(groups);
	if (profile.comparison) {
		$("legend").replaceChildren(...changeLegend());
		return;
	}
	$("legend").replaceChildren(...GROUP_NAMES.map((name, i) => {
		const item = element("span", "", name), swatch = element("span", "swatch");
		swatch.style.background = look.groups[i];
		item.prepend(swatch);
		item.hidden = !present.has(i);
		return item;
	}));
	if (profile.events.some((event) => event.node.inlined.includes(1))) {
		const item = element("span", "", "inlined"), swatch = element("span", "swatch");
		item.className = "inlined";
		swatch.style.boxShadow = `inset 3px 0 ${look.mark}`;
		swatch.style.background = look.shades[look.groups[OWN]][INLINED];
		item.prepend(swatch);
		$("legend").append(item);
	}
}

// Returns the objects (programs and libraries) with their own weight, the heaviest first.
function objectRows() {
	const own = new Map(), hidden = notMine(), {fn} = currentEvent().node;
	const {weight} = ownOf(currentEvent(), null, null, -1);
	for (let i = 1; i < fn.length; i++) {
		const dso = profile.functions.dso[fn[i]], row = own.get(dso);
		if (groups[fn[i]] === NOTE)
			continue;
		if (row)
			row.weight += weight[i];
		else
			own.set(dso, {dso, weight: weight[i], hidden: hidden[fn[i]]});
	}
	return [...own.values()].sort((a, b) => b.weight - a.weight);
}

// Lets the user choose the objects of "my code".
function showObjects() {
	const dialog = $("objects"), title = element("h2", "", "My code"), close = element("button", "", "Close");
	const reset = element("button", "", "Default"), list = element("div", "objects"), bar = element("div", "controls");
	title.id = "objects-title";
	for (const row of objectRows().slice(0, 300)) {
		const label = element("label"), box = element("input"), name = profile.strings[row.dso];
		box.type = "checkbox";
		box.checked = !row.hidden;
		box.addEventListener("change", () => {
			const others = state.objects.filter((other) => other !== name);
			change({mine: true, zoom: [], objects: others.length < state.objects.length ? others : [...others, name]},
				"objects");
		});
		label.append(box, element("span", "", name || "(unknown)"),
			element("span", "number", percentText(row.weight / (currentEvent().weight || 1))));
		list.append(label);
	}
	close.addEventListener("click", () => dialog.close());
	reset.addEventListener("click", () => {
		change({mine: true, objects: [], zoom: []});
		dialog.close();
	});
	bar.append(reset, close);
	dialog.replaceChildren(title, element("p", "", "Frames of the other objects are hidden; their callers " +
		"get the weight."), list, bar);
	if (!dialog.open)
		dialog.showModal();
}

function showHelp() {
	const help = $("help"), close = element("button", "", "Close");
	const title = element("h2", "", "Keys and mouse");
	title.id = "help-title";
	close.addEventListener("click", () => help.close());
	const groups = element("div", "groups");
	for (const [name, keys] of HELP) {
		const group = element("section"), table = element("table");
		for (const [key, text] of keys) {
			const row = element("tr"), cell = element("td");
			key.split(", ").forEach((one) => cell.append(element("kbd", "", one), " "));
			row.append(cell, element("td", "", text));
			table.append(row);
		}
		group.append(element("h3", "", name), table);
		groups.append(group);
	}
	help.replaceChildren(title, groups, close);
	help.showModal();
}

// Fills the printed table: lists on the screen have only the rows that are visible.
function showPrint() {
	const table = element("table"), event = currentEvent();
	const row = (cells, kind) => {
		const made = element("tr");
		made.append(...cells.map((text, i) => element(kind, i < 3 ? "number" : "", text)));
		return made;
	};
	table.append(row(["Self", "95% interval", "Total", "Function", "Program or library"], "th"));
	for (const one of functionTable().slice(0, PRINTED))
		table.append(row([percentText(one.self), rangeText(one.selfLow, one.selfHigh, one.selfMark), percentText(one.total),
			functionName(one.fn) + (one.inlined ? " (inlined)" : ""), functionDso(one.fn)], "td"));
	const list = element("ul");
	list.append(...profile.findings.map(findingItem));
	$("print").replaceChildren(element("p", "", [event.name, `${grouped(derived.samples)} samples`,
		state.from === null ? "all times" : rangeSeconds(event)].join(" \u00b7 ")), table, list);
}
