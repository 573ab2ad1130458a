import { z } from 'zod';
import type { RequestInfo } from '../context.ts';
import { invalid } from '../../errors/errors.ts';

/**
 * An answer that is a file, sent in pieces as fast as the caller reads. If a piece fails, the connection is cut, so
 * half a file never looks complete.
 */
export class Download {
  /** Without parameters: the charset is always UTF-8. */
  readonly mediaType: string;
  /** Letters, digits, `.`, `_` and `-`: it is put into a header unescaped. */
  readonly filename: string;
  readonly body: AsyncIterable<string>;

  constructor(parts: { mediaType: string; filename: string; body: AsyncIterable<string> }) {
    this.mediaType = parts.mediaType;
    this.filename = parts.filename;
    this.body = parts.body;
  }
}

type Choice = {
  answer: z.ZodType;
  /** The text of a short file of each media type, for the document. */
  files: Record<string, string>;
};

const choices = new WeakMap<z.ZodType, Choice>();

/**
 * The output of an operation that can also answer a {@link Download}. Typed callers see the plain answer only, because
 * only REST serves files: see {@link requireDownloads}.
 */
export function orDownload<Answer extends z.ZodType>(
  answer: Answer,
  files: Record<string, string>,
): z.ZodType<z.output<Answer>, z.input<Answer> | Download> {
  const output = z.union([z.instanceof(Download), answer]);
  choices.set(output, { answer, files });
  return output as unknown as z.ZodType<z.output<Answer>, z.input<Answer> | Download>;
}

/** The two answers of such an output. */
export function choiceOf(output: z.ZodType): Choice | undefined {
  return choices.get(output);
}

/** Refuses a request for a file over a transport without files; `field` is the one that asks for it. */
export function requireDownloads(request: RequestInfo, field: string): void {
  if (request.acceptsDownloads !== true)
    throw invalid([field], 'asks for a file, and only the REST path answers one', 'invalid_value');
}
