import { generateKeyPairSync } from 'node:crypto';
import { verify } from 'argon2';
import { SignJWT } from 'jose';
import { inTransaction, run } from './pool.ts';
import { toEmployee } from './records.ts';
import { findEmployee } from './statements.ts';

const { privateKey } = generateKeyPairSync('ed25519');

const sign = (kind: string, sessionId: number, seconds: number): Promise<string> =>
  new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: 'EdDSA', typ: kind })
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(privateKey);

export async function login({ email, password }: { email: string; password: string }) {
  const [account] = await run<{ account_id: number; password_hash: string }>(
    'find-account',
    'select account_id, password_hash from accounts where email = $1',
    [email],
  );
  if (!account || !(await verify(account.password_hash, password))) return undefined;
  return inTransaction(async (run) => {
    const [place] = await run<{ company_id: number; company_name: string; employee_id: number }>(
      'places',
      `select c.company_id, c.name as company_name, e.employee_id
      from employees as e join companies as c on c.company_id = e.company_id
      where e.account_id = $1 and e.is_active and not e.is_deleted order by c.company_id`,
      [account.account_id],
    );
    const { company_id, company_name, employee_id } = place!;
    const [session] = await run<{ session_id: number }>(
      'insert-session',
      `insert into sessions (
        account_id, company_id, employee_id, method, rotated_at, expires_at, created_at, last_used_at
      ) values ($1, $2, $3, 'password', now(), now() + interval '30 days', now(), now()) returning session_id`,
      [account.account_id, company_id, employee_id],
    );
    const [employee] = await run('find-employee', findEmployee, [company_id, employee_id]);
    return {
      access_token: await sign('at+jwt', session!.session_id, 900),
      refresh_token: await sign('rt+jwt', session!.session_id, 30 * 24 * 3600),
      token_type: 'Bearer',
      expires_in: 900,
      employee: toEmployee(employee!),
      company: { company_id, company_name },
    };
  });
}
