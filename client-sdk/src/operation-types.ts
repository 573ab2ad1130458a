import type { OperationTypes, StreamTypes } from './contract.ts';

/** What an operation or a stream takes, by its name: `Input<'tasks.create'>`. */
export type Input<Name extends keyof OperationTypes | keyof StreamTypes> = (OperationTypes &
  StreamTypes)[Name]['input'];

/** What an operation answers, by its name: `Answer<'tasks.create'>`. */
export type Answer<Name extends keyof OperationTypes> = OperationTypes[Name]['answer'];

/** What a stream brings, by its name: `EventOf<'comments.onTask'>`. */
export type EventOf<Name extends keyof StreamTypes> = StreamTypes[Name]['event'];
