import type { Operation } from '../../kernel/operations.ts';
import { identifiersIn, type Kind } from '../../kernel/wire/identifiers.ts';

/*
 * Each operation as a shell command. Values that only the reader knows (their identity, the task, the code in their
 * mail) are variables; `preparation` sets those that the service can tell.
 */

/** The variable for each kind of identifier. */
const identifiers: Record<Kind, string> = {
  company: 'company',
  employee: 'me',
  colleague: 'colleague',
  project: 'project',
  task: 'task',
  taskLog: 'log',
  rate: 'rate',
  period: 'period',
  comment: 'comment',
  session: 'session',
  apiKey: 'key',
  notification: 'notification',
  invitation: 'invitation',
  webhook: 'webhook',
  webhookDelivery: 'delivery',
  export: 'export_id',
};

/** The variable for a value from a mail or a login. */
const secrets: Record<string, string> = { otp: 'code', refresh_token: 'refresh_token' };

/** Fields that mean another thing in one operation than elsewhere. */
const particular: Record<string, Record<string, string>> = {
  'auth.login': { email: 'email', password: 'password' },
  'auth.tokenLogin': { email: 'email' },
  'auth.googleLogin': { token: 'google_token' },
  'auth.appleLogin': { token: 'apple_token' },
  'passwords.reset': { token: 'reset_token' },
  'invitations.accept': { token: 'invitation_token' },
  'passwords.change': { current_password: 'password' },
  'oauth.authorizeClient': { client_id: 'client' },
  'comments.create': { mentionedEmails: 'colleague_email' },
};

/** Sets the variables of the samples, with the demo sign-in or the reader's own. */
export const preparation = (baseUrl: string): string => `base=${baseUrl}
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
email=$(field email < .data/demo-sign-in.json)
password=$(field password < .data/demo-sign-in.json)

sign_in() { curl -sS "$base/login/" -H 'Content-Type: application/json' \\
  -d '{"email": "'"$email"'", "password": "'"$password"'"}'; }
api() { curl -sS -H "Authorization: Bearer $access_token" -H "X-Refresh-Token: $refresh_token" \\
  -H 'Content-Type: application/json' "$base$1" "\${@:2}"; }
login=$(sign_in)
access_token=$(echo "$login" | field access_token)
refresh_token=$(echo "$login" | field refresh_token)
company=$(echo "$login" | field company.company_id)
me=$(echo "$login" | field employee._id)

colleague_email=colleague-$RANDOM$RANDOM@example.com
colleague=$(api /employee/add/ -d '{"first_name": "Joan", "last_name": "Clarke",
  "email": "'"$colleague_email"'", "companyId": '"$company"'}' | field _id)
project=$(api /api/projects/ -d '{"name": "Analytical Engine"}' | field _id)
task=$(api /api/tasks/ -d '{"projectId": '"$project"', "title": "Print the tables"}' | field _id)
log=$(api /tasklog/create/ -d '{"task_id": '"$task"', "employee_id": '"$me"',
  "start_time": "2026-03-02T07:00:00Z", "end_time": "2026-03-02T08:00:00Z"}' | field _id)
rate=$(api "/api/rates/$company/" -X PUT -d '{"project_id": '"$project"', "validFrom": "2026-01-01",
  "hourlyRate": {"minorUnits": 9500, "currency": "EUR"}}' | field _id)
api "/api/time-policy/$company/" -X PUT -d '{"requireApproval": true}' > /dev/null
api /api/timesheet-periods/submit/ -d '{"employee_id": '"$me"', "period_start": "2026-01-12"}' > /dev/null
period=$(api "/api/timesheet-periods/company/$company/?status=submitted" | field 'results[0]._id')
comment=$(api /api/task-chats/ -d '{"taskId": '"$task"', "sender": '"$me"', "message": "Ready?"}' | field _id)
notification=$(api "/notifications/recipient/$me/" | field 'results[0]._id')
key=$(api /api/api-keys/ -d '{"name": "A key to revoke", "scopes": ["read"]}' | field _id)
api_key=$(api /api/api-keys/ -d '{"name": "A key to call with", "scopes": ["time:read"]}' | field key)
client=$(curl -sS "$base/oauth/register" -H 'Content-Type: application/json' \\
  -d '{"client_name": "A program", "redirect_uris": ["http://127.0.0.1:8765/callback"]}' | field client_id)
webhook=$(api /api/webhooks/ -d '{"url": "https://hooks.example.com/work", "events": ["comment.created"]}' | field _id)
delivery=$(api "/api/webhooks/$webhook/test/" -X POST | field _id)
export_id=$(api "/api/exports/company/$company/" | field 'exports[0]?._id ?? ""')
[ -n "$export_id" ] || export_id=$(api /api/exports/ -d '{}' | field _id)
session=$(sign_in > /dev/null; api /api/sessions/ | field 'sessions.find((one) => !one.isCurrent)._id')`;

