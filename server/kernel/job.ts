import { sql } from 'kysely';
import type { z } from 'zod';
import { compiled } from '../../db/pipeline/compiled.ts';
import type { Db } from '../../db/open.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Services } from './context.ts';
import { noteEnqueued } from './commit-signals.ts';

/*
 * The outbox. A job is a row that is written in the transaction of its cause and run by a worker after the commit, at
 * least once. A job handler is the code that runs it: it sends a mail, or writes other rows. Queues run side by side,
 * so jobs that need only the database never wait for the mail provider. Payloads hold identifiers and never a secret:
 * secrets are created when the job runs. `server/jobs/` runs them.
 */
export const queues = ['database', 'mail'] as const;
export type Queue = (typeof queues)[number];

export type JobServices = Pick<
  Services,
  'database' | 'clock' | 'log' | 'settings' | 'tokens' | 'streams' | 'wakeWorker' | 'wakeWebhooks'
> & {
  mailer: Mailer;
  /** The job handler that runs, for the audit log. */
  jobName?: string;
};

/** A kind of job. A feature enqueues it; a handler, perhaps of another feature, runs it. */
export type Job<Payload> = {
  readonly name: string;
  readonly queue: Queue;
  readonly payload: z.ZodType<Payload>;
};

export type JobRun = {
  /** The same at every try, so that a provider can recognise a duplicate. */
  dedupeKey: string;
  /** When the job was enqueued. */
  createdAt: Date;
};

/** A job handler with the type of its payload hidden. */
export type AnyJobHandler = {
  readonly name: string;
  readonly queue: Queue;
  /** Runs at least once for each job, so its effect must be idempotent. */
  run(services: JobServices, payload: unknown, job: JobRun): Promise<void>;
  /**
   * Runs several jobs of one company together, where many wait. All of them count as done when it returns; where it
   * throws, each job is run alone.
   */
  runBatch?(services: JobServices, companyId: number, payloads: unknown[]): Promise<void>;
};

/** A handler is also the kind of job that it runs, so most jobs are declared with their handler. */
export type JobHandler<Payload> = AnyJobHandler & Job<Payload>;

/** Declares a kind of job whose handler is elsewhere: see {@link handlerOf}. */
export function defineJob<Payload>(job: Omit<Job<Payload>, 'queue'> & { queue?: Queue }): Job<Payload> {
  return { queue: 'database', ...job };
}

/** The handler of a job that was declared with {@link defineJob}. */
export function handlerOf<Payload>(
  job: Job<Payload>,
  run: (services: JobServices, payload: Payload, job: JobRun) => Promise<void>,
  runBatch?: (services: JobServices, companyId: number, payloads: Payload[]) => Promise<void>,
): JobHandler<Payload> {
  const { payload: schema } = job;
  return {
    ...job,
    run: (services, payload, one) => run(services, schema.parse(payload), one),
    runBatch:
      runBatch &&
      ((services, companyId, payloads) =>
        runBatch(
          services,
          companyId,
          payloads.map((payload) => schema.parse(payload)),
        )),
  };
}

/** Declares a kind of job together with its handler. */
export function jobHandler<Payload>(definition: {
  name: string;
  /** `mail` for a job that sends mail; by default the job needs only the database. */
  queue?: Queue;
  payload: z.ZodType<Payload>;
  run(services: JobServices, payload: Payload, job: JobRun): Promise<void>;
  runBatch?(services: JobServices, companyId: number, payloads: Payload[]): Promise<void>;
}): JobHandler<Payload> {
  const { run, runBatch, ...job } = definition;
  return handlerOf(defineJob(job), run, runBatch);
}

/**
 * Enqueues a job in the transaction of its cause, to be run after the commit or when it is due. A second job with the same
 * key is ignored.
 */
export async function enqueueJob<Payload>(
  db: Db,
  { name, queue, payload: schema }: Job<Payload>,
  job: { dedupeKey: string; payload: Payload; now: Date; dueAt?: Date },
): Promise<void> {
  const { dedupeKey, payload, now, dueAt = now } = job;
  await writeJob(db, {
    handler: name,
    queue,
    dedupe_key: `${name} ${dedupeKey}`,
    payload: JSON.stringify(schema.parse(payload)),
    due_at: dueAt,
    created_at: now,
  });
  noteEnqueued(db);
}

/** Enqueues many jobs of one kind in one statement, due at once. */
export async function enqueueJobs<Payload>(
  db: Db,
  { name, queue, payload: schema }: Job<Payload>,
  jobs: readonly { dedupeKey: string; payload: Payload }[],
  now: Date,
): Promise<void> {
  if (jobs.length === 0) return;
  const keys = jobs.map(({ dedupeKey }) => `${name} ${dedupeKey}`);
  const payloads = jobs.map(({ payload }) => JSON.stringify(schema.parse(payload)));
  await sql`
    insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
    select ${name}, ${queue}, dedupe_key, payload::jsonb, ${now}, ${now}
    from unnest(${keys}::text[], ${payloads}::text[]) as given (dedupe_key, payload)
    on conflict (dedupe_key) do nothing`.execute(db);
  noteEnqueued(db);
}

type JobValues = {
  handler: string;
  queue: Queue;
  dedupe_key: string;
  payload: string;
  due_at: Date;
  created_at: Date;
};

const writeJob = compiled<JobValues, object>((db, placeholder) =>
  db
    .insertInto('jobs')
    .values({
      handler: placeholder('handler'),
      queue: placeholder('queue'),
      dedupe_key: placeholder('dedupe_key'),
      payload: placeholder('payload'),
      due_at: placeholder('due_at'),
      created_at: placeholder('created_at'),
    })
    .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
    .compile(),
);
