/**
 * A client of the Work Management Service, for browsers and Node.
 *
 * {@link createClient} creates one; its operations, their inputs and answers are those of the service.
 *
 * @packageDocumentation
 */
export type {
  Call,
  CallOptions,
  Download,
  EventStream,
  Page,
  Paged,
  ResponseInfo,
  StreamOptions,
  StreamStatus,
  Upload,
  WithResponse,
  WriteOptions,
} from './call-types.ts';
export { createClient, isCompanyChoice, type Client, type ClientOptions } from './client.ts';
export type * from './contract.ts';
export { ApiError, isApiError, type ClientErrorCode, type ApiErrorCode, type ApiErrorDetails } from './api-error.ts';
export type { Issue, IssueCode } from './api-error.ts';
export { keepSessionIn, type KeptSession, type KeyValueStorage } from './keep-session.ts';
export type { Answer, EventOf, Input } from './operation-types.ts';
export type { ClientSession, SessionChange, SessionOptions, TokenPair } from './client-session.ts';
export type { EventsTransport } from './streams.ts';
export type { WhoAmI } from './who-am-i.ts';
