import { router } from '../../kernel/trpc.ts';
import { exportAudit } from './export-audit.ts';
import { listAudit } from './list-audit.ts';
import { verifyAudit } from './verify-audit.ts';

export const audit = router({ list: listAudit, export: exportAudit, verify: verifyAudit });
