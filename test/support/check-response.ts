import { createDocument } from '../../server/surfaces/openapi/openapi.ts';
import { appRouter } from '../../server/router.ts';
import { createDocumentCheck, type DocumentCheck } from './document-check.ts';

let check: DocumentCheck | undefined;

/** Holds an answer against the document of this service, which is made for the first: not every test file asks for one. */
export const checkResponse: DocumentCheck = (answered) => {
  check ??= createDocumentCheck(createDocument(appRouter, 'https://api.example.test'));
  return check(answered);
};
