import { decodeHTMLStrict } from 'entities';
import * as fc from 'fast-check';
import { parseFragment, serialize, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { describe, expect, test } from 'vitest';
import { addressesIn, textMentionsMax } from '../../../server/features/comments/mentions.ts';
import { excerptOf, messageBytesMax, plainTextOf, readMessage } from '../../../server/features/comments/rich-text.ts';
import { allowedTags, plainTextToHtml, sanitizeRichText } from '../../../server/features/comments/sanitize.ts';

/** What a browser makes of HTML, by the standard's own algorithm. */
function textOf(node: Tree.Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}
const shownBy = (html: string): string => textOf(parseFragment(html));
/** A browser reads each of these as one line break. */
const asRead = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

function elementsIn(node: Tree.ParentNode | Tree.Node): Tree.Element[] {
  if (!('childNodes' in node)) return [];
  return node.childNodes.flatMap((child) => ('attrs' in child ? [child, ...elementsIn(child)] : elementsIn(child)));
}

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
    ['code', 'if (x<y) { z>w }', 'if (x&lt;y) { z&gt;w }'],
    [
      'comparisons',
      'a < b && c > d, a <b and c> d, a<b&&c>d',
      'a &lt; b &amp;&amp; c &gt; d, a &lt;b and c&gt; d, a&lt;b&amp;&amp;c&gt;d',
    ],
    ['a script', 'a<script>alert(1)</script>', 'a&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['a script in odd letters', 'a<ScRiPt >alert(1)</sCrIpT\t>', 'a&lt;ScRiPt &gt;alert(1)&lt;/sCrIpT\t&gt;'],
    ['a script that is not closed', 'a<script>alert(1)', 'a&lt;script&gt;alert(1)'],
    ['a script inside a script', '<scr<script>x</script>ipt>', '&lt;scr&lt;script&gt;x&lt;/script&gt;ipt&gt;'],
    ['a picture with a handler', '<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['styles', '<style>*{x:y}</style>', '&lt;style&gt;*{x:y}&lt;/style&gt;'],
    ['svg', '<svg><a xlink:href="javascript:x">', '&lt;svg&gt;<a></a>'],
    ['mathml', '<math><mtext><mglyph>', '&lt;math&gt;&lt;mtext&gt;&lt;mglyph&gt;'],
    ['noscript', '<noscript><p title="</noscript><img src=x>">b', '&lt;noscript&gt;<p>b</p>'],
    ['forms', '<form action=x><input></form>', '&lt;form action=x&gt;&lt;input&gt;&lt;/form&gt;'],
    ['comments', 'a<!-- <b>x</b> --><!doctype html>', 'a&lt;!-- <b>x</b> --&gt;&lt;!doctype html&gt;'],
    ['instructions', '<![CDATA[y]]><?php z ?>', '&lt;![CDATA[y]]&gt;&lt;?php z ?&gt;'],
    ['half a tag', 'a <b', 'a &lt;b'],
    [
      'an attribute that does not end',
      '<a href="https://x.example>y</a>',
      '&lt;a href="https://x.example&gt;y&lt;/a&gt;',
    ],
    ['an end that has no beginning', 'a</b></p>b', 'a&lt;/b&gt;&lt;/p&gt;b'],
    ['a reference without its end', '?a=1&copy=2 &amp &lt', '?a=1&amp;copy=2 &amp;amp &amp;lt'],
  ])('shows %s as text', (_, given, expected) => {
    expect(sanitizeRichText(given)).toBe(expected);
  });

  test.each([
    ['handlers', '<b onclick="x">b</b>', '<b>b</b>'],
    ['styles and classes', '<p style="position:fixed" class="c" id="i">p</p>', '<p>p</p>'],
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
    [
      'a second address',
      '<a href=https://x.example/?a=1&copy=2 href="javascript:x">x</a>',
      `<a href="https://x.example/?a=1&amp;copy=2" ${opened}>x</a>`,
    ],
    ['tags that are not closed', '<p>a<b>b', '<p>a<b>b</b></p>'],
    ['tags that end in another order', '<b>a<i>b</b>c</i>d', '<b>a<i>b</i></b>cd'],
    [
      'items and paragraphs that end with the next',
      '<p>a<p>b<ul><li>c<li>d</ul></p>',
      '<p>a</p><p>b</p><ul><li>c</li><li>d</li></ul>',
    ],
    [
      'a heading that ends with the next',
      '<h1><div><h2>a<h3>b</h3></h2></div>c</h1>',
      '<h1><div><h2>a</h2><h3>b</h3></div>c</h1>',
    ],
    ['a block in a paragraph, however deep', '<p>a<b>b<div>c</div>d</b></p>e', '<p>a<b>b</b></p><div>c</div>de'],
    [
      'an item that ends with the next, however deep',
      '<ul><li>a<div>b<li>c</div>d</ul>',
      '<ul><li>a<div>b</div></li><li>cd</li></ul>',
    ],
    ['a link in a link, however deep', '<a>a<b>b<a>c</a>d</b></a>e', '<a>a<b>b</b></a><a>c</a>de'],
  ])('disarms or completes %s', (_, given, expected) => {
    expect(sanitizeRichText(given)).toBe(expected);
  });

  const piece = fc.constantFrom(
    ...`< > " ' & / = <b> </b> <p <a_href=" https://x.example <svg> </svg> javascript: onerror= <script> </script> <!--`.split(
      ' ',
    ),
    ...'--> <img_src=x_ &lt; &#60; &amp; &lt <noscript> </noscript> <xmp> <style> </style> <math> <textarea> </textarea>'.split(
      ' ',
    ),
    ...'<iframe> text <ul><li> </ul> <![CDATA[ _ <title> </title> <template> <h1> <pre> </a> <a_href=http://y_id=z> <br/> \u0001 </p> <span>'.split(
      ' ',
    ),
  );
  const anyMarkup = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('').replaceAll('_', ' ')),
    fc.string({ unit: fc.constantFrom(...Array.from('<>/="\'&;# \naAbBpis')), maxLength: 60 }),
  );

  test('is nothing but tags of the list with harmless links, for every reader, and stays inside its place', () => {
    fc.assert(
      fc.property(anyMarkup, (sent) => {
        const stored = sanitizeRichText(sent);
        const [place, after, ...others] = parseFragment(`<div>${stored}</div><hr>`).childNodes;
        expect([place!.nodeName, after!.nodeName, others.length]).toEqual(['div', 'hr', 0]);
        for (const { nodeName, attrs } of elementsIn(place!)) {
          expect(allowedTags).toContain(nodeName);
          const { href = 'https://none.example', ...fixed } = Object.fromEntries(
            attrs.map((one) => [one.name, one.value]),
          );
          expect(new URL(href).protocol).toMatch(/^(https?|mailto):$/);
          expect(fixed).toEqual(attrs.length === 0 ? {} : { target: '_blank', rel: 'noopener noreferrer nofollow' });
        }
      }),
      { numRuns: 3_000 },
    );
  });

  const anyTag = fc.constantFrom(
    'x',
    ...allowedTags.flatMap((name) => [name === 'a' ? '<a href="https://x.example/">' : `<${name}>`, `</${name}>`]),
  );
  const anyTags = fc.array(anyTag, { maxLength: 40, size: 'max' }).map((tags) => tags.join(''));

  test('is read by browsers as it is written: no tag ends an element but its own', () => {
    fc.assert(
      fc.property(anyTags, (sent) => {
        const stored = sanitizeRichText(sent);
        expect(serialize(parseFragment(stored))).toBe(stored.replaceAll(' />', '>'));
      }),
      { numRuns: 5_000 },
    );
  });

  test('is the same when it is sent again', () => {
    fc.assert(
      fc.property(fc.oneof(anyMarkup, anyTags), (sent) => {
        const stored = sanitizeRichText(sent);
        expect(sanitizeRichText(stored)).toBe(stored);
      }),
      { numRuns: 3_000 },
    );
  });

  const anyText = fc
    .oneof(anyMarkup, fc.string({ unit: 'binary', maxLength: 60 }))
    .map((text) => text.replaceAll('\0', ''));
  const isTag = new RegExp(`</?(?:${allowedTags.join('|')})(?![a-z0-9])`, 'i');

  test('of text without tags of the list shows every character of it', () => {
    fc.assert(
      fc.property(
        anyText.filter((text) => !isTag.test(text)),
        (sent) => {
          expect(shownBy(sanitizeRichText(sent))).toBe(asRead(decodeHTMLStrict(sent)));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('shows every character that stands between tags of the list', () => {
    const leaf = anyText.filter((text) => !isTag.test(text) && !/[&<]/.test(text.slice(-40)));
    const { html } = fc.letrec<{ html: { sent: string; text: string } }>((tie) => ({
      html: fc.oneof(
        { maxDepth: 4 },
        leaf.map((text) => ({ sent: `${text} `, text: `${decodeHTMLStrict(text)} ` })),
        fc
          .tuple(
            fc.constantFrom('b', 'span', 'blockquote', 'H2', 'code class="k"', 'a href="/x"', "div style='y'"),
            fc.array(tie('html')),
          )
          .map(([name, inner]) => ({
            sent: `<${name}>${inner.map((one) => one.sent).join('')}</${name.split(' ')[0]}>`,
            text: inner.map((one) => one.text).join(''),
          })),
      ),
    }));
    fc.assert(
      fc.property(html, ({ sent, text }) => {
        expect(shownBy(sanitizeRichText(sent))).toBe(asRead(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test('made of plain text shows every character of it, whatever it is', () => {
    fc.assert(
      fc.property(anyText, (sent) => {
        const stored = plainTextToHtml(sent);
        expect(shownBy(stored)).toBe(asRead(sent));
        expect(elementsIn(parseFragment(stored)).every(({ nodeName }) => nodeName === 'br')).toBe(true);
        expect(sanitizeRichText(stored)).toBe(stored);
      }),
      { numRuns: 3_000 },
    );
    expect(plainTextOf(plainTextToHtml('a\r\n<b> & c\nd'))).toBe('a\n<b> & c\nd');
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

  test('nests at most 40 tags, and shows deeper ones as text', () => {
    const nested = `${'<b>'.repeat(42)}x${'</b>'.repeat(42)}`;
    expect(sanitizeRichText(nested)).toBe(
      `${'<b>'.repeat(40)}${'&lt;b&gt;'.repeat(2)}x${'&lt;/b&gt;'.repeat(2)}${'</b>'.repeat(40)}`,
    );
  });
});

describe('a message', () => {
  const read = (message: string, format: 'html' | 'text' = 'html', hasImage = false) =>
    readMessage({ message, format }, { hasImage });
  const issuesOf = (call: () => unknown) => {
    try {
      call();
    } catch (error) {
      return (error as { issues: unknown }).issues;
    }
    return undefined;
  };

  test.each(['html', 'text'] as const)('as %s has at most 64 KiB as it is stored', (format) => {
    expect(read('&'.repeat(13_107), format)).toHaveLength(65_535);
    expect(issuesOf(() => read('&'.repeat(13_108), format))).toMatchObject([{ path: ['message'], code: 'too_big' }]);
  });

  test('is something that can be seen, or empty beside an image', () => {
    for (const empty of ['', ' \n', '<p></p>', '<br>', '\u200b', '&nbsp;']) {
      expect(issuesOf(() => read(empty))).toMatchObject([{ path: ['message'], code: 'too_small' }]);
      expect(issuesOf(() => read(empty, 'html', true))).toBeUndefined();
    }
    expect(read('<!-- -->')).toBe('&lt;!-- --&gt;');
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
    const family = '👨‍👩‍👧‍👦';
    expect(excerptOf(`ab${family}${family}`, 8)).toBe('ab…');
    expect(excerptOf(`ab${family}${family}`, 10)).toBe(`ab${family}…`);
    expect(excerptOf(`a${'\u0301'.repeat(20)}`, 4)).toBe('a\u0301\u0301…');
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
