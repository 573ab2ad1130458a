import { z } from 'zod';
import { requiredMessage } from './issues.ts';

/* What Zod says of a value where its schema says nothing, of inputs and of settings alike: for all schemas of the process. */

/** The issues of a missing value. */
const missing = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

const entries = (count: number | bigint): string => `${count} ${count === 1 ? 'entry' : 'entries'}`;

z.config({
  customError: (issue) => {
    if (issue.input === undefined && missing.has(issue.code)) return requiredMessage;
    if (issue.code === 'invalid_type' && issue.expected === 'boolean') return 'must be one of true, false';
    if (issue.code === 'invalid_type')
      return `must be ${issue.expected === 'int' ? 'a whole number' : `of type ${issue.expected}`}`;
    if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
    if (issue.code === 'too_small' && issue.origin === 'array') return `must have at least ${entries(issue.minimum)}`;
    if (issue.code === 'too_big' && issue.origin === 'array') return `must have at most ${entries(issue.maximum)}`;
    if (issue.code === 'too_small' && issue.origin !== 'string')
      return `must be ${issue.inclusive === false ? 'greater than' : 'at least'} ${String(issue.minimum)}`;
    if (issue.code === 'too_big' && issue.origin !== 'string')
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${String(issue.maximum)}`;
    return undefined;
  },
});

export { z };
