import { router } from '../../kernel/trpc.ts';
import { applyToLogs } from './apply-to-logs.ts';
import { deleteRate } from './delete-rate.ts';
import { listRates } from './list-rates.ts';
import { setRate } from './set-rate.ts';

export const rates = router({ list: listRates, set: setRate, delete: deleteRate, applyToLogs });
