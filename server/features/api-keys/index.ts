import { router } from '../../kernel/trpc.ts';
import { createApiKey } from './create-api-key.ts';
import { getCurrentApiKey } from './get-current-api-key.ts';
import { listApiKeys } from './list-api-keys.ts';
import { revokeApiKey } from './revoke-api-key.ts';

export const apiKeys = router({
  create: createApiKey,
  list: listApiKeys,
  getCurrent: getCurrentApiKey,
  revoke: revokeApiKey,
});
