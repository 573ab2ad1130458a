import type { ClientSession } from 'work-management-client';
import { password, startService } from '../support/service.ts';
import { connect } from './clients.ts';

/* Two people of a company, and sessions of one of them. */

export const refresh = 'POST /trpc/auth.refresh';

/** As if the access token had run out. */
export const worn = (session: ClientSession): ClientSession => ({ ...session, expiresAt: Date.now() });

export async function startStaff() {
  const service = await startService();
  const { url } = service;
  const admin = await service.registerCompany();
  const colleague = await service.addEmployee(admin);
  await service.signIn(admin.email);
  const credentials = { email: admin.email, password };

  /** A session of its own for each test: one that is renewed elsewhere is no one else's. */
  async function begin(): Promise<ClientSession> {
    const client = connect(url);
    await client.auth.login(credentials);
    return client.session!;
  }

  return { service, url, admin, colleague, credentials, begin };
}
