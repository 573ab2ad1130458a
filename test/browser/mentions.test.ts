import { describe, expect, test } from 'vitest';
import {
  complete,
  mentionedIn,
  piecesOf,
  queryAt,
  suggestionsFor,
} from '../../client-sdk/examples/web/src/comments/mentions.ts';
import { strangeNames } from './strange-names.ts';

const people = strangeNames.map((name, index) => ({ name, email: `person${index}@example.com` }));
const emailOf = (name: string): string => people.find((one) => one.name === name)!.email;

/** The mentions in a text, each by its words. */
const mentionsIn = (text: string): string[] =>
  piecesOf(text, people)
    .filter((piece) => piece.people.length > 0)
    .map((piece) => piece.text);

describe.each(strangeNames)('the name %s', (name) => {
  test('is found where it is mentioned, alone and in a sentence, and nobody else is', () => {
    for (const text of [`@${name}`, `Ask @${name}, please (@${name})!`, `@${name}\n@${name}`]) {
      expect(mentionedIn(text, people)).toEqual([emailOf(name)]);
      expect(new Set(mentionsIn(text))).toEqual(new Set([`@${name}`]));
      expect(
        piecesOf(text, people)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(text);
    }
  });

  test('is offered while it is typed, and completed as it is written', () => {
    const half = Array.from(name, String).slice(0, 3).join('');
    const text = `Ask @${half}`;
    const query = queryAt(text, text.length)!;
    expect(suggestionsFor(query, people).map((one) => one.name)).toContain(name);
    expect(complete(text, query, name)).toEqual({ text: `Ask @${name} `, cursor: name.length + 6 });
  });
});

describe('a mention', () => {
  test('means the longest name that stands there', () => {
    expect(mentionedIn('@Ann Leeds', people)).toEqual([emailOf('Ann Leeds')]);
    expect(mentionedIn('@Ann Lee and @Ann Leeds', people)).toEqual([emailOf('Ann Lee'), emailOf('Ann Leeds')]);
    expect(mentionedIn('@Ann Leer', people)).toEqual([emailOf('Ann')]);
  });

  test('is of nobody where the word goes on', () => {
    for (const text of ['@Annabel', '@Ann\u0308', '@王伟明', '@Ann_x', 'mail@Ann.example', '@ Ann'])
      expect([text, mentionedIn(text, people)]).toEqual([text, []]);
  });

  test('may be an address, in whatever letters', () => {
    expect(mentionedIn('Ask @PERSON0@example.com.', people)).toEqual(['person0@example.com']);
    expect(mentionsIn('@ann lee!')).toEqual(['@ann lee']);
  });

  test('of a name that two have means both', () => {
    const twins = [
      { name: 'Kim Roe', email: 'kim@example.com' },
      { name: 'Kim Roe', email: 'kim.roe@example.com' },
    ];
    expect(mentionedIn('@Kim Roe', twins)).toEqual(['kim@example.com', 'kim.roe@example.com']);
  });

  test('is not looked for in an address, across lines, or far behind its @', () => {
    for (const text of ['ann@exam', '@ann\nlee', `@${'a'.repeat(61)}`, 'ann', ''])
      expect([text, queryAt(text, text.length)]).toEqual([text, null]);
    expect(queryAt('@ann', 0)).toBeNull();
  });
});
