import type { SimulationResult } from '../../tasks/index.ts';
import { stepsOf, titleOf } from './picture/chart.ts';
import { drawSvg, escapeText } from './picture/svg.ts';
import { formatSimulation, formatSpan } from './text.ts';

/** Everything about a simulation on one page that needs no network: the picture, what happened when, and what it cost. */
export function formatReport(result: SimulationResult, source: string): string {
  const { budgets, disruptedAgain, events, problems } = result;
  const begins = new Set(stepsOf(result).map(({ seconds }) => seconds));
  const rows = (cells: readonly (readonly string[])[]): string =>
    cells.map((row) => `<tr>${row.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>`).join('\n');
  const table = (heads: readonly string[], cells: readonly (readonly string[])[]): string =>
    cells.length === 0
      ? '<p>None.</p>'
      : `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>\n${rows(cells)}\n</tbody></table>`;
  const breaches = budgets.flatMap(({ id, unit, violations }) =>
    violations.map(({ fromSeconds, involuntary, missing, toSeconds }) => [
      id,
      formatSpan(fromSeconds),
      toSeconds === undefined ? 'the end' : formatSpan(toSeconds),
      `${missing} ${unit}`,
      involuntary === true ? 'a node was lost' : '',
    ]),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeText(titleOf(result))}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;color:#1e293b;max-width:1040px;margin:2rem auto;padding:0 1rem}
svg{max-width:100%;height:auto}table{border-collapse:collapse}td,th{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top}
pre{background:#f1f5f9;padding:1rem;overflow:auto}tr.begins td{font-weight:600}
</style></head><body>
<h1>${escapeText(titleOf(result))}</h1>
<p>${escapeText(source)}</p>
${drawSvg(result, source)}
<h2>In short</h2>
<pre>${escapeText(formatSimulation(result).join('\n'))}</pre>
<h2>Below a budget</h2>
${table(['budget', 'from', 'to', 'short of', 'because'], breaches)}
<h2>Groups down more than once</h2>
${table(
  ['group', 'times'],
  disruptedAgain.map(({ group, times }) => [group, String(times)]),
)}
<h2>What happened</h2>
${table(
  ['at', 'step', 'what'],
  events.map(({ seconds, text }) => [
    formatSpan(seconds),
    begins.has(seconds) && text.startsWith('step ') ? '●' : '',
    text,
  ]),
)}
<h2>Not loaded from the snapshot</h2>
${table(
  ['what'],
  problems.map((one) => [one]),
)}
</body></html>
`;
}
