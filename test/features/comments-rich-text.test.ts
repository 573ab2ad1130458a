import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressesIn, textMentionsMax } from '../../server/features/comments/mentions.ts';
import {
  excerptOf,
  messageBytesMax,
  plainTextOf,
  richText,
  sanitizeRichText,
} from '../../server/features/comments/rich-text.ts';

/** The text without its layout. */
const readable = (message: string): string => plainTextOf(message).replaceAll(/\s/g, '');

const opened = 'target="_blank" rel="noopener noreferrer nofollow"';

describe('sanitised rich text', () => {
  test.each([
    ['plain text', 'Ready & done', 'Ready &amp; done'],
    ['line breaks', 'a\nb<br>c', 'a\nb<br />c'],
    ['what looks like tags', '1 < 2 > 0 <3', '1 &lt; 2 &gt; 0 &lt;3'],
    ['formatting', '<p><b>a</b><u>b</u><s>c</s></p>', '<p><b>a</b><u>b</u><s>c</s></p>'],
    [
      'blocks',
      '<h2>T</h2><ul><li>x</li></ul><pre><code>y</code></pre>',
      '<h2>T</h2><ul><li>x</li></ul><pre><code>y</code></pre>',
    ],
    [
      'a web link',
      '<a href="https://x.example/?a=1&b=2">x</a>',
      `<a href="https://x.example/?a=1&amp;b=2" ${opened}>x</a>`,
    ],
    [
      'a mail link',
      '<a href="mailto:ada@example.com" target="_top">x</a>',
      `<a href="mailto:ada@example.com" ${opened}>x</a>`,
    ],
  ])('keeps %s', (_, given, expected) => {
    expect(sanitizeRichText(given)).toBe(expected);
  });

  test.each([
    ['a script', 'a<script>alert(1)</script>', 'a'],
    ['a script in odd letters', 'a<ScRiPt >alert(1)</sCrIpT\t>', 'a'],
    ['a script that is not closed', 'a<script>alert(1)', 'a'],
    ['a script inside a script', 'a<scr<script>x</script>ipt>alert(1)</script>', 'axipt&gt;alert(1)'],
    ['handlers', '<img src=x onerror=alert(1)><b onclick="x">b</b><body onload=x>', '<b>b</b>'],
    ['handlers after a slash', '<b/onmouseover=alert(1)>b</b>', '<b>b</b>'],
    ['styles', '<style>*{x:y}</style><p style="position:fixed" class="c" id="i">p</p>', '<p>p</p>'],
    ['a javascript link', '<a href="javascript:alert(1)">x</a>', '<a>x</a>'],
    ['a javascript link in pieces', '<a href=" &#x6A;ava\tscr\nipt:alert(1)">x</a>', '<a>x</a>'],
    ['a javascript link behind a control character', '<a href="\u0001javascript:alert(1)">x</a>', '<a>x</a>'],
    ['a vbscript link', '<a href="vbscript:x">x</a>', '<a>x</a>'],
    ['a data link', '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>', '<a>x</a>'],
    ['a protocol-relative link', '<a href="//evil.example">x</a><a href="\\\\evil.example">y</a>', '<a>x</a><a>y</a>'],
    ['a relative link', '<a href="/logout/">x</a><a href="https:logout">y</a>', '<a>x</a><a>y</a>'],
    [
      'an attribute that breaks out',
      '<a href="https://x.example/&quot; onclick=&quot;y">x</a>',
      `<a href="https://x.example/&quot; onclick=&quot;y" ${opened}>x</a>`,
    ],
    ['svg', '<svg><a xlink:href="javascript:x"><text>t</text></a><script>x</script></svg>b', 'b'],
    ['svg that hides an image', '<svg><style><img src=x onerror=alert(1)></style></svg>b', 'b'],
    [
      'mathml that mutates',
      '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
      '',
    ],
    ['noscript that mutates', '<noscript><p title="</noscript><img src=x onerror=alert(1)>">b', ''],
    [
      'frames, forms and objects',
      '<iframe src=x>i</iframe><form action=x><input><button>k</button></form><object>o</object>',
      'k',
    ],
    ['comments', 'a<!-- <b>x</b> --><![CDATA[y]]><!doctype html><?php z ?>b', 'ab'],
    ['tags that are not closed', '<p>a<b>b', '<p>a<b>b</b></p>'],
    ['tags that were never opened', 'a</b></p></script>b', 'a<p></p>b'],
  ])('drops or disarms %s', (_, given, expected) => {
    expect(sanitizeRichText(given)).toBe(expected);
  });

  test('holds no tag or attribute beyond the list, and has the same text when sanitised again', () => {
    const piece = fc.constantFrom(
      ...`< > " ' & / = <b> </b> <p <a_href=" https://x.example <svg> </svg> javascript: onerror= <script> </script> <!--`.split(
        ' ',
      ),
      ...'--> <img_src=x_ &lt; &#60; <noscript> </noscript> <xmp> <style> </style> <math> <textarea> </textarea>'.split(
        ' ',
      ),
      ...'<iframe> text <ul><li> <![CDATA[ _ <title> </title> <template> <h1> <pre>'.split(' '),
    );
    const allowed = new RegExp(
      `^<(?:/?(?:p|b|a|ul|ol|li|i|u|s|em|strong|blockquote|code|pre|h[1-3])|br /|a href="(?:https?://|mailto:)[^"<>]*" ${opened})>$`,
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const once = sanitizeRichText(pieces.join('').replaceAll('_', ' '));
        for (const [tag] of once.matchAll(/<[^>]*>?/g)) expect(tag).toMatch(allowed);
        expect(readable(sanitizeRichText(once))).toBe(readable(once));
      }),
      { numRuns: 3_000 },
    );
  });

  test('takes a fraction of a second for the most hostile 64 KiB', () => {
    for (const unit of [
      '<b>',
      '<',
      '&',
      '<b></p>',
      '<ul><li>',
      '<svg>',
      '<a href=http://x>',
      '<!--',
      '<noscript>',
      '<iframe><b>',
      '@a@a.',
    ]) {
      const hostile = unit.repeat(Math.floor(messageBytesMax / unit.length));
      const before = process.cpuUsage();
      addressesIn(plainTextOf(sanitizeRichText(hostile)));
      const { user, system } = process.cpuUsage(before);
      expect({ unit, isQuick: user + system < 500_000 }).toEqual({ unit, isQuick: true });
    }
  });

  test('nests at most 40 tags, whatever is sent', () => {
    const nested = `${'<b>'.repeat(2_000)}x${'</b>'.repeat(2_000)}`;
    expect(sanitizeRichText(nested)).toBe(`${'<b>'.repeat(40)}x${'</b>'.repeat(40)}`);
  });
});

