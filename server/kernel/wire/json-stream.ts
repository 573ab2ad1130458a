import type { z } from 'zod';
import { invalid } from '../../errors/errors.ts';
import { parserOf } from '../parser.ts';

/*
 * A long answer as JSON text, sent piece by piece while it is made, so that it never stands in memory as a whole.
 * - An operation answers a plain value while that is short, and a stream where it would be long. Callers see one answer.
 * - Pieces are made as fast as the caller reads, from batches of their own statement each: no connection is held
 *   between pieces, and other requests are served between two pieces.
 * - Nothing undeclared gets out: each item passes the schema of the answer.
 * - Where a piece fails, the connection is cut, so that half an answer never looks like a whole one.
 * - Transports that send an answer as one message get it whole while it is short, and a refusal otherwise.
 */

/** What a message on a WebSocket may hold of a long answer, in characters. */
export const messageLengthMax = 4 * 1024 * 1024;

/** Pieces of about this length live in the young generation of the heap: longer strings wait for a full collection. */
export const pieceLengthMin = 32 * 1024;

export class JsonStream {
  readonly pieces: AsyncIterable<string>;

  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces;
  }

  /** The answer as a value, for transports that take nothing else. */
  async collect(): Promise<unknown> {
    let json = '';
    for await (const piece of this.pieces) {
      json += piece;
      if (json.length > messageLengthMax)
        throw invalid([], 'asks for more than one message can hold: ask over HTTP, which answers all of it', 'too_big');
    }
    return JSON.parse(json);
  }
}

/** A stream in the place of the declared answer, whatever that is: what reads the answer as a value never sees it. */
export const streamed = (pieces: AsyncIterable<string>): never => new JsonStream(pieces) as never;

type ListStream<Item extends z.ZodType> = {
  /** The field that holds the list. */
  field: string;
  item: Item;
  batches: AsyncIterable<readonly z.input<Item>[]>;
  /** The other fields, known when the last batch has been made. */
  others?: () => object;
};

/** An object with a list that comes in batches. */
export async function* listPieces<Item extends z.ZodType>(options: ListStream<Item>): AsyncGenerator<string> {
  const { field, item, batches, others = () => ({}) } = options;
  const parse = parserOf(item);
  let piece = `{${JSON.stringify(field)}:[`;
  let separator = '';
  for await (const batch of batches) {
    for (const one of batch) {
      piece += separator + JSON.stringify(parse(one));
      separator = ',';
      if (piece.length < pieceLengthMin) continue;
      yield piece;
      piece = '';
    }
  }
  const rest = JSON.stringify(others()).slice(1, -1);
  yield `${piece}]${rest === '' ? '' : `,${rest}`}}`;
}

/** Things by identifier, with what each weighs, in the order in which they are answered; 12 bytes for each. */
export class PackedIds {
  readonly #bytes: Buffer;

  /** `bytes` are of `int8send(id) || int4send(weight)`, one after another. */
  constructor(bytes: Buffer | null) {
    this.#bytes = bytes ?? Buffer.alloc(0);
  }

  *indexes(): Generator<number> {
    for (let index = 0; index < this.#bytes.length / 12; index += 1) yield index;
  }

  id(index: number): number {
    return Number(this.#bytes.readBigInt64BE(index * 12));
  }

  weight(index: number): number {
    return this.#bytes.readInt32BE(index * 12 + 8);
  }
}

/** Indexes in the given order, in batches of at most so many and about so much weight. */
export function* batchesOf(
  order: Iterable<number>,
  weightOf: (index: number) => number,
  { countMax, weightMax }: { countMax: number; weightMax: number },
): Generator<number[]> {
  let batch: number[] = [];
  let weight = 0;
  for (const index of order) {
    const more = weightOf(index);
    if (batch.length >= countMax || (batch.length > 0 && weight + more > weightMax)) {
      yield batch;
      batch = [];
      weight = 0;
    }
    batch.push(index);
    weight += more;
  }
  if (batch.length > 0) yield batch;
}
