// SPDX-License-Identifier: GPL-2.0-or-later
// Long lists of which only the visible rows are in the document: the table of functions, and the call tree.
"use strict";

const ROW = 26; // height of a row in CSS pixels

function element(name, className, text) {
	const made = document.createElement(name);
	if (className)
		made.className = className;
	if (text !== undefined)
		made.textContent = text;
	return made;
}

class List {
	// `role` is grid or treegrid; on.fill(index) returns a row's element; on.head() the head's.
	constructor(host, role, label, on) {
		this.on = on;
		this.count = 0;
		this.current = -1;
		this.scroll = element("div", "scroll");
		this.grid = element("div", "grid");
		this.grid.setAttribute("role", role);
		this.grid.setAttribute("aria-label", label);
		this.grid.tabIndex = 0;
		this.scroll.append(this.grid);
		host.append(this.scroll);
		this.scroll.addEventListener("scroll", () => this.draw());
		this.grid.addEventListener("keydown", (event) => this.key(event));
		this.grid.addEventListener("focus", () => {
			if (this.current < 0 && this.count)
				this.go(0);
		});
	}

	show(count) {
		this.count = count;
		if (this.current >= count)
			this.current = count - 1;
		this.grid.setAttribute("aria-rowcount", count + 1);
		this.draw();
	}

	draw() {
		const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - 8);
		const last = Math.min(this.count, first + Math.ceil(this.scroll.clientHeight / ROW) + 16);
		const head = this.on.head(), rows = [head];
		for (let i = first; i < last; i++) {
			const row = this.on.fill(i);
			row.style.top = `${30 + i * ROW}px`;
			row.id = `row-${i}`;
			row.setAttribute("aria-rowindex", i + 2);
			if (i === this.current)
				row.classList.add("current");
			row.addEventListener("mousedown", () => { this.current = i; });
			rows.push(row);
		}
		const focused = document.activeElement && head.contains(document.activeElement);
		this.grid.style.height = `${34 + this.count * ROW}px`;
		if (!focused)
			this.grid.replaceChildren(...rows);
		if (this.current >= first && this.current < last)
			this.grid.setAttribute("aria-activedescendant", `row-${this.current}`);
		else
			this.grid.removeAttribute("aria-activedescendant");
	}

	go(index) {
		this.current = Math.max(0, Math.min(this.count - 1, index));
		const top = this.current * ROW, height = this.scroll.clientHeight - 34;
		if (top < this.scroll.scrollTop)
			this.scroll.scrollTop = top;
		else if (top + ROW > this.scroll.scrollTop + height)
			this.scroll.scrollTop = top + ROW - height;
		this.draw();
	}

	key(event) {
		const page = Math.max(1, Math.floor(this.scroll.clientHeight / ROW) - 2);
		const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count,
			End: this.count};
		if (event.target !== this.grid)
			return;
		if (event.key in steps && !event.altKey && !event.ctrlKey)
			this.go(this.current + steps[event.key]);
		else if (!this.on.key || this.current < 0 || !this.on.key(event.key, this.current))
			return;
		event.preventDefault();
		event.stopPropagation();
	}
}

function percentText(share) {
	return `${(100 * share).toFixed(2)}%`;
}

// Returns the interval of a share; unknown (NaN) in modes of time: waits of different length have different errors,
// which the page does not have.
function partInterval(share, samples) {
	return profile.mode !== "cpu" ? [NaN, NaN] : intervalOfPart(currentEvent(), share, samples);
}

// Returns an interval's text, "" if it is unknown (NaN), or would be zeros only. `mark`: "~" or "*", if
// the share varies.
function rangeText(low, high, mark = "") {
	return Number.isNaN(low) || high < 0.0005 ? ""
		: `${mark}${(100 * low).toFixed(1)}\u2013${(100 * high).toFixed(1)}`;
}

// Returns the text of a share in a table.
function shareText(share) {
	return share >= 0.00005 ? percentText(share) : share > 0 ? "<0.01%" : "";
}

// Returns a cell with a share, and a bar with its interval; a bar of `most` has the cell's width.
function shareCell(share, low, high, most = 1) {
	const cell = element("span", "number share");
	const bar = element("i"), edge = element("i");
	const scale = 100 / Math.max(Math.min(1, most), 1e-9);
	const from = Number.isNaN(low) ? share : low, to = Number.isNaN(high) ? share : high;
	bar.style.width = `${scale * Math.min(1, from)}%`;
	edge.style.left = bar.style.width;
	edge.style.width = `${scale * Math.max(0, Math.min(1, to) - from)}%`;
	cell.append(bar, edge, shareText(share));
	cell.setAttribute("role", "gridcell");
	return cell;
}

function cellOf(className, text) {
	const cell = element("span", className, text);
	cell.setAttribute("role", "gridcell");
	return cell;
}

// Returns a head whose names are buttons that sort, or texts.
function headOf(columns, sorted, sort) {
	const head = element("div", "row head");
	head.setAttribute("role", "row");
	for (const [key, title, className] of columns) {
		const cell = element("span", className);
		cell.setAttribute("role", "columnheader");
		if (key && sort) {
			const button = element("button", "", title);
			if (sorted === key) {
				cell.setAttribute("aria-sort", key === "name" || key === "dso" ? "ascending" : "descending");
				button.setAttribute("aria-pressed", "true");
				button.textContent = `${title} ${key === "name" || key === "dso" ? "\u25b4" : "\u25be"}`;
			}
			button.tabIndex = -1;
			button.addEventListener("click", () => sort(key));
			cell.append(button);
		} else {
			cell.textContent = title;
		}
		head.append(cell);
	}
	return head;
}
