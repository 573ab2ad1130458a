import { setImmediate as tick } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { z } from 'zod';
import { invalid } from '../../errors/errors.ts';
import { parserOf } from '../parser.ts';

/*
 * A long answer as JSON text, sent in pieces, so that it is never in memory as a whole.
 * - An operation answers a plain value if it is short, and a stream if it would be long. Callers see the same answer.
 * - Pieces are produced as fast as the caller reads, from one statement per batch: no connection is held between
 *   pieces. Long answers take turns, and between two pieces other requests are served: what one piece costs is all
 *   that they wait for, however many long answers are read.
 * - Each item passes the schema of the answer, so nothing undeclared is sent.
 * - If a piece fails, the connection is cut, so that half an answer never looks complete.
 * - Transports that send an answer as one message collect it while it is short, and answer an error otherwise. One that
 *   shows a part of it reads the list instead of the pieces.
 */

/** The limit of a collected answer on a WebSocket, in characters. */
export const messageLengthMax = 4 * 1024 * 1024;

/** Pieces of about this length stay in the young generation of the heap; longer strings wait for a full collection. */
export const pieceLengthMin = 32 * 1024;

/**
 * The number of pieces that this process produces concurrently: while one waits for the database, another is produced.
 */
const turns = pLimit(2);

/** The pieces of a long answer, each produced when its turn comes. */
export async function* inTurns<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await turns(async () => {
        await tick();
        return iterator.next();
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

export class JsonStream {
  readonly pieces: AsyncIterable<string>;
  /** The same answer as records. Either these or the pieces can be read. */
  readonly list: ListStream | undefined;

  constructor(pieces: AsyncIterable<string>, list?: ListStream) {
    this.pieces = inTurns(pieces);
    this.list = list && { ...list, batches: inTurns(list.batches) };
  }

  /** The answer as a value, for transports without pieces. */
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

/** A stream in place of the declared answer; code that reads the answer as a value never sees it. */
export const streamed = <Item extends z.ZodType>(list: ListStream<Item>, pieces = listPieces(list)): never =>
  new JsonStream(pieces, list) as never;

/** An object with a list that comes in batches. */
export type ListStream<Item extends z.ZodType = z.ZodType> = {
  /** The field that holds the list. */
  field: string;
  item: Item;
  batches: AsyncIterable<readonly z.input<Item>[]>;
  /** The other fields, known when the last batch has been made. */
  others?: () => object;
};

async function* listPieces({ field, item, batches, others = () => ({}) }: ListStream): AsyncGenerator<string> {
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

/** Splits indexes, in the given order, into batches limited by count and weight. */
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
