import { createDocumentCheck } from '../support/document-check.ts';
import type { ApiDocument } from './document.ts';
import { urlOf, type FuzzAnswer, type FuzzRequest } from './request.ts';
import { foreignMark } from './world.ts';

/** What only the inside of a service knows. */
const inside = /\bat (?:async )?\S+ \(|\.ts:\d+|node_modules|SQLSTATE|syntax error at or near|violates \w+ constraint/;

/** Files that are no text. */
const files = /^application\/(?:pdf|vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet)$/;

/** Says what is wrong with the answer to a request: nothing, or a sentence for each thing. */
export function createVerdict(document: ApiDocument): (request: FuzzRequest, answer: FuzzAnswer) => string[] {
  const check = createDocumentCheck(document.whole);
  const anyPath = document.operations.find(({ method }) => method === 'POST')!.path;

  return (request, { status, headers, body }) => {
    const { method } = request;
    const answered = { method, operationId: undefined, status, headers: withoutHop(headers), body };
    const name = `${method} ${request.operation}`;
    const problems: string[] = [];
    if (status >= 500) problems.push(`${name} answered ${status}`);
    const isText = !files.test(headers['content-type'] ?? '');
    if (isText && body.includes('\ufffd') && !bodyHas(request, '\ufffd'))
      problems.push(`${name} answered text that is no UTF-8`);
    if (inside.test(body)) problems.push(`${name} tells of its inside: ${inside.exec(body)![0]}`);
    if (body.includes(foreignMark) && !isTheirs(request)) problems.push(`${name} tells what another company keeps`);
    try {
      const declared =
        check({ ...answered, url: decodeUnreserved(urlOf(request)) }) ??
        // A path that is nowhere is answered as any path is that lacks the method.
        check({ ...answered, method: method === 'HEAD' ? method : 'NONE', url: anyPath })!;
      problems.push(...declared);
    } catch (error) {
      problems.push(`${name} answered ${status} with what is no JSON: ${String(error)}`);
    }
    return problems;
  };
}

/**
 * Whether the neighbour calls, somebody who has their password or their code, or somebody who may be told of their company:
 * it can invite any address, and who accepts that signs in to both.
 */
const isTheirs = (request: FuzzRequest): boolean =>
  request.actor === 'neighbour' || /^(auth|invitations)\./.test(request.operation) || bodyHas(request, 'neighbour');

const bodyHas = ({ body }: FuzzRequest, text: string): boolean =>
  body !== undefined && ('bytes' in body || JSON.stringify(body.json).includes(text));

/** As a server reads it: a letter is the same letter where it is percent-encoded. */
const decodeUnreserved = (url: string): string =>
  url.replaceAll(/%[0-7][0-9a-f]/gi, (code) => {
    const letter = decodeURIComponent(code);
    return /[\w.~-]/.test(letter) ? letter : code;
  });

/** Headers of the connection say nothing of an answer. */
function withoutHop(headers: Record<string, string>): Record<string, string> {
  const { date: _date, 'keep-alive': _keepAlive, 'transfer-encoding': _transfer, ...others } = headers;
  return others;
}