/** Sets the variables from mails: after a code, a reset link, and another company's invitation. */
export const fromMail = String.raw`code=$(tail -n 1 .data/mail.jsonl | field 'text.match(/\b\d{6}\b/)[0]')
reset_token=$(tail -n 1 .data/mail.jsonl | field 'text.match(/token=([\w-]+)/)[1]')
invitation=$(tail -n 1 .data/mail.jsonl | field 'text.match(/invitations\/(\d+)/)[1]')
invitation_token=$(tail -n 1 .data/mail.jsonl | field 'text.match(/token=([\w-]+)/)[1]')`;

/** The operation's example as a curl command. */
export function sampleOf({ name, method, path, pathParameters, meta, input }: Operation): string {
  const { access, keys, bodyField, example = {} } = meta;
  const variables: Record<string, string> = {
    ...secrets,
    ...Object.fromEntries((input ? identifiersIn(input) : []).map((one) => [one.name, identifiers[one.kind]])),
    ...particular[name],
  };
  const variableOf = (field: string) => variables[field];
  const inPath = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => `$${variableOf(parameter)}`);
  const others = Object.entries(example).filter(([field]) => !pathParameters.includes(field));
  const asked = method === 'GET' ? others.map(([field, value]): [string, string] => [field, String(value)]) : [];
  const query = new URLSearchParams(asked);
  const body = bodyField === undefined ? Object.fromEntries(others) : example[bodyField];
  const hasBody = method !== 'GET' && others.length > 0;
  // Token login accepts several credentials: this is the simplest one.
  const isProved = access !== 'open' || name === 'auth.tokenLogin';
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$base${inPath}${query.size > 0 ? `?${query.toString()}` : ''}"`,
    ...(keys === 'any key'
      ? ['-H "Authorization: Bearer $api_key"']
      : isProved
        ? ['-H "Authorization: Bearer $access_token" -H "X-Refresh-Token: $refresh_token"']
        : []),
    ...(hasBody ? [`-H 'Content-Type: application/json'`, `-d '${jsonOf(body, variableOf)}'`] : []),
  ];
  return lines.join(' \\\n  ');
}

/** JSON in single quotes, which are closed around each variable. */
function jsonOf(value: unknown, variableOf: (field: string) => string | undefined): string {
  const text = JSON.stringify(
    value,
    (field, part: unknown) => {
      const variable = variableOf(field);
      if (variable === undefined || part === null) return part;
      if (Array.isArray(part)) return [marked(variable, part[0])];
      return marked(variable, part);
    },
    2,
  );
  return text
    .replaceAll("'", String.raw`'\''`)
    .replaceAll(/"<<(\w+)>>"/g, `'"$$$1"'`)
    .replaceAll(/<(\w+)>>/g, `'"$$$1"'`);
}

/** Removes the quotes that JSON puts around a marked number; texts keep theirs. */
const marked = (variable: string, part: unknown): string =>
  typeof part === 'number' ? `<<${variable}>>` : `<${variable}>>`;
