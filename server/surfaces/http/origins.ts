import { FORBIDDEN } from '../../errors/errors.ts';

/** The origins whose pages may connect: those of the settings, and the service's own. */
export function allowedOrigins({ corsOrigins, publicUrl }: { corsOrigins: string[]; publicUrl: string }): Set<string> {
  return new Set([...corsOrigins, ...originsOf(publicUrl)]);
}

/** The origins of the service's own pages: loopback has several names. */
function originsOf(publicUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  return loopback.includes(hostname)
    ? loopback.map((name) => new URL(`${protocol}//${name}:${port}`).origin)
    : [origin];
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/** It is not compared with `Host`: with DNS rebinding both headers hold the attacker's name. */
export function refuseStrangeOrigin(origin: string | undefined, origins: ReadonlySet<string>): void {
  if (origin === undefined || origins.has(origin)) return;
  throw FORBIDDEN({ detail: 'Pages of this origin may not connect.' });
}
