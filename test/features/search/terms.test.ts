import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { plainTextToHtml } from '../../../server/features/comments/sanitize.ts';
import { foldText, partsOf, pairsOf, readQuery, termsOf } from '../../../server/features/search/terms.ts';
import { openClone } from '../../support/database.ts';

/* The terms of rows are computed by the database, those of a query by the service. */

const database = await openClone();
const { db } = database.owner;
afterAll(() => database.close());

async function termsInDatabase(text: string): Promise<string[]> {
  const { rows } = await sql<{ terms: string[] }>`select search_terms('', ${text}) as terms`.execute(db);
  return [...new Set(rows[0]!.terms)].toSorted();
}

/** The terms that a row with this text should have. */
function termsHere(text: string): string[] {
  const terms = partsOf(foldText(text)).flatMap(({ text: part, isRun }) => {
    const characters = Array.from(part);
    if (isRun) return [...characters, ...pairsOf(part)];
    if (characters.length === 1) return characters;
    return Array.from({ length: Math.min(12, characters.length) - 1 }, (_, n) => characters.slice(0, n + 2).join(''));
  });
  return [...new Set(terms)].toSorted();
}

const texts = [
  'Cut the gears, 3 of 12',
  'Ärger mit Übergrößen in Łódź, Ærø und Œuvre; naïve façade',
  'ЖУРАВЛЬ Ёлка и ЩУКА',
  'ΣΊΣΥΦΟΣ και Ὀδυσσεύς',
  'İstanbul ISPARTA ılık',
  '東京タワーの設計図を確認してください。v2 ガガ ｶﾞｷﾞ',
  '프로젝트 계획 발표',
  'สวัสดีครับ ภาษาไทย',
  'שלום עולם مرحبا بالعالم नमस्ते दुनिया',
  'ﬁne ½ № ② ＡＢＣ１２３',
  'e\u0301clair nai\u0308ve \u1112\u1161\u11ab\u1100\u116e\u11a8',
  '🚀 launch 👩‍👩‍👧 x_y-z.w@v.example 𝒜𝓑 𠮷野家',
  '\'; drop table tasks; -- % _ \\ " & | ! ( ) :* <-> {a,b}',
];

test.each(texts)('the database and the service find the same terms in %s', async (text) => {
  expect(await termsInDatabase(text)).toEqual(termsHere(text));
});

test('they agree on random texts of many scripts', async () => {
  const ranges = [
    [0x20, 0x24f],
    [0x370, 0x58f],
    [0x5d0, 0x6d3],
    [0x900, 0xeff],
    [0x1e00, 0x206f],
    [0x3000, 0x30ff],
    [0x4e00, 0x4eff],
    [0xac00, 0xacff],
    [0xff00, 0xffdc],
    [0x1f300, 0x1f5ff],
  ] as const;
  let seed = 1;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 60; round += 1) {
    const text = Array.from({ length: 60 }, () => {
      const [from, to] = ranges[random(ranges.length)]!;
      return String.fromCodePoint(from + random(to - from + 1));
    }).join('');
    expect({ text, terms: await termsInDatabase(text) }).toEqual({ text, terms: termsHere(text) });
  }
});

test('a text has the terms of each of its words and of the beginnings of these, without case and accents', () => {
  expect(termsHere('Größe 東京都')).toEqual(
    ['gr', 'gro', 'gros', 'gross', 'grosse', '京', '京都', '東', '東京', '都'].toSorted(),
  );
  expect(termsOf(readQuery('GRÖSSE größ 東京都 京'))).toEqual(['grosse', 'gross', '東京', '京都', '京']);
});

test('markup and entities of a comment are no words', async () => {
  const message = `<p>${plainTextToHtml('Tom & <Jerry> "run"')}</p><ul><li>one</li><li>t<b>w</b>o</li></ul>`;
  const { rows } = await sql<{ text: string }>`select search_plain_text(${message}) as text`.execute(db);
  expect(partsOf(foldText(rows[0]!.text)).map(({ text }) => text)).toEqual(['tom', 'jerry', 'run', 'one', 'two']);
});
