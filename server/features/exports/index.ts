import { router } from '../../kernel/trpc.ts';
import { createExport } from './create-export.ts';
import { deleteExport } from './delete-export.ts';
import { getExport } from './get-export.ts';
import { listExports } from './list-exports.ts';

export const exports = router({ create: createExport, list: listExports, get: getExport, delete: deleteExport });
