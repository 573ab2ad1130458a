import { machineInWords } from '../support/machine.ts';
import { operations } from './operations.ts';
import type { Result } from './result.ts';
import { sides, type SideName } from './sides.ts';

/* A chart of the ratios to the floor, as SVG that needs nothing else. */

const colours: Record<SideName, string> = {
  floor: '#9aa0a6',
  bare: '#5f6368',
  rest: '#1a73e8',
  secured: '#7a9e9f',
  unaudited: '#8ab4f8',
  trpc: '#188038',
  batch: '#81c995',
  stock: '#f29900',
  nest: '#d93025',
};
const [left, barHeight, groupGap, top, width] = [250, 15, 16, 98, 560];
/** Beyond this a bar is cut off, and only its number tells. */
const ratioMax = 2;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const at = (ratio: number): number => left + (Math.min(ratio, ratioMax) / ratioMax) * width;

export function chartOf({ rows, machine, pinned }: Result): string {
  const parts: string[] = [];
  const text = (x: number, y: number, words: string, more = '') =>
    parts.push(`<text x="${x}" y="${y}"${more}>${escaped(words)}</text>`);
  let y = top;
  for (const operation of new Set(rows.map((row) => row.operation))) {
    const group = rows.filter((row) => row.operation === operation && row.side !== 'floor');
    text(left - 10, y + (group.length * barHeight) / 2 + 4, operations[operation]!.title, ' text-anchor="end"');
    for (const { side, ratio, perSecond } of group) {
      const end = at(ratio);
      parts.push(
        `<rect x="${left}" y="${y + 1}" width="${(end - left).toFixed(1)}" height="${barHeight - 2}" fill="${colours[side]}"/>`,
      );
      const figures = `${ratio.toFixed(2)}${ratio > ratioMax ? ' →' : ''} · ${Math.round(perSecond).toLocaleString('en')}/s`;
      text(end + 5, y + barHeight - 4, figures, ' font-size="10"');
      y += barHeight;
    }
    y += groupGap;
  }
  const bottom = y;
  for (const ratio of [0.5, 1, 1.5, 2]) {
    const x = at(ratio);
    const stroke = ratio === 1 ? '#3c4043' : '#dadce0';
    parts.unshift(`<line x1="${x}" y1="${top - 6}" x2="${x}" y2="${bottom - groupGap}" stroke="${stroke}"/>`);
    text(x, bottom, String(ratio), ' text-anchor="middle" font-size="10"');
  }
  const shown = [...new Set(rows.map((row) => row.side))].filter((side) => side !== 'floor');
  for (const [n, side] of shown.entries()) {
    parts.push(`<rect x="${left + n * 132}" y="66" width="12" height="12" fill="${colours[side]}"/>`);
    text(left + n * 132 + 17, 76, sides[side].title);
  }
  text(
    16,
    24,
    'Calls a second, as a ratio to the same written by hand (Fastify, pg; no tokens, no validation)',
    ' font-size="15"',
  );
  text(16, 42, `${machineInWords(machine)}, ${machine.date} UTC; ${pinned}`, ' font-size="10"');
  const height = bottom + 14;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="920" height="${height}" viewBox="0 0 920 ${height}" font-family="sans-serif" font-size="12">
<rect width="920" height="${height}" fill="#fff"/>
${parts.join('\n')}
</svg>
`;
}
