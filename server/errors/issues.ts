import type { ZodError } from 'zod';

/** The codes of issues, for programs. Codes never change. */
export const issueCodes = {
  required: 'It is missing.',
  invalid_type: 'It has the wrong JSON type, such as text where a number is wanted.',
  invalid_format: 'It has the right type and not the form that is asked for, such as an e-mail address or a timestamp.',
  invalid_value: 'It is none of the values that are allowed; the message lists them where they are few.',
  too_small: 'It is below the least value, shorter than allowed, or has too few entries.',
  too_big: 'It is above the greatest value, longer than allowed, or has too many entries.',
  too_deep: 'It has arrays or objects inside each other beyond what is allowed.',
  too_weak: 'It is a password that is guessed too easily.',
  out_of_range: 'It does not go together with another field or with the present, such as an end before its start.',
  mismatch: 'It is not what another part of the request says.',
  duplicate: 'It is stored already, or given twice.',
  locked: 'Its day is locked: the time was handed in, or is too old to be changed.',
  not_found: "It names nothing in the caller's company, or somebody who is not active where only such a one will do.",
} as const;

export type IssueCode = keyof typeof issueCodes;

/** One problem of an input: its place, a message, and a code for programs. */
export type Issue = { path: (string | number)[]; message: string; code: IssueCode };

export const requiredMessage = 'is required';

const isIssueCode = (code: unknown): code is IssueCode => typeof code === 'string' && code in issueCodes;

/** The parameters of a `refine`: its message, and its code for programs. */
export const rule = (code: IssueCode, message: string) => ({ message, params: { code } });

/** The issues of an input. Zod checks the length of a text also where it wants a list: a wrong type is told alone. */
export function toIssues({ issues }: ZodError): Issue[] {
  const all = issues.map(toIssue);
  const placeOf = ({ path }: Issue) => JSON.stringify(path);
  const wrongTypes = new Set(all.filter(({ code }) => code === 'invalid_type').map(placeOf));
  return all.filter((issue) => issue.code === 'invalid_type' || !wrongTypes.has(placeOf(issue)));
}

function toIssue(issue: ZodError['issues'][number]): Issue {
  return {
    path: issue.path.filter((step) => typeof step !== 'symbol'),
    message: issue.message,
    code: codeOf(issue),
  };
}

function codeOf(issue: ZodError['issues'][number]): IssueCode {
  if (issue.message === requiredMessage) return 'required';
  const code: unknown = issue.code === 'custom' ? issue.params?.['code'] : issue.code;
  // Other Zod issues concern the format of a value.
  return isIssueCode(code) ? code : 'invalid_format';
}
