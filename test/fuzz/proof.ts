import type { Twist } from './request.ts';
import type { Actor } from './world.ts';

type Proof = [name: string, value: string][];

/** The headers by which an actor shows who they are, whole or twisted. */
export function proofOf(actor: Actor | undefined, twist: Twist): Proof {
  const proof = actor?.proof ?? [];
  switch (twist) {
    case 'whole':
      return proof;
    case 'accessOnly':
      return proof.slice(0, 1);
    case 'refreshOnly':
      return proof.slice(1);
    case 'cut':
      return proof.map(([name, value]) => [name, value.slice(0, -7)]);
    case 'doubled':
      return [...proof, ...proof];
    case 'garbage':
      return [
        ['Authorization', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOjF9.'],
        ['X-Refresh-Token', `wms_${'A'.repeat(40)}`],
      ];
    case 'noise':
      return [
        ['Authorization', 'Basic \u00ff\u00fe'],
        ['X-Refresh-Token', ''],
      ];
  }
}

/** The same for a reader: tokens are variables. */
export function shownProofOf(actor: Actor | undefined, twist: Twist): string[] {
  const proof = proofOf(actor, twist);
  if (twist === 'garbage' || twist === 'noise') return proof.map(([name, value]) => `${name}: ${value}`);
  const cut = twist === 'cut' ? '%???????' : '';
  const variable = (name: string) =>
    name === 'X-Refresh-Token' ? `\${${actor!.name}_refresh_token${cut}}` : `Bearer \${${actor!.name}_token${cut}}`;
  return proof.map(([name]) => `${name}: ${variable(name)}`);
}
