import { router } from '../../kernel/trpc.ts';
import { runCsvImport } from './run-csv-import.ts';

export const csvImports = router({ run: runCsvImport });
