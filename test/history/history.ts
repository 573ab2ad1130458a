/*
 * Decides whether what clients saw can be true, as Jepsen's Elle decides it for append-only lists. A task is a list, a comment
 * an element, and the events of the task tell the order: they are numbered in the order of commits. The promises:
 *
 * - A subscriber receives every event once, in order, without a gap, and all subscribers receive the same.
 * - A write that was acknowledged is in the stream once, and one that was refused is not.
 * - A list that is read holds the comments committed so far, no later and no earlier. So there must be one order of all
 *   writes and reads that agrees with the numbers, with what each read has seen, and with real time: what had ended before
 *   something else began comes first. Each of these is an edge of a graph, and a cycle says that there is no such order.
 *
 * Operations on one list are compared with each other only: lists of which each is linearizable are so together.
 */

export type Append = {
  kind: 'append';
  process: string;
  stream: string;
  /** Unique in the history. */
  value: string;
  /** An unknown one may take effect at any time after its beginning, or never. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  begun: number;
  ended: number;
};

/** All elements of a list, as one answer had them. */
export type Read = { kind: 'read'; process: string; stream: string; values: string[]; begun: number; ended: number };

/** An event that a subscriber received; it has a value where an element was appended. */
export type Delivery = {
  kind: 'delivery';
  process: string;
  stream: string;
  id: number;
  value?: string;
  at: number;
};

export type Operation = Append | Read | Delivery;

/** Returns what cannot be, a sentence each; nothing if all is well. */
export function checkHistory(history: readonly Operation[]): string[] {
  const byStream = Map.groupBy(history, ({ stream }) => stream);
  return [...byStream].flatMap(([stream, operations]) => checkStream(operations).map((what) => `${stream}: ${what}`));
}

function checkStream(operations: Operation[]): string[] {
  const writes = operations.filter((one): one is Append => one.kind === 'append');
  const appends = new Map(writes.map((one) => [one.value, one]));
  const reads = operations.filter((one): one is Read => one.kind === 'read');
  const deliveries = operations.filter((one): one is Delivery => one.kind === 'delivery');
  const { order, problems } = findOrder(deliveries);

  const places = new Map<string, number>();
  for (const [place, value] of order.entries()) {
    if (places.has(value)) problems.push(`"${value}" was appended twice`);
    else places.set(value, place);
  }
  for (const { value, outcome } of writes)
    if (outcome === 'acknowledged' && !places.has(value))
      problems.push(`"${value}" was acknowledged, and no event tells of it`);
  for (const value of new Set([...order, ...reads.flatMap(({ values }) => values)])) {
    const append = appends.get(value);
    if (!append) problems.push(`"${value}" was seen, and nobody wrote it`);
    else if (append.outcome === 'refused') problems.push(`"${value}" was seen, and its write was refused`);
    else if (!places.has(value)) problems.push(`"${value}" was read, and no event tells of it`);
  }
  for (const { process, values } of reads) {
    const known = new Set<string>();
    const twice = values.find((value) => known.size === known.add(value).size);
    if (twice !== undefined) problems.push(`${process} read "${twice}" twice in one answer`);
  }
  // The graph needs an order of the writes.
  if (problems.length > 0) return problems;

  const cycle = findCycle(operations, (edge) => {
    const inOrder = order.map((value) => appends.get(value)!);
    for (const [place, append] of inOrder.entries()) if (place > 0) edge(inOrder[place - 1]!, append);
    for (const read of reads) {
      const seen = new Set(read.values);
      const last = inOrder.findLast((append) => seen.has(append.value));
      const unseen = inOrder.find((append) => !seen.has(append.value));
      if (last) edge(last, read);
      if (unseen) edge(read, unseen);
    }
    for (const one of deliveries) if (one.value !== undefined) edge(appends.get(one.value)!, one);
  });
  return cycle ? [`no order explains: ${cycle.map(describe).join(' → ')}`] : [];
}

/** The elements in the order that the events tell, and where subscribers received something else. */
function findOrder(deliveries: Delivery[]): { order: string[]; problems: string[] } {
  const problems: string[] = [];
  const events = new Map<number, string | undefined>();
  for (const { process, id, value } of deliveries) {
    if (events.has(id) && events.get(id) !== value)
      problems.push(`${process} received "${value}" as event ${id}, where another received "${events.get(id)}"`);
    else events.set(id, value);
  }
  const last = Math.max(0, ...events.keys());
  for (const [process, received] of Map.groupBy(deliveries, (one) => one.process)) {
    let expected = 1;
    for (const { id } of received) {
      if (id !== expected) problems.push(`${process} received event ${id} where ${expected} was next`);
      expected = id + 1;
    }
    if (expected <= last) problems.push(`${process} received events up to ${expected - 1} of ${last}`);
  }
  const inOrder = [...events].toSorted(([a], [b]) => a - b).map(([, value]) => value);
  return { order: inOrder.filter((value) => value !== undefined), problems };
}

type Moment = { time: number; isEnd: boolean; operation: Operation };

/**
 * A cycle of the edges that `addEdges` adds and of those of real time. Those lead by way of nodes for the moments at which
 * something ended, one after the other, so that there are as many as operations and not as many as pairs of them.
 */
function findCycle(
  operations: Operation[],
  addEdges: (edge: (from: Operation, to: Operation) => void) => void,
): Operation[] | undefined {
  const next = new Map<object, object[]>();
  const edge = (from: object, to: object): void => {
    const known = next.get(from);
    if (known) known.push(to);
    else next.set(from, [to]);
  };
  addEdges(edge);
  const moments = operations.flatMap((operation): Moment[] => {
    if (operation.kind === 'append' && operation.outcome === 'refused') return [];
    const [begun, ended] =
      operation.kind === 'delivery' ? [operation.at, operation.at] : [operation.begun, operation.ended];
    const begin = { time: begun, isEnd: false, operation };
    const isOver = operation.kind !== 'append' || operation.outcome === 'acknowledged';
    return isOver ? [begin, { time: ended, isEnd: true, operation }] : [begin];
  });
  let latest: object = {};
  for (const { isEnd, operation } of moments.toSorted((a, b) => a.time - b.time || Number(a.isEnd) - Number(b.isEnd))) {
    if (!isEnd) {
      edge(latest, operation);
      continue;
    }
    const moment = {};
    edge(latest, moment);
    edge(operation, moment);
    latest = moment;
  }
  const cycle = findCycleFrom(next);
  return cycle?.filter((node): node is Operation => 'kind' in node);
}

/** Depth first, without recursion: paths are as long as the history. */
function findCycleFrom(next: Map<object, object[]>): object[] | undefined {
  const done = new Set<object>();
  for (const start of next.keys()) {
    if (done.has(start)) continue;
    const path: { node: object; left: object[] }[] = [{ node: start, left: [...(next.get(start) ?? [])] }];
    const onPath = new Set([start]);
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const to = step.left.pop();
      if (to === undefined) {
        onPath.delete(step.node);
        done.add(step.node);
        path.pop();
      } else if (onPath.has(to)) {
        const nodes = path.map(({ node }) => node);
        return nodes.slice(nodes.indexOf(to));
      } else if (!done.has(to)) {
        onPath.add(to);
        path.push({ node: to, left: [...(next.get(to) ?? [])] });
      }
    }
  }
  return undefined;
}

function describe(operation: Operation): string {
  const ms = (time: number): string => time.toFixed(0);
  if (operation.kind === 'delivery')
    return `event ${operation.id} "${operation.value}" to ${operation.process} at ${ms(operation.at)} ms`;
  const when = `by ${operation.process}, ${ms(operation.begun)} to ${ms(operation.ended)} ms`;
  if (operation.kind === 'append') return `"${operation.value}" written ${when}`;
  return `${operation.values.length} read ${when}`;
}
