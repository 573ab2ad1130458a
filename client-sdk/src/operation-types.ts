import type { OperationTypes, StreamTypes } from './contract.ts';

/** The input of an operation or a stream, by its name: `Input<'tasks.create'>`. */
export type Input<Name extends keyof OperationTypes | keyof StreamTypes> = (OperationTypes &
  StreamTypes)[Name]['input'];

/** The answer of an operation, by its name: `Answer<'tasks.create'>`. */
export type Answer<Name extends keyof OperationTypes> = OperationTypes[Name]['answer'];

/** The events of a stream, by its name: `EventOf<'comments.onTask'>`. */
export type EventOf<Name extends keyof StreamTypes> = StreamTypes[Name]['event'];
