import { z } from 'zod';
import type { RequestInfo } from '../context.ts';
import { invalid } from '../../errors/errors.ts';

/** The media type of each format of files, by the value of the field that asks for it. */
export const mediaTypes = {
  csv: 'text/csv',
  jsonl: 'application/jsonl',
  pdf: 'application/pdf',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
} as const;

export type FileFormat = keyof typeof mediaTypes;

/**
 * An answer that is a file, sent in pieces as fast as the caller reads. If a piece fails, the connection is cut, so
 * half a file never looks complete.
 */
export class Download {
  readonly format: FileFormat;
  /** Letters, digits, `.`, `_` and `-`: it is put into a header unescaped. */
  readonly filename: string;
  /** Text, in UTF-8, or bytes. */
  readonly body: AsyncIterable<string | Uint8Array>;

  constructor(parts: { format: FileFormat; filename: string; body: AsyncIterable<string | Uint8Array> }) {
    this.format = parts.format;
    this.filename = parts.filename;
    this.body = parts.body;
  }
}

/** The formats of an operation's files, each with the text of a short one for the document; null if it is no text. */
export type Files = Partial<Record<FileFormat, string | null>>;

type Choice = { answer: z.ZodType; files: Files };

const choices = new WeakMap<z.ZodType, Choice>();

/**
 * The output of an operation that can also answer a {@link Download}. Typed callers see the plain answer only, because
 * only REST serves files: see {@link requireDownloads}.
 */
export function orDownload<Answer extends z.ZodType>(
  answer: Answer,
  files: Files,
): z.ZodType<z.output<Answer>, z.input<Answer> | Download> {
  const output = z.union([z.instanceof(Download), answer]);
  choices.set(output, { answer, files });
  return output as unknown as z.ZodType<z.output<Answer>, z.input<Answer> | Download>;
}

/** The two answers of such an output. */
export function choiceOf(output: z.ZodType): Choice | undefined {
  return choices.get(output);
}

/** Refuses a `format` that is a file over a transport without files. */
export function requireDownloads(request: RequestInfo): void {
  if (request.acceptsDownloads !== true)
    throw invalid(['format'], 'asks for a file, and only the REST path answers one', 'invalid_value');
}
