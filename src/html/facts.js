// SPDX-License-Identifier: GPL-2.0-or-later
// Views about the data: limits, and the recording.
"use strict";

function findingItem(finding) {
	const item = element("li");
	item.append(finding.text);
	if (finding.remedy)
		item.append(element("br"), element("span", "remedy", `\u2192 ${finding.remedy}`));
	return item;
}

function showLimits(panel) {
	const text = element("div", "text"), scroll = element("div", "scroll"), found = element("ul");
	const event = currentEvent();
	found.append(...profile.findings.map(findingItem));
	text.append(element("h2", "", "What limits these data"));
	text.append(profile.findings.length ? found : element("p", "", "Nothing is known to limit these data."));
	const facts = [["Samples", event.samples], ["Lost samples", event.lostOwn],
		["Lost samples of this program or of others", event.lostUnknown], ["Times throttled", event.throttledCount]];
	const names = {complete: "Complete stacks", truncated: "Truncated stacks",
		no_unwind_info: "Stacks that end where unwind information is missing",
		bad_memory: "Stacks that end at unreadable memory", depth_limit: "Stacks at the depth limit",
		skipped: "Stacks without their user part, which the recorder skipped",
		switched: "Stacks that end at a switch of stacks", deferred: "Stacks whose user part is missing",
		invalid_address: "Stacks that end at an address without code", none: "Samples without a stack"};
	for (const [name, count] of Object.entries(event.stacks))
		facts.push([names[name] || name, count]);
	facts.push(["Idle threads left out", event.idleThreads]);
	if (!profile.comparison)
		text.append(element("h2", "", `Counts of ${event.name}`),
			factList(facts.filter(([name, count], i) => i < 2 || count)
				.map(([name, count]) => [name, grouped(count)])));
	scroll.append(text);
	scroll.tabIndex = 0;
	panel.replaceChildren(scroll);
}

function factList(facts) {
	const dl = element("dl");
	for (const [name, value] of facts)
		dl.append(element("dt", "", name), element("dd", "", value));
	return dl;
}

function showAbout(panel) {
	const text = element("div", "text"), scroll = element("div", "scroll");
	if (profile.comparison)
		showAboutChanges(text);
	else
		showAboutRecording(text);
	scroll.append(text);
	scroll.tabIndex = 0;
	panel.replaceChildren(scroll);
}

function showAboutRecording(text) {
	const event = currentEvent();
	const facts = [["Recording", profile.recording]];
	if (profile.recordings > 1)
		facts.push(["", `and ${profile.recordings - 1} more`]);
	if (profile.command)
		facts.push(["Command", profile.command]);
	facts.push(...profile.about, ["Report by", `sprof ${profile.sprof}`]);
	text.append(element("h2", "", "Recording"), factList(facts));
	const limits = [...profile.partial, ...profile.merged];
	if (event.durationNs)
		limits.unshift(`Times are in steps of ${formatSeconds(event.binNs / 1e9)}, from ${event.begin} s of ` +
			"the recording's clock.");
	const items = element("ul");
	items.append(...limits.map((limit) => element("li", "", limit)));
	text.append(element("h2", "", "Resolution"), items, element("h2", "", "How to read it"),
		element("p", "", "Self is the time of a function's own code; total includes its callees. " +
			"An interval contains the true share in 95 of 100 recordings. The mark ~ is for another run, as the share varies; " +
			"the mark * is for this run only, as it varies much." + (profile.mode !== "cpu"
			? " This page has intervals only for functions of the whole recording; sprof report --time or --tid computes those of a part."
			: "")));
	if (listing) {
		const files = element("ul"), read = listing.files.filter((file) => file.parts.length);
		files.append(...read.map((file) => element("li", "", file.path)));
		text.append(element("h2", "", "Source files in this page"), read.length ? files : element("p", "", "none"));
	}
}

// Shows what the page lacks, and the findings that the text report begins with.
function showFindings() {
	const notes = profile.partial.map((text) => ({text, remedy: ""}));
	const shown = [...notes, ...profile.banner], rest = profile.bannerMore;
	$("findings").replaceChildren(...shown.map((finding, i) => {
		const line = element("p", "", finding.text);
		const remedy = finding.remedy && `\u2192 ${finding.remedy}`;
		line.title = [finding.text, remedy].filter(Boolean).join("\n");
		if (remedy)
			line.append(" ", element("span", "remedy", remedy));
		if (i === shown.length - 1 && rest) {
			const more = element("button", "link", `${rest} more`);
			more.addEventListener("click", () => change({view: "limits"}));
			line.append(" ", more);
		}
		return line;
	}));
}
