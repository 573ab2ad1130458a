import { computed, signal } from '@preact/signals';
import { createClient, keepSessionIn, type ClientSession } from 'work-management-client';

const storageKey = 'work-management-demo';
const kept = keepSessionIn(localStorage, storageKey);

/** Who is signed in, as the page shows it; null leads to the sign-in form. */
export const session = signal<ClientSession | null>(null);

/** A sentence over the sign-in form: why somebody is back there. */
export const farewell = signal<string | null>(null);

/** The one client of the page. The service is one folder above it, wherever that is. */
export const client = createClient({
  baseUrl: '..',
  timeoutMs: 20_000,
  loadSession: kept.loadSession,
  onSession(next, change) {
    kept.onSession(next, change);
    if (change === 'ended') farewell.value = 'Your session has ended. Sign in again to go on.';
    if (change === 'signed in') farewell.value = null;
    session.value = next;
  },
});
session.value = client.session;

/** All tabs have one session: they are signed out together, and signed in. */
addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return;
  const theirs = kept.loadSession();
  if (theirs?.id === session.value?.id) return;
  if (theirs === null) farewell.value = 'You are signed out in all windows of this browser.';
  void client.setSession(theirs);
});

export const me = computed(() => session.value?.employee ?? null);

/** The employee who is signed in, for code that only runs while somebody is. */
export function getMe(): NonNullable<ClientSession['employee']> {
  if (!me.value) throw new Error('nobody is signed in');
  return me.value;
}

export function getCompanyId(): number {
  const company = session.value?.company;
  if (!company) throw new Error('nobody is signed in');
  return company.company_id;
}
