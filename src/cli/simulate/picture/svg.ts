import type { SimulationResult } from '../../../tasks/index.ts';
import type { Pen } from './canvas.ts';
import { type Chart, chartOf, FILLS, PENS, type Shape, TEXT_INK } from './chart.ts';

/** The timeline as a picture of lines and text that scales. */
export function drawSvg(result: SimulationResult, source = ''): string {
  const { description, height, shapes, title, width }: Chart = chartOf(result, source);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${escapeText(title)}</title>
<desc id="d">${escapeText(description)}</desc>
<style>
text{font:12px system-ui,sans-serif;fill:${TEXT_INK.colour}}.title{font-size:15px;font-weight:600}.name{font-weight:600}
.step-name,.number{font-size:10px}
${Object.entries(PENS).map(penStyle).join('\n')}
${Object.entries(FILLS)
  .map(([role, { colour, opacity }]) => `.${role}{fill:${colour};opacity:${opacity}}`)
  .join('\n')}
</style>
<rect width="${width}" height="${height}" fill="#fff"/>
${shapes.map(shapeText).join('\n')}
</svg>
`;
}

function penStyle([role, { colour, dash, width }]: [string, Pen]): string {
  return `.${role}{fill:none;stroke:${colour};stroke-width:${width}${dash === undefined ? '' : `;stroke-dasharray:${dash.join(' ')}`}}`;
}

function shapeText(shape: Shape): string {
  switch (shape.kind) {
    case 'text': {
      const role = shape.role === undefined ? '' : ` class="${shape.role}"`;
      const anchor = shape.anchor === undefined ? '' : ` text-anchor="${shape.anchor}"`;
      return `<text${role} x="${shape.x}" y="${shape.y}"${anchor}>${escapeText(shape.text)}</text>`;
    }
    case 'mark':
      return `<line class="${shape.role}" x1="${shape.x}" y1="${shape.top}" x2="${shape.x}" y2="${shape.bottom}"/>`;
    case 'box':
      return `<rect class="${shape.role}" x="${shape.x}" y="${shape.y}" width="${shape.width}" height="${shape.height}"/>`;
    case 'levels': {
      const steps = shape.levels.map(([x, y], index) => (index === 0 ? `M${x} ${y}` : `H${x}V${y}`));
      const down = shape.floor === undefined ? '' : `V${shape.floor}H${shape.levels[0]?.[0] ?? 0}Z`;
      return `<path class="${shape.role}" d="${steps.join('')}H${shape.end}${down}"/>`;
    }
  }
}

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
