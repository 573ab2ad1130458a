import { router } from '../../kernel/trpc.ts';
import { getPerformance } from './get-performance.ts';
import { getTaskStatistics } from './get-task-statistics.ts';

export const statistics = router({ company: getTaskStatistics, performance: getPerformance });