describe('a message', () => {
  test('with more than 5,000 tags is refused by name', () => {
    expect(richText.safeParse(`x${'<br>'.repeat(5_000)}`).success).toBe(true);
    expect(richText.safeParse(`x${'<br>'.repeat(5_001)}`).error?.issues[0]?.message).toBe(
      'must have at most 5000 tags',
    );
  });
});

describe('the plain text of a message', () => {
  test('has a line for each block, and characters for entities, once', () => {
    const message = sanitizeRichText('<p>a &amp;lt; <b>b</b></p><ul><li>c</li><li>d</li></ul>e<br>f &amp; "g"&nbsp;h');
    expect(plainTextOf(message)).toBe('a &lt; b\nc\nd\ne\nf & "g" h');
  });

  test('is cut between characters', () => {
    expect(excerptOf('😀😀😀😀', 4)).toBe('😀😀😀😀');
    expect(excerptOf('😀😀😀😀😀', 4)).toBe('😀😀😀…');
    expect(excerptOf('short', 200)).toBe('short');
  });
});

describe('addresses in a text', () => {
  test.each([
    ['@ada@example.com', ['ada@example.com']],
    [
      'Hi @Ada@Example.COM, and (@grace.hopper+x@mail.example.com).',
      ['ada@example.com', 'grace.hopper+x@mail.example.com'],
    ],
    ['@ada@example.com @ADA@example.com', ['ada@example.com']],
    ['mail ada@example.com', []],
    ['x@ada@example.com', []],
    ['@ada @ada@ @@example.com @ada@example', []],
    ["@o'neil@my-host.example.com!", ["o'neil@my-host.example.com"]],
  ])('are found in %s', (text, expected) => {
    expect(addressesIn(text)).toEqual(expected);
  });

  test('are not found in tags and attributes', () => {
    const message = sanitizeRichText(
      '<a href="https://x.example/@ada@example.com" title="@bob@example.com">@eve@example.com</a>',
    );
    expect(addressesIn(plainTextOf(message))).toEqual(['eve@example.com']);
  });

  test('are at most 100', () => {
    const text = Array.from({ length: 150 }, (_, index) => `@p${index}@example.com`).join(' ');
    expect(addressesIn(text)).toHaveLength(textMentionsMax);
  });
});
