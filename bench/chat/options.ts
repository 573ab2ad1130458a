import { parseArgs } from 'node:util';

/** How many calls are under way where it is counted how many can be answered. */
export const callsAtOnce = 16;

const usage = `npm run bench:chat [-- options]
  --seconds N   how long each operation is measured, one call at a time and again ${callsAtOnce} at a time (3)
  --sockets N   WebSockets that listen (900)
  --streams N   streams of server-sent events that listen (100)
  --stalled N   of the WebSockets, those that stop reading once they listen (0)
  --others N    further WebSockets, each listening to something else (0)
  --writes N    comments that are written (100)
  --cpu-prof D  have the service write a profile of its processor time into the folder D
  --json        print the result as JSON as well
  --help        print this

It needs PostgreSQL: the server at BENCH_DATABASE_URL, else at 127.0.0.1:5432, else one of its own where PostgreSQL is
installed. It makes a database of its own there and drops it in the end.`;

export function readOptions(given: string[]) {
  const text = (fallback: string) => ({ type: 'string', default: fallback }) as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: given,
    options: {
      seconds: text('3'),
      sockets: text('900'),
      streams: text('100'),
      stalled: text('0'),
      others: text('0'),
      writes: text('100'),
      'cpu-prof': { type: 'string' },
      json: flag,
      help: flag,
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const numberOf = (name: 'seconds' | 'sockets' | 'streams' | 'stalled' | 'others' | 'writes', min: number): number => {
    const number = Number(values[name]);
    if (!(number >= min)) throw new Error(`--${name} takes a number, at least ${min}`);
    return number;
  };
  return {
    seconds: numberOf('seconds', 0.1),
    sockets: numberOf('sockets', 0),
    streams: numberOf('streams', 0),
    stalled: numberOf('stalled', 0),
    others: numberOf('others', 0),
    writes: numberOf('writes', 1),
    profileTo: values['cpu-prof'],
    json: values.json,
  };
}
